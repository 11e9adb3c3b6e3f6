package lowering

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// Unsupported is the error of a network that NNAPI cannot express: all operators that have
// no NNAPI form, in order of name and reason, and how often each occurs.
type Unsupported struct {
	Operators []UnsupportedOperator
}

// UnsupportedOperator is an operator without NNAPI form.
type UnsupportedOperator struct {
	// Name is the operator, of ONNX with its attributes: `GridSample(mode="cubic")`. An input that
	// NNAPI cannot have is listed as `input "x"`.
	Name   string
	Count  int
	Reason string
}

// Error implements error.
func (u *Unsupported) Error() string {
	list, total := make([]string, len(u.Operators)), 0
	for i, o := range u.Operators {
		total += o.Count
		list[i] = fmt.Sprintf("%s (%d): %s", o.Name, o.Count, o.Reason)
	}
	return fmt.Sprintf("NNAPI cannot express %d parts of this network: %s", total, strings.Join(list, "; "))
}

// Add notes one more operator that NNAPI has no form for.
func (u *Unsupported) Add(name, reason string) {
	at, found := slices.BinarySearchFunc(u.Operators, name+"\x00"+reason, func(o UnsupportedOperator, key string) int {
		return strings.Compare(o.Name+"\x00"+o.Reason, key)
	})
	if !found {
		u.Operators = slices.Insert(u.Operators, at, UnsupportedOperator{Name: name, Reason: reason})
	}
	u.Operators[at].Count++
}

// Refer makes a finished subgraph one of a model's, and returns the operand of g that refers to it.
func (g *Graph) Refer(m *nn.Model, sub nn.Subgraph) uint32 {
	n := len(m.Referenced)
	m.Referenced = append(m.Referenced, sub)
	return g.Add(nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: binary.LittleEndian.AppendUint32(nil, uint32(n))})
}
