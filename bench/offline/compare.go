package offline

import (
	"bytes"
	"fmt"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Stream is the cost of a compiled network on a machine.
type Stream struct {
	Cycles        int64 `json:"cycles"` // of the NPU, active
	CommandBytes  int   `json:"command_bytes"`
	ConstantBytes int   `json:"constant_bytes"` // weights, records and tables
	SRAMBytes     int   `json:"sram_bytes"`     // working memory on chip, the most of any operator
	OtherBytes    int   `json:"other_bytes"`    // working memory off chip
	AXI0Beats     int64 `json:"axi0_beats"`
	AXI1Beats     int64 `json:"axi1_beats"`
	Operators     int   `json:"operator_count"` // ethos-u
}

// Comparison is a network as compiled by Vela and by Compile.
type Comparison struct {
	Accelerator ethosu.Config
	Vela, Own   Stream
	// Elements is the number of elements of all outputs, Different of those whose values differ; 0 where the networks
	// are alike only.
	Elements, Different int
}

// Ratio is the cycles relative to those of Vela's stream.
func (c *Comparison) Ratio() float64 { return float64(c.Own.Cycles) / float64(max(c.Vela.Cycles, 1)) }

// Compare runs a file of Vela's and the model it was made from, compiled for the same accelerator, on the same inputs
// and the machine that load returns for a name.
func Compare(file []byte, m *nn.Model, load func(name string) (*soc.Config, error)) (*Comparison, error) {
	c, outputs, err := run(file, m, load)
	if err != nil {
		return nil, err
	}
	return c, c.outputs(outputs)
}

// CompareStructure is Compare for a model of the same operations and shapes as the one that Vela's file was
// made from, but with other weights: the outputs are not compared.
func CompareStructure(file []byte, m *nn.Model, load func(name string) (*soc.Config, error)) (*Comparison, error) {
	c, _, err := run(file, m, load)
	return c, err
}

// outputs holds a network's outputs and the size of their elements in bytes.
type outputs struct {
	data  [][]byte
	sizes []int
}

// run runs Vela's file and the compiled one.
func run(file []byte, m *nn.Model, load func(name string) (*soc.Config, error)) (*Comparison, [2]outputs, error) {
	var out [2]outputs
	c := &Comparison{}
	theirs, err := vela.Read(file)
	if err != nil {
		return nil, out, err
	}
	if c.Accelerator, err = inference.Accelerator(theirs); err != nil {
		return nil, out, err
	}
	config, err := load(c.Accelerator.String())
	if err != nil {
		return nil, out, err
	}
	compiled, err := Compile(m, config, c.Accelerator)
	if err != nil {
		return nil, out, err
	}
	ours, err := vela.Read(compiled.File)
	if err != nil {
		return nil, out, err
	}
	for i, n := range []*vela.Network{theirs, ours} {
		s := []*Stream{&c.Vela, &c.Own}[i]
		if out[i].data, err = s.run(n, config); err != nil {
			return nil, out, fmt.Errorf("%s: %w", []string{"Vela's file", "the compiled file"}[i], err)
		}
		for _, x := range n.Outputs {
			out[i].sizes = append(out[i].sizes, max(1, n.Tensors[x].Operand.Type.ElementBytes()))
		}
	}
	return c, out, nil
}

// outputs counts the elements that differ.
func (c *Comparison) outputs(of [2]outputs) error {
	theirs, ours := of[0].data, of[1].data
	if len(ours) != len(theirs) {
		return fmt.Errorf("%d outputs, Vela's file has %d", len(ours), len(theirs))
	}
	for i, want := range theirs {
		got := ours[i]
		if len(got) != len(want) {
			return fmt.Errorf("output %d has %d bytes, Vela's %d", i, len(got), len(want))
		}
		size := of[1].sizes[i]
		for at := 0; at+size <= len(want); at += size {
			c.Elements++
			if !bytes.Equal(got[at:at+size], want[at:at+size]) {
				c.Different++
			}
		}
	}
	return nil
}

// run runs a network once, on inputs that depend on their shapes alone.
func (s *Stream) run(n *vela.Network, config *soc.Config) (_ [][]byte, err error) {
	defer try.Catch(&err)
	m := try.V(inference.NewMachine(config, hal.FastSingleAnswer))
	session := try.V(inference.New(n, m))
	var inputs [][]byte
	for i, o := range inference.Operands(n, n.Inputs) {
		inputs = append(inputs, tensor.Synthetic(o, uint32(i+1)))
	}
	r := try.V(session.Run(inputs, inference.Options{}))
	s.Cycles = r.ActiveCycles
	for i, p := range r.Ports {
		*[]*int64{&s.AXI0Beats, &s.AXI1Beats}[min(i, 1)] += p.ReadBeats + p.WriteBeats
	}
	constants := map[*byte]int{}
	for i := range n.Steps {
		o := n.Steps[i].NPU
		if o == nil {
			continue
		}
		p := try.V(ethosu.ReadPayload(o.Payload))
		s.Operators++
		s.CommandBytes += 4 * len(p.Commands)
		if len(o.Constants) > 0 {
			constants[&o.Constants[0]] = len(o.Constants)
		}
		if onChip := m.Spec.OnChipRegion() == 1; onChip {
			s.SRAMBytes = max(s.SRAMBytes, o.ArenaBytes)
		} else {
			s.SRAMBytes, s.OtherBytes = max(s.SRAMBytes, o.FastBytes), max(s.OtherBytes, o.ArenaBytes)
		}
	}
	for _, b := range constants {
		s.ConstantBytes += b
	}
	return r.Outputs, nil
}
