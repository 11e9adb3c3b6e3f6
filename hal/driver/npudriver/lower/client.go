package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/nn"
)

// ioBuffer reserves a part of the input and output region.
func (l *Lowering) ioBuffer(n int) layout.Buffer {
	b := layout.Buffer{Region: layout.RegionIO, Addr: l.list.IO, Bytes: n}
	l.list.IO += layout.Align(n)
	return b
}

// InPlace lets kernels read and write inputs and outputs of the model in the client's
// memory: at these offsets of the region of inputs and outputs, or, without offsets, where
// the plan places them.
type InPlace struct {
	Inputs, Outputs []int
	Bytes           int // of the region of inputs and outputs, with offsets
}

// clientValue is the value of input or output i.
func (l *Lowering) clientValue(offsets []int, i, bytes int) int {
	v := l.Temporary(bytes)
	x := &l.list.Values[v]
	x.Client = true
	if offsets != nil {
		x.Fixed, x.At = true, layout.Buffer{Region: layout.RegionIO, Addr: offsets[i], Bytes: bytes}
		l.list.IO = max(l.list.IO, layout.Align(offsets[i]+bytes))
	}
	return v
}

// inputs copies the model's inputs on chip, unless they are read in place.
func (l *Lowering) inputs() {
	l.op = -1
	for i, x := range l.graph.Inputs {
		if o := &l.graph.Operands[x]; o.IsConst() || o.Lifetime == nn.NoValue { // a parameter, or left out
			if l.inPlace != nil {
				l.list.InPlace.Inputs = append(l.list.InPlace.Inputs, layout.Placed)
			} else {
				l.list.Inputs = append(l.list.Inputs, layout.Buffer{})
			}
			continue
		}
		o := l.Tensor(x)
		n := int(o.Bytes())
		if l.inPlace != nil {
			l.value[x] = l.clientValue(l.inPlace.Inputs, i, n)
			l.list.Values[l.value[x]].First = 0
			l.list.InPlace.Inputs = append(l.list.InPlace.Inputs, l.value[x])
			continue
		}
		b := l.ioBuffer(n)
		l.list.Inputs = append(l.list.Inputs, b)
		l.value[x] = l.Temporary(n)
		l.Copy(client(b), layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)})
	}
}

// placeOutputs gives the outputs their values before they are written, where that is in place.
func (l *Lowering) placeOutputs() {
	if l.inPlace == nil {
		return
	}
	for i, x := range l.graph.Outputs {
		o := l.Tensor(x)
		if l.value[x] < layout.Placed {
			l.value[x] = l.clientValue(l.inPlace.Outputs, i, int(o.Bytes()))
		}
	}
}

// outputs copies the model's outputs to memory, unless they were written in place. What
// another operation has put elsewhere is copied to its place.
func (l *Lowering) outputs() {
	l.op = -1
	for i, x := range l.graph.Outputs {
		o := l.Tensor(x)
		computed.Refuse(l.value[x] < 0, "output operand %d", x)
		n := int(o.Bytes())
		if l.inPlace != nil {
			l.list.InPlace.Outputs = append(l.list.InPlace.Outputs, l.finish(x, i, n))
			continue
		}
		b := l.ioBuffer(n)
		l.list.Outputs = append(l.list.Outputs, b)
		l.Copy(layout.Ref{Value: l.value[x], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)}, client(b))
	}
}

// finish is the value of output i in its place, to which it is copied when it is a view of another value that lies
// elsewhere or that is an output itself: each output has a place of its own.
func (l *Lowering) finish(x uint32, i, n int) int {
	v := l.value[x]
	if own := &l.list.Values[v]; l.inPlace.Outputs == nil && !l.taken(v, i) {
		own.Client = true
		return v
	} else if l.inPlace.Outputs != nil && own.Client && own.At.Addr == l.inPlace.Outputs[i] {
		return v
	}
	to := l.clientValue(l.inPlace.Outputs, i, n)
	l.Copy(layout.Ref{Value: v, FeatureMap: layout.Dense(0, 1, 1, n, 1, false)}, layout.Ref{Value: to, FeatureMap: layout.Dense(0, 1, 1, n, 1, false)})
	return to
}

// taken reports whether an output before output i, of another operand, has the value.
func (l *Lowering) taken(v, i int) bool {
	for k, y := range l.graph.Outputs[:i] {
		if y != l.graph.Outputs[i] && l.list.InPlace.Outputs[k] == v {
			return true
		}
	}
	return false
}

// client is the map of a buffer of the input and output region.
func client(b layout.Buffer) layout.Ref {
	r := layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(b.Addr, 1, 1, b.Bytes, 1, false)}
	r.Region = layout.RegionIO
	return r
}
