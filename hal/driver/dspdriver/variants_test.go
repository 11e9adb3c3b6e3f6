package dspdriver

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// TestVariants draws every operation in each of its types without floats: the
// device accepts all of them, signed and unsigned ones alike.
func TestVariants(t *testing.T) {
	d := device(t)
	gen := require.V(randgraph.NewGenerator(77, nil))(t)
	drawn := map[string]int{}
	for i := range 1600 {
		if i%4 == 3 { // a graph
			continue
		}
		c := require.V(gen.Case(i, nil))(t)
		g := &c.Model.Main
		if usesFloat(g) || len(c.Model.Referenced) > 0 { // whose subgraphs may have floats
			continue
		}
		drawn[c.Variants[0].String()]++
		s := require.V(d.SupportedOperations(c.Model))(t)
		for k := range s {
			if !s[k].OK {
				t.Errorf("%s: %s: %s", c.Name, c.Variants[0], s[k].Reason)
			}
		}
	}
	for _, v := range randgraph.Variants() {
		if v.Key == nn.TensorFloat32 || v.Key == nn.TensorFloat16 || v.Op == nn.OpIf || v.Op == nn.OpWhile || drawn[v.String()] > 0 {
			continue
		}
		switch v.Op {
		case nn.OpDequantize, nn.OpDequantize16, nn.OpQuantize: // have a float side
		default:
			t.Errorf("%s was not drawn", v)
		}
	}
}

func usesFloat(g *nn.Subgraph) bool {
	return slices.ContainsFunc(g.Operands, func(o nn.Operand) bool {
		return o.Type == nn.TensorFloat32 || o.Type == nn.TensorFloat16
	})
}

// TestRuntimeParameterVariants runs every operation with its parameters as inputs.
func TestRuntimeParameterVariants(t *testing.T) {
	d := device(t)
	gen := require.V(randgraph.NewGenerator(78, nil))(t)
	ran := 0
	for i := range 800 {
		if i%8 == 3 { // half of the graphs are enough
			continue
		}
		c := require.V(gen.Case(i, nil))(t)
		m, in := runtimeParameterModel(t, c.Model, c.Inputs)
		if !d.supports(c.Model) {
			continue
		}
		if !d.supports(m) {
			t.Errorf("%s: taken with constant parameters, not with runtime ones", c.Name)
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
			require.V(execute(t, p, m, in))(t)
			ran++
		})
	}
	if ran < 200 {
		t.Errorf("only %d cases ran", ran)
	}
	t.Logf("%d cases", ran)
}

// TestRuntimeParametersHostile changes parameters at random: the device gives what the
// reference gives, or fails as well, and does not panic.
func TestRuntimeParametersHostile(t *testing.T) {
	d := device(t)
	gen := require.V(randgraph.NewGenerator(79, nil))(t)
	r := rand.New(rand.NewPCG(4, 4))
	failed, ran := 0, 0
	for i := range 120 {
		c := require.V(gen.Case(i, nil))(t)
		m, in := runtimeParameterModel(t, c.Model, c.Inputs)
		s := require.V(d.SupportedOperations(m))(t)
		if len(in) == len(c.Inputs) || slices.ContainsFunc(s, func(a hal.Support) bool { return !a.OK }) {
			continue
		}
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
		for range 6 {
			list := slices.Clone(in)
			for n := 1 + r.IntN(2); n > 0; n-- {
				k := len(c.Inputs) + r.IntN(len(in)-len(c.Inputs))
				if m.Main.Operands[m.Main.Inputs[k]].Type == nn.Float32 {
					continue
				}
				list[k] = slices.Clone(list[k])
				if b := list[k]; len(b) >= 4 {
					binary.LittleEndian.PutUint32(b[4*r.IntN(len(b)/4):], pick(r, 0, 1, 2, 3, 7, ^uint32(0), ^uint32(1), 1<<31, 1<<30, 40))
				} else {
					b[r.IntN(len(b))] ^= 1
				}
			}
			t.Run(c.Name, func(t *testing.T) {
				ran++
				if _, err := hal.Execute(p, &hal.Buffers{Inputs: list, Outputs: make([][]byte, len(m.Main.Outputs)), ExecuteOptions: hal.ExecuteOptions{Functional: true}}); tooLarge(err) {
					return
				}
				if _, err := execute(t, p, m, list); err != nil {
					failed++
				}
			})
		}
	}
	if ran < 150 || failed < 25 || failed > ran-60 {
		t.Errorf("%d of %d executions failed", failed, ran)
	}
}

// tooLarge reports an error that names a bound of this driver.
func tooLarge(err error) bool {
	return err != nil && hal.StatusOf(err) == hal.GeneralFailure && (strings.Contains(err.Error(), "too many") || strings.Contains(err.Error(), "at most"))
}
