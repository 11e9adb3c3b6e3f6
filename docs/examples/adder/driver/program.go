package driver

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
)

// program is a lowered graph. It implements compile.Executable and compile.Saver.
type program struct {
	graph  *graph.Graph
	code   []byte // an instruction per operation of the graph
	at     []int  // places of the operands in the memory
	memory int    // bytes
}

// Run implements compile.Executable: a memory of its own, inputs and constants into it, then
// instruction by instruction.
func (p *program) Run(inputs [][]byte, o compile.RunOptions) (compile.Run, error) {
	r := &finished{p: p, memory: make([]byte, p.memory)}
	for x := range p.graph.Operands {
		if o := &p.graph.Operands[x]; o.Type == nn.TensorFloat32 { // and not activations
			copy(r.memory[p.at[x]:], o.Data)
		}
	}
	for i, x := range p.graph.Inputs {
		copy(r.memory[p.at[x]:], inputs[i])
	}
	hz := int64(defaultHz)
	if len(o.Points) > 0 { // where the machine has the engine's clock
		hz = o.Points[0].OPP.Hz
	}
	for i := range p.graph.Operations {
		c, err := run(p.code[i*instructionBytes:][:instructionBytes], r.memory)
		if err != nil {
			return nil, err
		}
		if !o.Functional {
			r.charge(p.graph.Origin[i], &c, hz)
		}
	}
	return r, nil
}

// WriteListing implements compile.Executable.
func (p *program) WriteListing(w io.Writer) error {
	for i := range p.graph.Operations {
		word := func(k int) uint32 { return binary.LittleEndian.Uint32(p.code[i*instructionBytes+4*k:]) }
		if _, err := fmt.Fprintf(w, "%04x  %-4s [%d], [%d], [%d], %d, activation %d  ; operation %d\n",
			i*instructionBytes, names[min(word(0), opMove)], word(1), word(2), word(3), word(4), word(5), p.graph.Origin[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteProgram implements compile.Executable.
func (p *program) WriteProgram(w io.Writer) error {
	_, err := w.Write(p.code)
	return err
}

// Bytes implements compile.Executable.
func (p *program) Bytes() int { return len(p.code) + 8*len(p.at) }

// Save implements compile.Saver. Lowering is cheap; what it decided is saved all the same.
func (p *program) Save(w *cache.Writer) {
	w.Bytes(p.code)
	w.Uint(uint64(p.memory))
	for _, at := range p.at {
		w.Uint(uint64(at))
	}
}

// Load implements compile.Loader. The file may be forged: every place is checked.
func (lowering) Load(g *graph.Graph, r *cache.Reader) (compile.Executable, error) {
	p := &program{graph: g, code: r.Bytes(), memory: r.IntUpTo(maxMemory), at: make([]int, len(g.Operands))}
	for x := range p.at {
		p.at[x] = r.IntUpTo(maxMemory)
		o := &g.Operands[x]
		if n := max(o.Bytes(), int64(len(o.Data))); p.at[x] > p.memory || o.Type == nn.TensorFloat32 && int64(p.at[x])+n > int64(p.memory) {
			return nil, fmt.Errorf("adder: operand %d lies at %d of a memory of %d bytes", x, p.at[x], p.memory)
		}
	}
	if len(p.code) != instructionBytes*len(g.Operations) {
		return nil, fmt.Errorf("adder: %d bytes of code for %d operations", len(p.code), len(g.Operations))
	}
	return p, r.Err()
}

// finished is an execution that has ended. It implements compile.Run.
type finished struct {
	p      *program
	memory []byte
	stats  hal.Stats
}

// Output implements compile.Run.
func (r *finished) Output(i int) ([]byte, []uint32) {
	x := r.p.graph.Outputs[i]
	o := &r.p.graph.Operands[x]
	return r.memory[r.p.at[x]:][:o.Bytes()], o.Dimensions
}

// Stats implements compile.Run.
func (r *finished) Stats() hal.Stats { return r.stats }

// Release implements compile.Run.
func (r *finished) Release() {}

// charge adds an instruction's costs to an operation of the model. Cycles of all reasons add up
// to the cycles, of the operation and of the execution.
func (r *finished) charge(operation int, c *cycles, hz int64) {
	n := c.issue + c.memory
	fs := n * (1e15 / hz)
	o := hal.OperationStats{Index: operation, Cycles: n, TimeFs: fs, EnergyPJ: c.pj, DRAMBytes: c.bytes, BoundBy: "issue"}
	o.Stalls = []hal.StallCycles{{Reason: "issue", Cycles: c.issue}, {Reason: "memory", Cycles: c.memory}}
	if c.memory > c.issue {
		o.BoundBy = "memory"
	}
	s := &r.stats
	s.Operations = append(s.Operations, o)
	s.ClockHz, s.Cycles, s.LatencyFs, s.EnergyPJ = hz, s.Cycles+n, s.LatencyFs+fs, s.EnergyPJ+c.pj
	s.Instructions++
	if s.Stalls == nil {
		s.Stalls = []hal.StallCycles{{Reason: "issue"}, {Reason: "memory"}}
	}
	s.Stalls[0].Cycles += c.issue
	s.Stalls[1].Cycles += c.memory
}
