package compile

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// Loader is a Lowering whose programs can be saved: its Executables are Savers. Everything else is
// saved around them, so a device needs nothing else for a compilation cache.
type Loader interface {
	Lowering
	// Load returns the program that Save has written for the same graph. What it reads
	// may be forged: every address and size must be checked.
	Load(g *graph.Graph, r *cache.Reader) (Executable, error)
}

// Saver is an Executable that can be saved.
type Saver interface {
	// Save writes all that Load needs: code with Bytes, constants with Constants.
	Save(w *cache.Writer)
}

// Size implements base.Sized.
func (p *staged) Size() (operations, program int) { return p.size(map[*staged]bool{}) }

// size is the operations of the canonical graphs and the bytes of the programs, those of called
// subgraphs among them, once each.
func (p *staged) size(seen map[*staged]bool) (operations, program int) {
	if seen[p] {
		return 0, 0
	}
	seen[p] = true
	operations = len(p.graph.Operations)
	for _, x := range p.stages {
		if x.fixed != nil {
			program += x.fixed.Bytes()
		}
	}
	for _, child := range p.children {
		o, n := child.size(seen)
		operations, program = operations+o, program+n
	}
	return operations, program
}

// Bytes implements base.Sized.
func (p *staged) Bytes() (n int) {
	for _, s := range p.stages {
		if s.fixed != nil {
			n += s.fixed.Bytes()
		}
	}
	return n
}

// Complete reports whether the programs at hand are all that executions need: no stage
// waits for parameters, and no input can be left out.
func (p *staged) Complete() bool {
	for _, s := range p.stages {
		if s.fixed == nil {
			return false
		}
	}
	for k, x := range p.model.Main.Inputs {
		m := *p.model
		m.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
		m.Main.Operands[x].Lifetime = nn.NoValue
		m.Main.Inputs = append(append([]uint32(nil), m.Main.Inputs[:k]...), m.Main.Inputs[k+1:]...)
		if validate.ModelOf(p.graph.Table, &m) == nil {
			return false
		}
	}
	return true
}

// Save implements base.Saver.
func (p *staged) Save(w *cache.Writer) error {
	w.Subgraph(&p.graph.Subgraph, !p.Complete())
	for _, o := range p.graph.Origin {
		w.Int(int64(o))
	}
	for _, st := range p.stages {
		w.Bool(st.fixed != nil)
		if st.fixed == nil {
			continue
		}
		x, ok := st.fixed.(Saver)
		if !ok {
			return hal.Errorf(hal.GeneralFailure, "%T cannot be saved", st.fixed)
		}
		x.Save(w)
	}
	return nil
}

// Loads implements base.Loader.
func (c compiler) Loads() bool {
	_, ok := c.Lowering.(Loader)
	return ok
}

// Load implements base.Loader.
func (c compiler) Load(m *nn.Model, o hal.PrepareOptions, r *cache.Reader) (base.Program, error) {
	canonical := r.Subgraph()
	origin := make([]int, len(canonical.Operations))
	for i := range origin {
		origin[i] = r.IntIn(0, int64(len(m.Main.Operations))-1)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	g := graph.New(m)
	g.Table = c.table
	g.Subgraph, g.Origin = canonical, origin
	if err := g.Check(); err != nil {
		return nil, err
	}
	parts, err := g.Stages()
	if err != nil {
		return nil, err
	}
	l := c.Lowering.(Loader)
	p := &staged{lowering: l, options: o, model: m, graph: g}
	if err := c.compileCalled(p, parts); err != nil {
		return nil, err
	}
	for _, s := range parts {
		st := &stage{Stage: s}
		if r.Bool() {
			g, err := s.Bind(nil, nil)
			if err == nil {
				st.fixed, err = l.Load(g, r)
			}
			if err != nil {
				return nil, err
			}
		}
		p.stages = append(p.stages, st)
	}
	return p, nil
}
