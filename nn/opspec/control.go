package opspec

import "github.com/nnsoc/nnsoc/nn"

// controlRows call subgraphs. Their work is the hand-over of values; what they call is
// counted as it executes.
var controlRows = []Row{
	{Op: nn.OpIf, Since: V13, Types: "B8@1.3", Args: ifArgs, Work: same, Forms: []Form{
		{V13, "condition:B8 then:subgraph else:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
	{Op: nn.OpWhile, Since: V13, Types: "subgraph@1.3", Args: whileArgs, Work: same, Forms: []Form{
		{V13, "condition:subgraph body:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
}

var (
	ifArgs    = Arguments[If]{Read: readIf}
	whileArgs = Arguments[While]{Read: readWhile}
)

// If is an IF: one of two subgraphs runs on the inputs.
type If struct {
	Condition, Then, Else uint32 // operand indexes
	Inputs, Outputs       []uint32
}

func readIf(a *Args) (If, error) {
	return If{a.In("condition"), a.In("then"), a.In("else"), a.Variadic(), a.Op.Outputs}, nil
}

// While is a WHILE: while the subgraph Condition is true for a state, Body computes the next
// one. The inputs are the first state, the outputs the last.
type While struct {
	Condition, Body uint32 // operand indexes
	Inputs, Outputs []uint32
}

func readWhile(a *Args) (While, error) {
	return While{a.In("condition"), a.In("body"), a.Variadic(), a.Op.Outputs}, nil
}
