package refcpu

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// moveKernels copy, join, cut, repeat, pad and reorder elements.
var moveKernels = []operation{
	{op: nn.OpReshape, prepare: read(prepareCopy)},
	{op: nn.OpSqueeze, prepare: read(prepareCopy)},
	{op: nn.OpExpandDims, prepare: read(prepareCopy)},
	{op: nn.OpConcatenation, prepare: read(prepareConcat)},
	{op: nn.OpPack, prepare: read(prepareConcat)},
	{op: nn.OpSplit, prepare: read(prepareSplit)},
	{op: nn.OpTile, prepare: read(prepareTile)},
	{op: nn.OpFill, prepare: read(prepareFill)},
	{op: nn.OpRank, prepare: read(prepareRank)},
	{op: nn.OpPad, prepare: read(preparePad)},
	{op: nn.OpPadV2, prepare: read(preparePad)},
	{op: nn.OpMirrorPad, prepare: read(prepareMirrorPad)},
	{op: nn.OpTranspose, prepare: read(prepareStrided)},
	{op: nn.OpSlice, prepare: read(prepareStrided)},
	{op: nn.OpStridedSlice, prepare: read(prepareStrided)},
	{op: nn.OpDepthToSpace, prepare: read(prepareStrided)},
	{op: nn.OpSpaceToDepth, prepare: read(prepareStrided)},
	{op: nn.OpBatchToSpaceNd, prepare: read(prepareStrided)},
	{op: nn.OpSpaceToBatchNd, prepare: read(prepareStrided)},
	{op: nn.OpChannelShuffle, prepare: read(prepareStrided)},
	{op: nn.OpReverse, prepare: read(prepareStrided)},
}

// prepareConcat is CONCATENATION, and PACK, whose inputs are stacked along a new axis. A quantized input with another
// quantization than the output's is rescaled through a table.
func prepareConcat(v opspec.View, _ *nn.Operation, c opspec.Concat) (Kernel, error) {
	tables := make([]*[256]byte, len(c.Inputs))
	if c.Type.IsQuant8() {
		for i, idx := range c.Inputs {
			tables[i] = quantized.RequantTable(&v.Operands[idx], &v.Operands[c.Output])
		}
	}
	size := c.Type.ElementBytes()
	row := 0
	for _, n := range c.Sizes {
		row += n * size
	}
	return func(x *Run) error {
		out := x.Bytes(c.Output)
		at := 0
		for i, idx := range c.Inputs {
			in, n := x.Bytes(idx), c.Sizes[i]*size
			for o := range c.Outer {
				dst := out[o*row+at : o*row+at+n]
				src := in[o*n : (o+1)*n]
				if t := tables[i]; t != nil {
					for k, b := range src {
						dst[k] = t[b]
					}
				} else {
					copy(dst, src)
				}
			}
			at += n
		}
		return nil
	}, nil
}

// prepareSplit is SPLIT.
func prepareSplit(_ opspec.View, _ *nn.Operation, s opspec.Split) (Kernel, error) {
	n := s.Size * s.Type.ElementBytes()
	return func(x *Run) error {
		in := x.Bytes(s.Input)
		for o := range s.Outer {
			for i, idx := range s.Outputs {
				copy(x.Bytes(idx)[o*n:(o+1)*n], in[(o*len(s.Outputs)+i)*n:])
			}
		}
		return nil
	}, nil
}

// prepareTile is TILE.
func prepareTile(_ opspec.View, _ *nn.Operation, t opspec.Tile) (Kernel, error) {
	size := t.Type.ElementBytes()
	return func(x *Run) error {
		in, out := x.Bytes(t.Input), x.Bytes(t.Output)
		if len(out) == 0 {
			return nil
		}
		last := len(t.In) - 1
		n := int(t.In[last]) * size
		row := int(t.Dims[last]) * size
		for r := range len(out) / row {
			src, rest, stride := 0, r, n
			for d := last - 1; d >= 0; d-- {
				src += rest % int(t.Dims[d]) % int(t.In[d]) * stride
				rest /= int(t.Dims[d])
				stride *= int(t.In[d])
			}
			for at := 0; at < row; at += n {
				copy(out[r*row+at:r*row+at+n], in[src:])
			}
		}
		return nil
	}, nil
}

// prepareFill is FILL.
func prepareFill(v opspec.View, _ *nn.Operation, f opspec.Fill) (Kernel, error) {
	value, err := v.Data(f.Value)
	if err != nil {
		return nil, err
	}
	value = append([]byte(nil), value...)
	return func(x *Run) error {
		out := x.Bytes(f.Output)
		for i := 0; i+len(value) <= len(out); i += len(value) {
			copy(out[i:], value)
		}
		return nil
	}, nil
}

// prepareRank is RANK.
func prepareRank(_ opspec.View, op *nn.Operation, r int) (Kernel, error) {
	return func(x *Run) error {
		x.int32s(op.Outputs[0])[0] = int32(r)
		return nil
	}, nil
}

// prepareCopy is RESHAPE and SQUEEZE: the elements stay, the shape changes.
func prepareCopy(_ opspec.View, _ *nn.Operation, c opspec.Copy) (Kernel, error) {
	return func(x *Run) error {
		copy(x.Bytes(c.Output), x.Bytes(c.Input))
		return nil
	}, nil
}

// prepareStrided is the operations that opspec.IsStrided names.
func prepareStrided(v opspec.View, _ *nn.Operation, s opspec.Strided) (Kernel, error) {
	size := s.Type.ElementBytes()
	fill := byte(0)
	if s.Type.IsQuant8() {
		fill = byte(v.Operands[s.Input].ZeroPoint)
	}
	return func(x *Run) error {
		in, out := x.Bytes(s.Input), x.Bytes(s.Output)
		if s.Padded != nil {
			p := x.shared.Bytes(int(nn.Elements(s.Padded)) * size)
			fillSlice(p, fill)
			copyInside(p, in, s.Padded, s.In, s.Before, size)
			in = p
		}
		if len(out) == 0 {
			return nil
		}
		if len(s.Walk) == 0 {
			copy(out, in[s.Offset*size:(s.Offset+1)*size])
			return nil
		}
		last := len(s.Walk) - 1
		n, step := int(s.Walk[last]), s.Strides[last]
		x.Parallel(len(out)/(n*size), 1+1024/n, func(_, lo, hi int) {
			for row := lo; row < hi; row++ {
				at, rest := s.Offset, row
				for d := last - 1; d >= 0; d-- {
					at += rest % int(s.Walk[d]) * s.Strides[d]
					rest /= int(s.Walk[d])
				}
				dst := out[row*n*size : (row+1)*n*size]
				if step == 1 {
					copy(dst, in[at*size:])
					continue
				}
				for k := range n {
					copy(dst[k*size:(k+1)*size], in[at*size:])
					at += step
				}
			}
		})
		return nil
	}, nil
}

// preparePad is PAD and PAD_V2: zeros around the tensor, the zero point when quantized, or the operand of PAD_V2.
func preparePad(v opspec.View, _ *nn.Operation, p opspec.Pad) (Kernel, error) {
	size := p.Type.ElementBytes()
	fill := make([]byte, size)
	switch {
	case p.Value != opspec.None:
		value, err := v.Data(p.Value)
		if err != nil {
			return nil, err
		}
		copy(fill, value) // of an INT32 for a quantized tensor, the low byte
	case p.Type.IsQuant8():
		fill[0] = byte(v.Operands[p.Input].ZeroPoint)
	}
	return func(x *Run) error {
		out := x.Bytes(p.Output)
		for i := 0; i < len(out); i += size {
			copy(out[i:], fill)
		}
		copyInside(out, x.Bytes(p.Input), p.Dims, p.In, p.Before, size)
		return nil
	}, nil
}

// copyInside copies a tensor of shape in into one of shape dims at offset at.
func copyInside(dst, src []byte, dims, in []uint32, at []int, size int) {
	if len(src) == 0 || len(in) == 0 {
		copy(dst, src)
		return
	}
	last := len(in) - 1
	n := int(in[last]) * size
	for row := range len(src) / n {
		rest, off, stride := row, at[last]*size, int(dims[last])*size
		for d := last - 1; d >= 0; d-- {
			off += (rest%int(in[d]) + at[d]) * stride
			rest /= int(in[d])
			stride *= int(dims[d])
		}
		copy(dst[off:off+n], src[row*n:])
	}
}

// prepareMirrorPad is MIRROR_PAD.
func prepareMirrorPad(_ opspec.View, _ *nn.Operation, p opspec.MirrorPad) (Kernel, error) {
	size := p.Type.ElementBytes()
	last := len(p.Dims) - 1
	n, width, before := int(p.In[last]), int(p.Dims[last]), p.Before[last]
	return func(x *Run) error {
		in, out := x.Bytes(p.Input), x.Bytes(p.Output)
		if len(out) == 0 {
			return nil
		}
		x.Parallel(len(out)/(width*size), 1+4096/width, func(_, lo, hi int) {
			for row := lo; row < hi; row++ {
				at, rest, stride := 0, row, n
				for d := last - 1; d >= 0; d-- {
					at += p.Source(d, rest%int(p.Dims[d])) * stride
					rest /= int(p.Dims[d])
					stride *= int(p.In[d])
				}
				src := in[at*size : (at+n)*size]
				dst := out[row*width*size : (row+1)*width*size]
				copy(dst[before*size:], src)
				mirror := func(from, to int) {
					for i := from; i < to; i++ {
						s := p.Source(last, i) * size
						copy(dst[i*size:(i+1)*size], src[s:])
					}
				}
				mirror(0, before)
				mirror(before+n, width)
			}
		})
		return nil
	}, nil
}
