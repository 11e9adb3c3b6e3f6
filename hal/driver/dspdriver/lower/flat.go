package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/internal/try"
)

// Flat values are elements in row-major order with nothing between them:
// unsigned bytes for 8-bit quantized types, halfwords for 16-bit ones, bytes for
// booleans, words for TENSOR_INT32. Operations that reorder elements, compare them or work on
// words use this form; the two forms of an operand are made from each other
// when an operation needs one.

// NewFlat makes a flat tensor of n elements of the given size.
func (l *Lowering) NewFlat(name string, n, size int) *layout.Tensor {
	t := l.NewTensor(name, layout.Shape{N: 1, H: 1, W: 1, C: n * size}, 1, 0)
	t.Dense = true
	return t
}

// Flat is operand i in flat form.
func (l *Lowering) Flat(i uint32) *layout.Tensor {
	if t := l.Flats[i]; t != nil {
		return t
	}
	o := &l.Graph.Operands[i]
	noForm.Refuse(!carried(o.Type), "operand %d is %s", i, o.Type)
	src := l.Values[i]
	if src == nil {
		if src = l.Clients[i]; src != nil && l.Form(i) == layout.Plain {
			l.fromClient(i, src)
			return l.Flats[i]
		}
	}
	if src == nil {
		computed.Refuse(!o.IsConst(), "operand %d (%s, %s)", i, o.Type, o.Lifetime)
		if src = l.denseTensor(i); len(o.Data) != src.Bytes() {
			try.E(allData.Broken("operand %d has %d of %d", i, len(o.Data), src.Bytes()))
		}
		src.Unplaced = true
		src.Addr = l.Constant(o.Data)
	}
	if src.Dense && !src.Signed {
		l.Flats[i] = src
		return src
	}
	t := l.denseTensor(i)
	t.Signed, t.Zero = false, src.Zero
	l.copyTensor(t, src)
	l.Flats[i] = t
	return t
}

// FlatPair is operand in in flat form, and the flat tensor of the output out.
func (l *Lowering) FlatPair(in, out uint32) (x, y *layout.Tensor) {
	return l.Flat(in), l.FlatResult(out)
}

// FlatResult makes the flat tensor of an operation's output.
func (l *Lowering) FlatResult(i uint32) *layout.Tensor {
	if l.Form(i) == layout.Plain {
		return l.plain(i)
	}
	t := l.denseTensor(i)
	t.Signed = false
	l.Flats[i] = t
	return t
}

// fromFlat makes the internal form of a flat value.
func (l *Lowering) fromFlat(i uint32, flat *layout.Tensor) *layout.Tensor {
	s := layout.ShapeOf(l.Graph.Operands[i].Dimensions)
	t := l.Result(i, l.PitchOf(i, s))
	if s != flat.Shape {
		l.Reshape(t, flat)
	} else {
		l.copyTensor(t, flat)
	}
	return t
}

// SizeOf is the size of an element of operand i in flat form.
func (l *Lowering) SizeOf(i uint32) int { return l.Graph.Operands[i].Type.ElementBytes() }

// flatOutput is the tensor that the client reads of a flat value.
func (l *Lowering) flatOutput(i uint32, flat *layout.Tensor) *layout.Tensor {
	d := l.denseTensor(i)
	if !d.Signed && !flat.External && !flat.Unplaced {
		d.Unplaced = true
		return flat
	}
	if d.Shape != flat.Shape {
		l.Reshape(d, flat)
	} else {
		l.copyTensor(d, flat)
	}
	return d
}

// FillFlat stores a word over a whole flat tensor.
func (l *Lowering) FillFlat(t *layout.Tensor, word uint32) {
	l.Add("fill", nil, []*layout.Tensor{t}, launch.Fill{To: t, Word: word})
}

// Move appends a step of count copies; list calls put with offsets into both tensors, and bytes.
func (l *Lowering) Move(name string, dst, src *layout.Tensor, count int, list func(put func(to, from, n int))) {
	MaxRuns.Refuse(count > layout.MaxPositions, "%d", count)
	if count == 0 {
		return
	}
	w := launch.CopyRuns{Dst: dst, Src: src}
	if l.Final {
		w.Runs = make([]launch.CopyRun, 0, count)
		list(func(to, from, n int) {
			w.Runs = append(w.Runs, launch.CopyRun{Dst: uint32(to), Src: uint32(from), N: uint32(n)})
		})
	}
	l.Add(name, []*layout.Tensor{src}, []*layout.Tensor{dst}, w)
}

// Walk moves the elements of a strided walk over src to dst in order.
func (l *Lowering) Walk(name string, dst, src *layout.Tensor, dims []uint32, strides []int, offset, size int) {
	list := make([]launch.Dim, len(dims))
	n := size
	for i := len(dims) - 1; i >= 0; i-- {
		list[i] = launch.Dim{N: int(dims[i]), Src: strides[i] * size, Dst: n}
		n *= int(dims[i])
	}
	l.MoveFlat(name, dst, src, size, list, 0, offset*size)
}

// MoveFlat is MoveAlong between flat tensors.
func (l *Lowering) MoveFlat(name string, dst, src *layout.Tensor, size int, dims []launch.Dim, to, from int) {
	m := launch.NewMove(size, dims)
	n := m.RunCount()
	if n == 0 || size == 0 {
		return
	}
	_, tiled := m.Tiles()
	MaxRuns.Refuse(!tiled && n > layout.MaxPositions, "%d", n)
	l.MoveAlong(name, launch.Reorder{Dst: dst, Src: src, Size: size, Dims: dims, To: uint32(to), From: uint32(from)}, tiled)
}

// FlatStep launches a kernel over whole flat tensors.
func (l *Lowering) FlatStep(name string, f elementwise.Function, out *layout.Tensor, in []*layout.Tensor, words ...uint32) {
	form := f.Form()
	if len(words) != form.Constants {
		panic(fmt.Sprintf("dsp: %s needs %d words, got %d", f.Name(), form.Constants, len(words)))
	}
	l.Add(name, in, []*layout.Tensor{out}, launch.Map{In: in, Out: out, Form: form, Function: f, Words: words})
}

// FlatAll are operands in flat form.
func (l *Lowering) FlatAll(list ...uint32) []*layout.Tensor {
	ts := make([]*layout.Tensor, len(list))
	for i, x := range list {
		ts[i] = l.Flat(x)
	}
	return ts
}

// MoveAlong appends a step that moves a tensor along dimensions, by tiles if tiled is set.
func (l *Lowering) MoveAlong(name string, w launch.Reorder, tiled bool) {
	writes := []*layout.Tensor{w.Dst}
	if tiled {
		w.Tiles = l.NewFlat("tiles", l.Threads*datamove.TileScratch, 1)
		writes = append(writes, w.Tiles)
	}
	l.Add(name, []*layout.Tensor{w.Src}, writes, w)
}
