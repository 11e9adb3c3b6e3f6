package opspec

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestUnknown: of an operation whose operands are all inputs without shapes, each rule of its row returns an error,
// or what needs no more than types.
func TestUnknown(t *testing.T) {
	asked, unread := 0, 0
	for _, row := range Standard().rows {
		if row == nil {
			continue
		}
		for _, key := range row.keys {
			for f := range row.forms {
				v, op := unknown(row, &row.forms[f], key.t)
				a, err := v.Bind(&op)
				if err != nil {
					continue // a form of another type
				}
				asked++
				if _, err := a.OutputDims(); err != nil {
					unread++
				}
				_, _ = v.Work(&op)
				_, _ = v.Sums(&op)
				_ = v.MACs(&op)
				_ = v.SumsFit(&op)
				_ = a.CheckQuant()
			}
		}
	}
	require.Check(t, asked >= 300 && unread >= asked*9/10, "%d forms were asked, %d do not say their shapes", asked, unread)
}

// unknown is an operation of a form with all of its inputs.
func unknown(row *Row, s *signature, key nn.OperandType) (View, nn.Operation) {
	v, op := View{Table: Standard()}, nn.Operation{Type: row.Op}
	add := func(list *[]uint32, sl *slot) {
		*list = append(*list, uint32(len(v.Operands)))
		v.Operands = append(v.Operands, nn.Operand{Type: sl.typeFor(key), Lifetime: nn.SubgraphInput, Scale: 1})
	}
	for i := range s.in {
		add(&op.Inputs, &s.in[i])
	}
	for i := range s.outs[0].slots {
		add(&op.Outputs, &s.outs[0].slots[i])
	}
	return v, op
}
