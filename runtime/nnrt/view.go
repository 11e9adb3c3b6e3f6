package nnrt

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

// view is a step of the runtime that moves nothing: operands lie in the memory of others, so that devices read and write them
// at their place. It stands where the prepared model of other steps does.
type view struct {
	hal.UnimplementedPreparedModel
	lies []partition.Lies
}

// WriteListing implements hal.PreparedModel.
func (v *view) WriteListing(w io.Writer) error {
	for _, l := range v.lies {
		if _, err := fmt.Fprintf(w, "; operand %d lies in operand %d from byte %d on\n", l.Operand, l.In, l.Offset); err != nil {
			return err
		}
	}
	return nil
}

// WriteProgram implements hal.PreparedModel: there is none.
func (v *view) WriteProgram(io.Writer) error { return nil }

// addView appends an operation of the main subgraph that the runtime does by placing operands.
func (l *layout) addView(source, i int) error {
	g := &l.sources[source].model.Main
	lies, why := partition.View(g, i)
	if why != "" || source != 0 {
		return hal.Errorf(hal.GeneralFailure, "runtime: operation %d (%v) of %s: %s", i, g.Operations[i].Type, l.sources[source].name, why)
	}
	for _, x := range lies {
		if _, twice := l.within[x.Operand]; twice {
			return hal.Errorf(hal.InvalidArgument, "runtime: operation %d (%v): operand %d has two places", i, g.Operations[i].Type, x.Operand)
		}
		l.within[x.Operand] = x
	}
	l.steps = append(l.steps, step{device: l.cpu, prepared: &view{lies: lies}, operations: []int{i}})
	l.owner[i] = partition.Interpreter
	return nil
}

// root returns the operand in whose memory another lies, and where; an operand with memory of its own lies in itself.
func (c *Compilation) root(operand uint32) (in uint32, offset int64) {
	for in = operand; ; { // results of one operation lie in those of later or earlier ones, never in their own
		x, ok := c.within[in]
		if !ok {
			return in, offset
		}
		in, offset = x.In, offset+x.Offset
	}
}

// placed reports whether an operand lies in another's memory, or holds another.
func (c *Compilation) placed(operand uint32) bool {
	if _, ok := c.within[operand]; ok {
		return true
	}
	for _, x := range c.within {
		if x.In == operand {
			return true
		}
	}
	return false
}

// show makes the values of operands that lie in others, or hold them, known to the steps behind a view.
func (e *execution) show(v *view) {
	for _, x := range v.lies {
		for _, operand := range [2]uint32{x.In, x.Operand} {
			if f := e.frames[0][operand]; f.data == nil {
				f.data = e.memoryOf(operand, e.Model.Main.Operands[operand].Bytes())
			}
		}
	}
}

// memoryOf is the memory of an operand that lies in another's, or holds others.
func (v *bindings) memoryOf(operand uint32, n int64) []byte {
	in, at := v.root(operand)
	whole := v.frames[0][in]
	if whole.data == nil {
		o := &v.sources[0].model.Main.Operands[in]
		if p := v.sources[0].places[in]; p.bytes > 0 {
			whole.data = v.fromPool(p)
		} else {
			whole.data = make([]byte, o.Bytes())
		}
	}
	return whole.data[at : at+n : at+n]
}

// placeRoots gives the temporaries that hold others, which no part may write as a whole, a place in the pool.
func (c *Compilation) placeRoots() {
	g := &c.Model.Main
	for i := range c.steps {
		v, ok := c.steps[i].prepared.(*view)
		if !ok {
			continue
		}
		for _, x := range v.lies {
			in, _ := c.root(x.In)
			if o := &g.Operands[in]; o.Lifetime == nn.TemporaryVariable && c.sources[0].places[in].bytes == 0 {
				c.place(0, in)
			}
		}
	}
}
