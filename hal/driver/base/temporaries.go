package base

import (
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Temporaries is a Compiler that knows better than peak what an execution of a graph of known shapes holds at one time
// besides its arguments.
type Temporaries interface {
	TemporaryBytes(g *nn.Subgraph) int64
}

// TemporaryBytes is about what an execution of a request computes besides its arguments: the
// most bytes of temporaries that live at one time, of the model and of each subgraph that
// control flow enters. Tensors whose shapes only their values decide count nothing: the
// execution reserves them of its hal.MemoryAccount.
func (p *prepared) TemporaryBytes(r *hal.Request) int64 {
	g := p.original.Main
	copied := false
	for i, x := range g.Inputs {
		if dims := p.argumentDimensions(r, i); len(dims) > 0 && !g.Operands[x].Known() {
			if !copied {
				g.Operands, copied = append([]nn.Operand(nil), g.Operands...), true
			}
			g.Operands[x].Dimensions = dims
		}
	}
	if copied {
		return saturated(p.bytesOf(&g), p.referencedBytes())
	}
	p.temporaries.Do(func() { p.temporaryBytes = saturated(p.bytesOf(&p.model.Main), p.referencedBytes()) })
	return p.temporaryBytes
}

// argumentDimensions returns the dimensions of an input of a request, or of the device memory that it is.
func (p *prepared) argumentDimensions(r *hal.Request, i int) []uint32 {
	if i >= len(r.Inputs) {
		return nil
	}
	a := &r.Inputs[i]
	if pool := uint64(a.Location.PoolIndex); len(a.Dimensions) == 0 && !a.HasNoValue && pool < uint64(len(r.Pools)) && r.Pools[pool].Memory == nil {
		if b := p.device.memories.find(r.Pools[pool].Token); b != nil {
			return b.operand.Dimensions
		}
	}
	return a.Dimensions
}

// bytesOf is what an execution of a graph holds at one time besides its arguments.
func (p *prepared) bytesOf(g *nn.Subgraph) int64 {
	if resolved, err := p.device.cfg.Operations.Resolve(g); err == nil {
		g = resolved
	}
	if x, ok := p.device.compiler.(Temporaries); ok {
		return x.TemporaryBytes(g)
	}
	return peak(g)
}

func (p *prepared) referencedBytes() (n int64) {
	for i := range p.original.Referenced {
		n = saturated(n, p.bytesOf(&p.original.Referenced[i]))
	}
	return n
}

// peak is the most bytes of temporaries that live at one time when the operations of a graph
// run in their order.
func peak(g *nn.Subgraph) int64 {
	last := make([]int, len(g.Operands)) // operation that reads an operand last, or writes it
	for k := range g.Operations {
		for _, list := range [2][]uint32{g.Operations[k].Inputs, g.Operations[k].Outputs} {
			for _, x := range list {
				last[x] = k
			}
		}
	}
	ends := make([][]uint32, len(g.Operations))
	for x := range g.Operands {
		if g.Operands[x].Lifetime == nn.TemporaryVariable && len(ends) > 0 {
			ends[last[x]] = append(ends[last[x]], uint32(x))
		}
	}
	written := make([]bool, len(g.Operands))
	var live, most int64
	for k := range g.Operations {
		for _, x := range g.Operations[k].Outputs {
			if o := &g.Operands[x]; o.Lifetime == nn.TemporaryVariable && !written[x] {
				written[x] = true
				live = saturated(live, max(o.Bytes(), 0))
			}
		}
		most = max(most, live)
		for _, x := range ends[k] {
			if written[x] && live < math.MaxInt64 {
				live -= max(g.Operands[x].Bytes(), 0)
			}
		}
	}
	return most
}

// saturated is the sum of two counts, at most the largest.
func saturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
