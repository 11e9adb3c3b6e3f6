package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// controlRows call subgraphs. Their work is the hand-over of values; what they call is
// counted as it executes.
var controlRows = []Row{
	{Op: nn.OpIf, Since: V13, Types: "B8@1.3", Work: same, Forms: []Form{
		{V13, "condition:B8 then:subgraph else:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
	{Op: nn.OpWhile, Since: V13, Types: "subgraph@1.3", Work: same, Forms: []Form{
		{V13, "condition:subgraph body:subgraph inputs:ANY...", "outputs:ANY..."},
	}},
}
