package nnapi

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
)

// sorted is an order in which every operation follows those that write what it
// reads: a stack of operations that are ready, as AOSP's runtime has it. A cycle
// or an operand that nothing writes is an error.
func sorted(g *nn.Subgraph) ([]int, error) {
	missing := make([]int, len(g.Operations))
	readers := make([][]int, len(g.Operands))
	writer := make([]int, len(g.Operands)) // 1 + operation
	for i := range g.Operations {
		for _, x := range g.Operations[i].Outputs {
			if l := g.Operands[x].Lifetime; l != nn.TemporaryVariable && l != nn.SubgraphOutput {
				return nil, fmt.Errorf("operation %d writes operand %d, which is %v", i, x, l)
			}
			if writer[x] != 0 {
				return nil, fmt.Errorf("operations %d and %d write operand %d", writer[x]-1, i, x)
			}
			writer[x] = i + 1
		}
	}
	var ready []int
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			if l := g.Operands[x].Lifetime; l == nn.TemporaryVariable || l == nn.SubgraphOutput {
				if writer[x] == 0 {
					return nil, fmt.Errorf("operation %d reads operand %d, which nothing writes", i, x)
				}
				missing[i]++
				readers[x] = append(readers[x], i)
			}
		}
		if missing[i] == 0 {
			ready = append(ready, i)
		}
	}
	for i := range g.Operands {
		if g.Operands[i].Lifetime == nn.TemporaryVariable && writer[i] == 0 {
			return nil, fmt.Errorf("nothing writes operand %d, which is no input and no constant", i)
		}
	}
	order := make([]int, 0, len(g.Operations))
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order = append(order, i)
		for _, x := range g.Operations[i].Outputs {
			for _, r := range readers[x] {
				if missing[r]--; missing[r] == 0 {
					ready = append(ready, r)
				}
			}
		}
	}
	if len(order) < len(g.Operations) {
		return nil, fmt.Errorf("%d of %d operations wait for each other", len(g.Operations)-len(order), len(g.Operations))
	}
	return order, nil
}
