package launch

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Copy copies the positions of a tensor.
type Copy struct{ Dst, Src *layout.Tensor }

// Launch implements step.Work.
func (w Copy) Launch(l *step.Launcher, rows step.Rows) {
	dst, src := w.Dst, w.Src
	r := new(runList)
	for row := rows.From; row < rows.To; row++ {
		for x := range dst.Shape.W {
			n, y := row/dst.Shape.H, row%dst.Shape.H
			r.add(dst.At(n, y, x), src.At(n, y, x), dst.Shape.C)
		}
	}
	r.launch(l, dst.Flips(src))
}

// Reshape copies the elements of a tensor, in order, into one of another shape.
type Reshape struct {
	Src *layout.Tensor
	Dst *layout.Tensor
}

// Launch implements step.Work.
func (w Reshape) Launch(l *step.Launcher, _ step.Rows) {
	r := new(runList)
	a, b := cursor{t: w.Src}, cursor{t: w.Dst}
	for left := w.Src.Shape.Elements(); left > 0; {
		n := min(w.Src.Shape.C-a.c, w.Dst.Shape.C-b.c)
		r.add(b.addr(), a.addr(), n)
		a.advance(n)
		b.advance(n)
		left -= n
	}
	r.launch(l, w.Dst.Flips(w.Src))
}

// cursor walks the elements of a tensor in order.
type cursor struct {
	t          *layout.Tensor
	n, y, x, c int
}

func (c *cursor) addr() uint32 { return c.t.At(c.n, c.y, c.x) + uint32(c.c) }

func (c *cursor) advance(n int) {
	if c.c += n; c.c < c.t.Shape.C {
		return
	}
	c.c = 0
	if c.x++; c.x < c.t.Shape.W {
		return
	}
	c.x = 0
	if c.y++; c.y < c.t.Shape.H {
		return
	}
	c.y = 0
	c.n++
}

// HaloStep fills the halo of the images of t. It runs after their writers, which
// write whole vectors and may overwrite the halo.
func HaloStep(t *layout.Tensor, region int) *step.Step {
	s := step.NewRows(region, "halo", nil, []*layout.Tensor{t}, step.SameRows(t.Shape.H), Halo{t})
	s.Halo = true
	return s
}

// Halo fills what surrounds rows of images with the zero point.
type Halo struct{ to *layout.Tensor }

// Launch implements step.Work.
func (w Halo) Launch(l *step.Launcher, r step.Rows) {
	t := w.to
	r.To = min(r.To, t.Shape.H) // of each image
	var table []uint32
	put := func(addr uint32, bytes int) {
		if bytes > 0 {
			table = append(table, addr, uint32(layout.CeilDiv(bytes, layout.VectorBytes)))
		}
	}
	lead := uint32(t.Lead())
	for n := range t.Shape.N {
		if r.From == 0 {
			put(t.At(n, -t.Top, 0)-lead, t.Top*t.RowBytes())
		}
		for y := r.From; y < r.To; y++ {
			put(t.At(n, y, 0)-lead, int(lead))
			put(t.At(n, y, t.Shape.W), t.Right*t.Pitch)
		}
		if r.To == t.Shape.H {
			put(t.At(n, t.Shape.H, 0)-lead, t.Bottom*t.RowBytes())
		}
	}
	launchFill(l, table, t.Zero)
}

// CopyInto copies a tensor into a part of a larger one, whose first position and channel
// are given.
type CopyInto struct {
	Out, In *layout.Tensor
	At      [4]int
}

// Launch implements step.Work.
func (w CopyInto) Launch(l *step.Launcher, _ step.Rows) {
	r := new(runList)
	shape, at := w.In.Shape, w.At
	for n := range shape.N {
		for y := range shape.H {
			for x := range shape.W {
				to := w.Out.At(n+at[0], y+at[1], x+at[2]) + uint32(at[3])
				r.add(to, w.In.At(n, y, x), shape.C)
			}
		}
	}
	r.launch(l, false)
}

// Broadcast repeats a tensor along the dimensions in which it has size 1.
type Broadcast struct {
	Src *layout.Tensor
	To  layout.Shape
	Dst *layout.Tensor
}

// Launch implements step.Work.
func (w Broadcast) Launch(l *step.Launcher, _ step.Rows) {
	f := w.Src.Shape
	r := new(runList)
	for n := range w.To.N {
		for y := range w.To.H {
			for x := range w.To.W {
				from := w.Src.At(n%f.N, y%f.H, x%f.W)
				if f.C == w.To.C {
					r.add(w.Dst.At(n, y, x), from, w.To.C)
					continue
				}
				for c := range w.To.C {
					r.add(w.Dst.At(n, y, x)+uint32(c), from, 1)
				}
			}
		}
	}
	r.launch(l, false)
}

// Divide copies equal shares of a tensor's channels into tensors of their own.
type Divide struct {
	List     []*layout.Tensor
	Shape    layout.Shape
	In       *layout.Tensor
	Channels int
}

// Launch implements step.Work.
func (w Divide) Launch(l *step.Launcher, _ step.Rows) {
	r := new(runList)
	for i, t := range w.List {
		for n := range w.Shape.N {
			for y := range w.Shape.H {
				for x := range w.Shape.W {
					r.add(t.At(n, y, x), w.In.At(n, y, x)+uint32(i*w.Channels), w.Channels)
				}
			}
		}
	}
	r.launch(l, false)
}

// JoinPart is a tensor and where its positions go in a larger one: row, column and channel of
// the first.
type JoinPart struct {
	T       *layout.Tensor
	Y, X, C int
}

// Join copies the positions of several tensors into one, stride rows and columns apart.
type Join struct {
	Out              *layout.Tensor
	StrideH, StrideW int
	Parts            []JoinPart
}

// Launch implements step.Work.
func (w Join) Launch(l *step.Launcher, _ step.Rows) {
	r := new(runList)
	for _, p := range w.Parts {
		s := p.T.Shape
		for n := range s.N {
			for y := range s.H {
				for x := range s.W {
					to := w.Out.At(n, p.Y+y*w.StrideH, p.X+x*w.StrideW) + uint32(p.C)
					r.add(to, p.T.At(n, y, x), s.C)
				}
			}
		}
	}
	r.launch(l, false)
}

// GatherWindows copies a value so that the elements of each window are contiguous
// positions, in order.
type GatherWindows struct {
	Op      *opspec.Mean
	In, Out *layout.Tensor
}

// Launch implements step.Work.
func (g GatherWindows) Launch(l *step.Launcher, _ step.Rows) {
	m, in, w := g.Op, g.In, g.Out
	rank := len(m.In)
	strides := make([]int, rank) // in elements of [outer, count, channels]
	channels := w.Shape.C
	n := 1
	d := rank - 1
	for ; d >= 0 && !m.Reduce[d]; d-- {
		strides[d] = n
		n *= int(m.In[d])
	}
	for _, reduced := range [2]bool{true, false} {
		for i := d; i >= 0; i-- {
			if m.Reduce[i] == reduced {
				strides[i] = n
				n *= int(m.In[i])
			}
		}
	}
	// Contiguous bytes on both sides: the last axis when it is kept.
	step := 1
	if rank > 0 && !m.Reduce[rank-1] {
		step = int(m.In[rank-1])
	}
	r := new(runList)
	src := cursor{t: in}
	index := make([]int, rank)
	for done := 0; done < in.Shape.Elements(); done += step {
		at := 0
		for i, x := range index {
			at += x * strides[i]
		}
		pos := at / channels
		per := w.Shape.H * w.Shape.W
		r.add(w.At(pos/per, pos/w.Shape.W%w.Shape.H, pos%w.Shape.W)+uint32(at%channels), src.addr(), step)
		src.advance(step)
		for i, carry := rank-1, step; i >= 0 && carry > 0; i-- {
			if index[i] += carry; index[i] < int(m.In[i]) {
				break
			}
			index[i], carry = 0, 1
		}
	}
	r.launch(l, false)
}
