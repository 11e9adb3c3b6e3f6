package dsp

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// lowerStrided lowers the operations that select or reorder elements.
func lowerStrided(l *lowering, op *nn.Operation) error {
	s, err := l.view.Strided(op)
	if err != nil {
		return err
	}
	in, err := l.flat(s.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(s.Input)
	if s.Padded != nil {
		fill := uint32(zeroOf(&l.graph.Operands[s.Input])) * 0x01010101
		if in, err = l.padFlat(in, s.In, s.Padded, s.Before, size, fill); err != nil {
			return err
		}
	}
	return l.walk("reorder", l.flatResult(s.Output), in, s.Walk, s.Strides, s.Offset, size)
}

// padFlat makes a larger tensor filled with a word, and puts the value into it.
func (l *lowering) padFlat(in *tensor, dims, to []uint32, before []int, size int, fill uint32) (*tensor, error) {
	n := nn.Elements(to)
	if n < 0 || n > maxArena {
		return nil, fmt.Errorf("shape %v is too large", to)
	}
	out := l.newFlat(in.name+" padded", int(n), size)
	return out, l.padInto(out, in, dims, to, before, size, fill)
}

func (l *lowering) padInto(out, in *tensor, dims, to []uint32, before []int, size int, fill uint32) error {
	rank := len(dims)
	if rank == 0 {
		return fmt.Errorf("rank 0")
	}
	l.fillFlat(out, fill)
	list := make([]moveDim, rank)
	from, at, offset := size, size, 0
	for i := rank - 1; i >= 0; i-- {
		list[i] = moveDim{int(dims[i]), from, at}
		offset += before[i] * at
		from, at = from*int(dims[i]), at*int(to[i])
	}
	return l.moveFlat("pad", out, in, size, list, offset, 0)
}

// lowerPadV2 lowers PAD_V2: the filling is a raw value of the type.
func lowerPadV2(l *lowering, op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	o := &l.graph.Operands[p.Input]
	fill, err := l.view.Data(op.Inputs[2])
	if err != nil {
		return err
	}
	word := binary.LittleEndian.Uint32(fill)
	if o.Type.IsQuant8() {
		word = uint32(byte(word)+byte(unsignedBias(o.Type))) * 0x01010101
	}
	return l.padInto(l.flatResult(p.Output), in, o.Dimensions, p.Dims, p.Before, l.sizeOf(p.Input), word)
}

func lowerSplit(l *lowering, op *nn.Operation) error {
	s, err := l.view.Split(op)
	if err != nil {
		return err
	}
	in, err := l.flat(s.Input)
	if err != nil {
		return err
	}
	size := l.sizeOf(s.Input)
	for i, o := range s.Outputs {
		dims := []uint32{uint32(s.Outer), uint32(s.Size)}
		strides := []int{s.Size * len(s.Outputs), 1}
		if err := l.walk("split", l.flatResult(o), in, dims, strides, i*s.Size, size); err != nil {
			return err
		}
	}
	return nil
}

func lowerTile(l *lowering, op *nn.Operation) error {
	t, err := l.view.Tile(op)
	if err != nil {
		return err
	}
	in, err := l.flat(t.Input)
	if err != nil {
		return err
	}
	var dims []uint32
	var strides []int
	n := int(nn.Elements(t.In))
	for i, d := range t.In {
		n /= int(d)
		dims = append(dims, t.Dims[i]/d, d)
		strides = append(strides, 0, n)
	}
	return l.walk("tile", l.flatResult(t.Output), in, dims, strides, 0, l.sizeOf(t.Input))
}

// lowerAlias lowers EXPAND_DIMS and RESHAPE of flat values: the same elements.
func lowerAlias(l *lowering, op *nn.Operation) error {
	p, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	l.flats[p.Output] = in
	return nil
}

// lowerNearest lowers RESIZE_NEAREST_NEIGHBOR.
func lowerNearest(l *lowering, op *nn.Operation) error {
	p, err := l.view.Resize(op)
	if err != nil {
		return err
	}
	in, err := l.flat(p.Input)
	if err != nil {
		return err
	}
	ys, xs := nearest(p.H, p.OutH, &p), nearest(p.W, p.OutW, &p)
	planes, n := p.N, p.C
	if p.NCHW {
		planes, n = p.N*p.C, 1
	}
	if planes == 0 || n == 0 {
		return fmt.Errorf("no elements")
	}
	return l.move("nearest", l.flatResult(p.Output), in, planes*p.OutH*p.OutW, func(put func(to, from, n int)) {
		to := 0
		for i := range planes {
			for _, y := range ys {
				for _, x := range xs {
					put(to, ((i*p.H+y)*p.W+x)*n, n)
					to += n
				}
			}
		}
	})
}

// resizeScale is the distance of samples in the input.
func resizeScale(in, out int, corners bool) float32 {
	if corners && out > 1 {
		return float32(in-1) / float32(out-1)
	}
	return float32(in) / float32(out)
}

// nearest gives the input position of each output position along an axis.
func nearest(in, out int, p *opspec.Resize) []int {
	scale := resizeScale(in, out, p.AlignCorners)
	at := make([]int, out)
	for i := range at {
		x := float32(i)
		if p.Center {
			x += 0.5
		}
		f := float64(x * scale)
		if p.AlignCorners {
			f = math.Round(f)
		}
		at[i] = min(max(int(math.Floor(f)), 0), in-1)
	}
	return at
}
