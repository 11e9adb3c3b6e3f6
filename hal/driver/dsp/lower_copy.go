package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// sourceBox is the l2fetch box of count runs of n bytes, step apart: as it is,
// or as lines when the runs follow each other; empty when it fits neither.
func sourceBox(n, count, step int) (low, high uint32) {
	if count == 1 || step >= 0 && step <= n+vecBytes {
		span := n
		if count > 1 {
			span = step*(count-1) + n
		}
		return boxOf(uint32(span) + vecBytes - 1), vecBytes
	}
	if n < 1<<16 && count < 1<<16 && step > 0 && step < 1<<16 {
		return uint32(n)<<16 | uint32(count), uint32(step)
	}
	return 0, 0
}

// copyTensor emits the copy of a value into a tensor of the same shape.
func (l *lowering) copyTensor(dst, src *tensor) {
	rows := sameRows(dst.shape.n * dst.shape.h)
	rows.plain = true
	l.addRows("copy", []*tensor{src}, []*tensor{dst}, rows, copyWork{dst, src})
}

// copyWork copies the positions of a tensor.
type copyWork struct{ dst, src *tensor }

func (w copyWork) Launch(l *launcher, rows rowRange) error {
	dst, src := w.dst, w.src
	r := new(copyRuns)
	for row := rows.from; row < rows.to; row++ {
		for x := range dst.shape.w {
			n, y := row/dst.shape.h, row%dst.shape.h
			r.add(dst.at(n, y, x), src.at(n, y, x), dst.shape.c)
		}
	}
	return r.launch(l, dst.flips(src))
}

// flips reports whether a copy between two tensors changes the sign form.
func (t *tensor) flips(o *tensor) bool { return (t.dense && t.signed) != (o.dense && o.signed) }

// withShape copies a value, element by element in order, into a new internal
// tensor of another shape.
func (l *lowering) withShape(src *tensor, s shape, name string) *tensor {
	dst := l.newTensor(name, s, 0, int32(src.zero))
	l.reshape(dst, src)
	return dst
}

// reshape emits the copy between shapes of the same number of elements.
func (l *lowering) reshape(dst, src *tensor) {
	l.addStep("reshape", []*tensor{src}, []*tensor{dst}, reshapeWork{src, dst})
}

// reshapeWork copies the elements of a tensor, in order, into one of another shape.
type reshapeWork struct {
	src *tensor
	dst *tensor
}

func (w reshapeWork) Launch(l *launcher, _ rowRange) error {
	r := new(copyRuns)
	a, b := cursor{t: w.src}, cursor{t: w.dst}
	for left := w.src.shape.elements(); left > 0; {
		n := min(w.src.shape.c-a.c, w.dst.shape.c-b.c)
		r.add(b.addr(), a.addr(), n)
		a.advance(n)
		b.advance(n)
		left -= n
	}
	return r.launch(l, w.dst.flips(w.src))
}

// permute copies a value with its dimensions reordered: dimension i of the
// result is dimension perm[i] of the value, whose dimensions are given.
func (l *lowering) permute(src *tensor, dims []uint32, perm []int) *tensor {
	to := make([]uint32, len(dims))
	from := [4]int{0, 1, 2, 3} // perm over [N, H, W, C]
	for i, p := range perm {
		to[i] = dims[p]
		from[4-len(dims)+i] = 4 - len(dims) + p
	}
	dst := l.newTensor(src.name+" permuted", shapeOf(to), 0, int32(src.zero))
	l.moveAlong("permute", alongWork{dst: dst, src: src, size: 1, permute: &from}, true)
	return dst
}

// steps are the distances in memory along N, H, W and C.
func (t *tensor) steps() [4]int {
	at := t.at(0, 0, 0)
	return [4]int{int(t.at(1, 0, 0) - at), int(t.at(0, 1, 0) - at), int(t.at(0, 0, 1) - at), 1}
}

// Layouts of images.
var (
	nchwToNHWC = []int{0, 2, 3, 1}
	nhwcToNCHW = []int{0, 3, 1, 2}
)

// imageValue is the value of an image operand in NHWC order.
func (l *lowering) imageValue(i uint32, nchw bool) (*tensor, error) {
	t, err := l.value(i)
	if err != nil || !nchw {
		return t, err
	}
	return l.permute(t, l.graph.Operands[i].Dimensions, nchwToNHWC), nil
}

// imageResult makes the tensor of an image in NHWC order that an operation
// writes; done must be called once its step is added.
func (l *lowering) imageResult(i uint32, s shape, pitch int, nchw bool) (t *tensor, done func()) {
	if !nchw {
		return l.result(i, pitch), func() {}
	}
	t = l.newTensor(fmt.Sprintf("operand %d as NHWC", i), s, pitch, zeroOf(&l.graph.Operands[i]))
	return t, func() {
		l.values[i] = l.permute(t, []uint32{uint32(s.n), uint32(s.h), uint32(s.w), uint32(s.c)}, nhwcToNCHW)
	}
}

// cursor walks the elements of a tensor in order.
type cursor struct {
	t          *tensor
	n, y, x, c int
}

func (c *cursor) addr() uint32 { return c.t.at(c.n, c.y, c.x) + uint32(c.c) }

func (c *cursor) advance(n int) {
	if c.c += n; c.c < c.t.shape.c {
		return
	}
	c.c = 0
	if c.x++; c.x < c.t.shape.w {
		return
	}
	c.x = 0
	if c.y++; c.y < c.t.shape.h {
		return
	}
	c.y = 0
	c.n++
}

const haloName = "halo"

// haloStep fills what surrounds the images of t, behind whoever writes these:
// whole vectors, which may reach into the halo.
func haloStep(t *tensor, region int) *step {
	return newRows(region, haloName, nil, []*tensor{t}, sameRows(t.shape.h), haloWork{t})
}

// haloWork fills what surrounds rows of images with the zero point.
type haloWork struct{ t *tensor }

func (w haloWork) Launch(l *launcher, r rowRange) error {
	t := w.t
	r.to = min(r.to, t.shape.h) // of each image
	var table []uint32
	put := func(addr uint32, bytes int) {
		if bytes > 0 {
			table = append(table, addr, uint32(ceilDiv(bytes, vecBytes)))
		}
	}
	lead := uint32(t.lead())
	for n := range t.shape.n {
		if r.from == 0 {
			put(t.at(n, -t.top, 0)-lead, t.top*t.rowBytes())
		}
		for y := r.from; y < r.to; y++ {
			put(t.at(n, y, 0)-lead, int(lead))
			put(t.at(n, y, t.shape.w), t.right*t.pitch)
		}
		if r.to == t.shape.h {
			put(t.at(n, t.shape.h, 0)-lead, t.bottom*t.rowBytes())
		}
	}
	return l.launchFill(table, t.zero)
}

func (l *launcher) launchFill(table []uint32, value byte) error {
	return l.launchFillWord(table, uint32(value)*0x01010101)
}

func (l *launcher) launchFillWord(table []uint32, word uint32) error {
	k, err := l.linked(datamove.Fill{})
	if err != nil {
		return err
	}
	total := 0
	for i := 1; i < len(table); i += 2 {
		total += int(table[i])
	}
	// Ranges of no more than half a thread's share can be dealt evenly.
	most := uint32(max(total/(2*l.threads), 16))
	var parts []uint32
	var costs []int
	for i := 0; i < len(table); i += 2 {
		for at, left := table[i], table[i+1]; left > 0; {
			n := min(left, most)
			parts = append(parts, at, n)
			costs = append(costs, 4+int(n))
			at, left = at+n*vecBytes, left-n
		}
	}
	l.launchShares(k, parts, 2, costs, word)
	return nil
}

// lowerReshape lowers RESHAPE and SQUEEZE: nothing when the internal forms
// agree, a copy otherwise.
func lowerReshape(l *lowering, op *nn.Operation) error {
	p, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	if p.Type == nn.TensorInt32 {
		return lowerAlias(l, op)
	}
	in, err := l.value(p.Input)
	if err != nil {
		return err
	}
	if s := shapeOf(p.Dims); s != in.shape {
		l.reshape(l.result(p.Output, 0), in)
		return nil
	}
	l.values[p.Output] = in
	return nil
}

// lowerPad lowers PAD: the value becomes a part of a larger one that is filled
// with the zero point first, in the form that it has.
func lowerPad(l *lowering, op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	if l.values[p.Input] == nil {
		in, err := l.flat(p.Input)
		if err != nil {
			return err
		}
		fill := uint32(zeroOf(&l.graph.Operands[p.Input])) * ones
		return l.padInto(l.flatResult(p.Output), in, p.In, p.Dims, p.Before, 1, fill)
	}
	in, err := l.value(p.Input)
	if err != nil {
		return err
	}
	rank := len(p.Dims)
	if rank > 4 {
		return fmt.Errorf("rank %d", rank)
	}
	var before [4]int
	copy(before[4-rank:], p.Before)
	pitch := 0
	if l.onlyConv(p.Output) {
		pitch = shapeOf(l.graph.Operands[p.Output].Dimensions).smallPitch()
	}
	out := l.result(p.Output, pitch)
	l.addStep("fill", nil, []*tensor{out}, fillImageWork{out})
	l.addStep("pad", []*tensor{in}, []*tensor{out}, placeWork{out, in, before})
	return nil
}

// fillImageWork fills the rows of images with the zero point.
type fillImageWork struct {
	out *tensor
}

func (w fillImageWork) Launch(l *launcher, _ rowRange) error {
	var table []uint32
	for n := range w.out.shape.n {
		for y := range w.out.shape.h {
			table = append(table, w.out.at(n, y, 0), uint32(w.out.vectorsPerRow()))
		}
	}
	return l.launchFill(table, w.out.zero)
}

// placeWork copies a tensor into a part of a larger one, whose first position and channel
// are given.
type placeWork struct {
	out, in *tensor
	at      [4]int
}

func (w placeWork) Launch(l *launcher, _ rowRange) error {
	r := new(copyRuns)
	shape, at := w.in.shape, w.at
	for n := range shape.n {
		for y := range shape.h {
			for x := range shape.w {
				to := w.out.at(n+at[0], y+at[1], x+at[2]) + uint32(at[3])
				r.add(to, w.in.at(n, y, x), shape.c)
			}
		}
	}
	return r.launch(l, false)
}
