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
// compare.Network. Where an output that was rounded leaves the rule, Rounding of expected is computed and
// counts, from then on.
func Compare(m *nn.Model, inputs [][]byte, expected, actual []compare.Tensor) []compare.Result {
	rule := compare.Network(m)
	list := compare.Outputs(expected, actual, rule)
	unknown := func(i int) bool {
		return list[i].First != nil && i < len(expected) && expected[i].Rounding == 0 && rule(expected[i].Type).Grows
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
// difference between what the reference expects and what it computes when each element of the
// floats among the constants and the inputs has its last bit flipped, that of a half where the
// model lets devices compute in halves (compare.Halves). It is 0 for outputs of types that are
// neither floats nor rounded from them (compare.Rounded).
func Rounding(m *nn.Model, inputs [][]byte, expected []compare.Tensor) ([]float64, error) {
	last := map[nn.OperandType]lastBit{nn.TensorFloat32: {4, 1}, nn.TensorFloat16: {2, 1}}
	if compare.Halves(m) {
		last[nn.TensorFloat32] = lastBit{4, 1 << (float32Fraction - float16Fraction)}
	}
	twin := *m
	twin.Main = flipped(&m.Main, last)
	twin.Referenced = make([]nn.Subgraph, len(m.Referenced))
	for i := range twin.Referenced {
		twin.Referenced[i] = flipped(&m.Referenced[i], last)
	}
	in := slices.Clone(inputs)
	for i, x := range m.Main.Inputs {
		if i < len(in) {
			in[i] = last[m.Main.Operands[x].Type].flip(in[i])
		}
	}
	moved, err := ReferenceTensors(&twin, in)
	if err != nil {
		return nil, err
	}
	list := make([]float64, len(expected))
	for i := range list {
		if compare.Rounded(m, expected[i].Type) {
			r := compare.Tensors(expected[i], moved[i], compare.Criterion{})
			if list[i] = r.MaxAbsDiff; math.IsInf(list[i], 0) {
				list[i] = 0 // a number on one side alone is no rounding
			}
		}
	}
	return list, nil
}

// Bits of the fractions of floats.
const (
	float32Fraction = 23
	float16Fraction = 10
)

// flipped is a subgraph with other last bits of its float tensors.
func flipped(g *nn.Subgraph, last map[nn.OperandType]lastBit) nn.Subgraph {
	x := *g
	x.Operands = slices.Clone(g.Operands)
	for i := range x.Operands {
		if o := &x.Operands[i]; o.IsConst() {
			o.Data = last[o.Type].flip(o.Data)
		}
	}
	return x
}

// lastBit is the last bit that counts of a float of a number of bytes; the zero value is none.
type lastBit struct {
	bytes int
	mask  uint32
}

// flip returns elements with the bit flipped. Zeros, infinities and what is no number stay as they are.
func (l lastBit) flip(data []byte) []byte {
	if l.bytes == 0 {
		return data
	}
	data = bytes.Clone(data)
	for b := data; len(b) >= l.bytes; b = b[l.bytes:] {
		switch l.bytes {
		case 4:
			x := binary.LittleEndian.Uint32(b)
			if exponent := x >> float32Fraction & 0xFF; x<<1 != 0 && exponent != 0xFF {
				binary.LittleEndian.PutUint32(b, x^l.mask)
			}
		case 2:
			x := binary.LittleEndian.Uint16(b)
			if exponent := x >> float16Fraction & 0x1F; x<<1 != 0 && exponent != 0x1F {
				binary.LittleEndian.PutUint16(b, x^uint16(l.mask))
			}
		}
	}
	return data
}
