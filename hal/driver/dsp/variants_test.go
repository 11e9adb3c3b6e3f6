package dsp

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// undone are the operations with integer types that this driver does not lower.
var undone = []nn.OperationType{nn.OpBoxWithNmsLimit, nn.OpGenerateProposals}

// TestVariants draws every operation in each of its types without floats: the
// device takes all of them, signed and unsigned ones alike.
func TestVariants(t *testing.T) {
	d := device(t)
	gen, err := randgraph.NewGenerator(77, nil)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]int{}
	for i := range 1600 {
		if i%4 == 3 { // a graph
			continue
		}
		c, err := gen.Case(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := &c.Model.Main
		if op := c.Variants[0].Op; usesFloat(g) || slices.Contains(undone, op) {
			continue
		}
		drawn[c.Variants[0].String()]++
		s, err := d.SupportedOperations(c.Model)
		if err != nil {
			t.Fatal(err)
		}
		for k := range s {
			if !s[k].OK {
				t.Errorf("%s: %s: %s", c.Name, c.Variants[0], s[k].Reason)
			}
		}
	}
	for _, v := range randgraph.Variants() {
		if v.Key == nn.TensorFloat32 || v.Key == nn.TensorFloat16 || slices.Contains(undone, v.Op) || drawn[v.String()] > 0 {
			continue
		}
		switch v.Op {
		case nn.OpDequantize, nn.OpQuantize: // have a float side
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

// TestLateVariants runs every operation with its parameters as inputs.
func TestLateVariants(t *testing.T) {
	d := device(t)
	gen, err := randgraph.NewGenerator(78, nil)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for i := range 800 {
		if i%4 == 3 && i%8 != 7 {
			continue
		}
		c, err := gen.Case(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, in := lateModel(t, c.Model, c.Inputs)
		s, err := d.SupportedOperations(m)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(s, func(a hal.Support) bool { return !a.OK }) {
			continue
		}
		if slices.ContainsFunc(c.Variants, func(v randgraph.Variant) bool { return v.Op == nn.OpResizeBilinear }) {
			continue // D-74
		}
		t.Run(c.Name, func(t *testing.T) {
			p, err := d.PrepareModel(m, hal.PrepareOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := execute(t, p, m, in); err != nil {
				t.Fatal(err)
			}
			ran++
		})
	}
	if ran < 200 {
		t.Errorf("only %d cases ran", ran)
	}
	t.Logf("%d cases", ran)
}
