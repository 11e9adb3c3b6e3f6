package legal

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// Fact is the row of one operation and element type.
type Fact struct {
	Operation nn.OperationType
	Type      nn.OperandType
	Kind      Kind
	Into      []nn.OperationType // of an expansion, or of one that runs where it is cheaper
	To        nn.OperandType     // of a widening
	Why       string             // of a refusal
	Rules     []string           // what an operation must keep, beside the table's own
	Differs   string             // by how much quantized results differ from the reference's
}

// Facts lists the rows of the table, by the codes of operations and the order of types in NNAPI.
func (t *Table[L]) Facts() []Fact {
	var list []Fact
	for _, op := range nn.Operations() {
		for _, typ := range keyTypes(op) {
			r := t.at[key{op, typ}]
			f := Fact{Operation: op, Type: typ, Kind: r.Action.kind, Into: r.Action.into, To: r.Action.to, Why: r.Action.why, Differs: r.Differs}
			for _, rule := range r.Rules {
				f.Rules = append(f.Rules, rule.Text)
			}
			list = append(list, f)
		}
	}
	return list
}

// Supported lists the operations that the table supports in some type, in the order of their codes.
func (t *Table[L]) Supported() []nn.OperationType {
	var list []nn.OperationType
	for k, r := range t.at {
		if r.Action.kind != Refused {
			list = append(list, k.op)
		}
	}
	slices.SortFunc(list, cmp.Compare[nn.OperationType])
	return slices.Compact(list)
}
