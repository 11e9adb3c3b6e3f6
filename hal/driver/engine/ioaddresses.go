package engine

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
)

// Span is a range of bytes of one of a program's memories. One without bytes is no place.
type Span struct{ Memory, From, To int }

// Bytes is the length of a span.
func (s Span) Bytes() int { return s.To - s.From }

// of is the bytes of a span, nil where it is no place.
func (s Span) of(memory func(int) []byte) []byte {
	if s.From == s.To {
		return nil
	}
	return memory(s.Memory)[s.From:s.To:s.To]
}

// Fault is a check of a program: a byte of Word that is not 0 after an execution means that an operation
// has read a value that it does not allow.
type Fault struct {
	Operation int
	Reason    string
	Word      Span
}

// IOAddresses is the addresses of a program's inputs and outputs, in the order of its graph.
type IOAddresses struct {
	Inputs  []Span // no place: the program does not read it
	Outputs []Span
	Counts  []Span // of outputs, the word with the number of entries along dimension 0; no place: all count
	Faults  []Fault
}

// Code saves and loads the places of the program of a graph, whose memories have sizes.
func (p *IOAddresses) Code(c *cache.Coder, g *graph.Graph, sizes ...int) {
	span := func(s *Span) {
		cache.Number(c, &s.Memory, 0, int64(len(sizes)-1))
		cache.Number(c, &s.From, 0, math.MaxInt32)
		cache.Number(c, &s.To, 0, math.MaxInt32)
		if c.Reading() {
			size := sizes[s.Memory]
			c.Check(s.From <= s.To && s.To <= size, "bytes %d to %d of a memory of %d", s.From, s.To, size)
		}
	}
	for _, list := range []struct {
		spans   *[]Span
		tensors int
	}{{&p.Inputs, len(g.Inputs)}, {&p.Outputs, len(g.Outputs)}, {&p.Counts, len(g.Outputs)}} {
		cache.List(c, list.spans, span)
		c.Check(len(*list.spans) == list.tensors, "places of %d tensors, the graph has %d", len(*list.spans), list.tensors)
	}
	for i := range p.Outputs {
		if !c.Reading() || !c.Valid() {
			break
		}
		n := g.Operands[g.Outputs[i]].Bytes()
		c.Check(int64(p.Outputs[i].Bytes()) == n, "output %d of %d bytes has a place of %d", i, n, p.Outputs[i].Bytes())
		c.Check(p.Counts[i].Bytes() == 0 || p.Counts[i].Bytes() >= 4, "a count of %d bytes", p.Counts[i].Bytes())
	}
	cache.List(c, &p.Faults, func(f *Fault) {
		cache.Number(c, &f.Operation, math.MinInt32, math.MaxInt32)
		c.String(&f.Reason)
		span(&f.Word)
		c.Check(f.Word.Bytes() > 0, "a fault without a word")
	})
}

// Write prints the places.
func (p *IOAddresses) Write(w io.Writer) error {
	_, err := fmt.Fprintln(w, p.Inputs, p.Outputs, p.Counts, p.Faults)
	return err
}

// fault finds a fault that an execution has left in its memories.
func (p *IOAddresses) fault(memory func(int) []byte) *Fault {
	for i := range p.Faults {
		if f := &p.Faults[i]; slices.ContainsFunc(f.Word.of(memory), func(b byte) bool { return b != 0 }) {
			return f
		}
	}
	return nil
}
