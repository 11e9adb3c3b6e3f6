package cpudriver

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
)

// Compare judges the outputs of a network against those of the reference for the same inputs by
// compare.Network. Where a float output leaves the rule, Rounding of expected is computed and
// counts, from then on.
func Compare(m *nn.Model, inputs [][]byte, expected, actual []compare.Tensor) []compare.Result {
	rule := compare.Network(m)
	list := compare.Outputs(expected, actual, rule)
	unknown := func(i int) bool {
		return list[i].First != nil && i < len(expected) && expected[i].Rounding == 0 && rule(expected[i].Type).Range > 0
	}
	for i := range list {
		if !unknown(i) {
			continue
		}
		moved, err := Rounding(m, inputs, expected)
		if err != nil {
			break // the reference refuses other numbers
		}
		for k, by := range moved {
			expected[k].Rounding = max(by, math.SmallestNonzeroFloat64) // 0 would be computed again
		}
		return compare.Outputs(expected, actual, rule)
	}
	return list
}

// Rounding is how far the last bits of a model's numbers move each of its outputs: the largest
// difference between what the reference expects and what it computes when each float32 element
// of the constants and of the inputs has its last bit flipped. It is 0 for outputs of other types.
func Rounding(m *nn.Model, inputs [][]byte, expected []compare.Tensor) ([]float64, error) {
	twin := *m
	twin.Main = flipped(&m.Main)
	twin.Referenced = make([]nn.Subgraph, len(m.Referenced))
	for i := range twin.Referenced {
		twin.Referenced[i] = flipped(&m.Referenced[i])
	}
	in := slices.Clone(inputs)
	for i, x := range m.Main.Inputs {
		if i < len(in) && m.Main.Operands[x].Type == nn.TensorFloat32 {
			in[i] = flipLastBits(in[i])
		}
	}
	moved, err := ReferenceTensors(&twin, in)
	if err != nil {
		return nil, err
	}
	list := make([]float64, len(expected))
	for i := range list {
		if expected[i].Type == nn.TensorFloat32 {
			r := compare.Tensors(expected[i], moved[i], compare.Criterion{})
			if list[i] = r.MaxAbsDiff; math.IsInf(list[i], 0) {
				list[i] = 0 // a number on one side alone is no rounding
			}
		}
	}
	return list, nil
}

// flipped is a subgraph with other last bits of its float32 tensors.
func flipped(g *nn.Subgraph) nn.Subgraph {
	x := *g
	x.Operands = slices.Clone(g.Operands)
	for i := range x.Operands {
		if o := &x.Operands[i]; o.IsConst() && o.Type == nn.TensorFloat32 {
			o.Data = flipLastBits(o.Data)
		}
	}
	return x
}

// flipLastBits leaves zeros, infinities and what is no number as they are.
func flipLastBits(data []byte) []byte {
	data = bytes.Clone(data)
	for b := data; len(b) >= 4; b = b[4:] {
		x := binary.LittleEndian.Uint32(b)
		if exponent := x >> 23 & 0xFF; x<<1 != 0 && exponent != 0xFF {
			binary.LittleEndian.PutUint32(b, x^1)
		}
	}
	return data
}
