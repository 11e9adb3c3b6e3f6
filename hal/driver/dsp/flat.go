package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Flat values are elements in row-major order with nothing between them:
// unsigned bytes for 8-bit quantized types, halves for 16-bit ones, bytes for
// booleans, words for TENSOR_INT32. Operations that reorder elements, compare them or work on
// words use this form; the two forms of an operand are made from each other
// when an operation asks for one.

// signedBytes reports whether the client's bytes are signed.
func signedBytes(t nn.OperandType) bool {
	return t == nn.TensorQuant8AsymmSigned || t == nn.TensorQuant8SymmPerChannel || t == nn.TensorQuant8Symm
}

// storable reports whether tensors of a type have a flat form.
func storable(t nn.OperandType) bool {
	switch t {
	case nn.TensorInt32, nn.TensorBool8, nn.TensorQuant8SymmPerChannel, nn.TensorQuant8Symm, nn.TensorQuant16Symm, nn.TensorQuant16Asymm:
		return true
	}
	return t.IsQuant8()
}

// newFlat makes a flat tensor of n elements of the given size.
func (l *lowering) newFlat(name string, n, size int) *tensor {
	t := l.newTensor(name, shape{1, 1, 1, n * size}, 1, 0)
	t.dense = true
	return t
}

// flat is operand i in flat form.
func (l *lowering) flat(i uint32) (*tensor, error) {
	if t := l.flats[i]; t != nil {
		return t, nil
	}
	o := &l.graph.Operands[i]
	if !carried(o.Type) {
		return nil, fmt.Errorf("operand %d has type %s", i, o.Type)
	}
	src := l.values[i]
	if src == nil {
		src = l.clients[i]
	}
	if src == nil {
		if !o.IsConst() {
			return nil, fmt.Errorf("operand %d (%s, %s) has no value", i, o.Type, o.Lifetime)
		}
		if src = l.denseTensor(i); len(o.Data) != src.bytes() {
			return nil, fmt.Errorf("operand %d has %d bytes, its shape needs %d", i, len(o.Data), src.bytes())
		}
		src.unplaced = true
		src.addr = l.constant(o.Data)
	}
	if src.dense && !src.signed {
		l.flats[i] = src
		return src, nil
	}
	t := l.denseTensor(i)
	t.signed, t.zero = false, src.zero
	l.copyTensor(t, src)
	l.flats[i] = t
	return t, nil
}

// flatResult makes the flat tensor of an operation's output.
func (l *lowering) flatResult(i uint32) *tensor {
	t := l.denseTensor(i)
	t.signed = false
	l.flats[i] = t
	return t
}

// fromFlat makes the internal form of a flat value.
func (l *lowering) fromFlat(i uint32, flat *tensor) *tensor {
	s := shapeOf(l.graph.Operands[i].Dimensions)
	pitch := s.pitch()
	if l.onlyConv(i) {
		pitch = s.smallPitch()
	}
	t := l.result(i, pitch)
	if s != flat.shape {
		l.reshape(t, flat)
	} else {
		l.copyTensor(t, flat)
	}
	return t
}

// sizeOf is the size of an element of operand i in flat form.
func (l *lowering) sizeOf(i uint32) int { return l.graph.Operands[i].Type.ElementBytes() }

// flatOutput is the tensor that the client reads of a flat value.
func (l *lowering) flatOutput(i uint32, flat *tensor) *tensor {
	d := l.denseTensor(i)
	if !d.signed && !flat.keep && !flat.unplaced {
		d.unplaced = true
		return flat
	}
	if d.shape != flat.shape {
		l.reshape(d, flat)
	} else {
		l.copyTensor(d, flat)
	}
	return d
}

// flatVectors is how many vectors hold a flat tensor; the last may reach into
// the guard behind it.
func flatVectors(t *tensor) int { return ceilDiv(t.bytes(), vecBytes) }

// flatTable lists ranges of steps: the addresses of the tensors and the number of
// steps. Tensor i takes step[i] vectors per step.
func flatTable(parts [][2]int, ts []*tensor, step []int) []uint32 {
	var table []uint32
	for _, r := range parts {
		for i, t := range ts {
			table = append(table, t.addr+uint32(r[0]*step[i]*vecBytes))
		}
		table = append(table, uint32(r[1]-r[0]))
	}
	return table
}

// fillFlat stores a word over a whole flat tensor.
func (l *lowering) fillFlat(t *tensor, word uint32) {
	l.addStep("fill", nil, []*tensor{t}, fillWork{t, word})
}

// fillWork stores a word over a whole flat tensor.
type fillWork struct {
	t    *tensor
	word uint32
}

func (w fillWork) Launch(l *launcher, _ rowRange) error {
	var table []uint32
	for _, r := range l.spread(flatVectors(w.t)) {
		table = append(table, w.t.addr+uint32(r[0]*vecBytes), uint32(r[1]-r[0]))
	}
	return l.launchFillWord(table, w.word)
}

// move appends a step of count copies; list calls put with offsets into both tensors, and bytes.
func (l *lowering) move(name string, dst, src *tensor, count int, list func(put func(to, from, n int))) error {
	if count > maxPositions {
		return fmt.Errorf("%d separate runs, at most %d", count, maxPositions)
	}
	if count == 0 {
		return nil
	}
	w := moveWork{dst: dst, src: src}
	if l.final() {
		w.runs = make([]copyRun, 0, count)
		list(func(to, from, n int) { w.runs = append(w.runs, copyRun{uint32(to), uint32(from), uint32(n)}) })
	}
	l.addStep(name, []*tensor{src}, []*tensor{dst}, w)
	return nil
}

// moveWork copies runs of bytes, at offsets into both tensors.
type moveWork struct {
	dst, src *tensor
	runs     []copyRun
}

func (w moveWork) Launch(l *launcher, _ rowRange) error {
	r := new(copyRuns)
	for _, x := range w.runs {
		r.add(w.dst.addr+x.dst, w.src.addr+x.src, int(x.n))
	}
	return r.launch(l, false)
}

// walk moves the elements of a strided walk over src to dst in order.
func (l *lowering) walk(name string, dst, src *tensor, dims []uint32, strides []int, offset, size int) error {
	list := make([]moveDim, len(dims))
	n := size
	for i := len(dims) - 1; i >= 0; i-- {
		list[i] = moveDim{int(dims[i]), strides[i] * size, n}
		n *= int(dims[i])
	}
	return l.moveFlat(name, dst, src, size, list, 0, offset*size)
}

// moveFlat is moveAlong between flat tensors.
func (l *lowering) moveFlat(name string, dst, src *tensor, size int, dims []moveDim, to, from int) error {
	m := newMove(size, dims)
	n := m.runCount()
	if n == 0 || size == 0 {
		return nil
	}
	_, tiled := m.tiles()
	if !tiled && n > maxPositions {
		return fmt.Errorf("%d separate runs, at most %d", n, maxPositions)
	}
	l.moveAlong(name, alongWork{dst: dst, src: src, size: size, dims: dims, to: uint32(to), from: uint32(from)}, tiled)
	return nil
}
