package nnapi

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
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

// trailing are the defaults of trailing arguments that AOSP's runtime takes
// away, so that drivers before HAL 1.2 understand the operation: from is the
// index of the first, values are theirs.
var trailing = map[nn.OperationType][]struct {
	from   int
	values []int64
}{
	nn.OpAveragePool2D: {{10, []int64{0}}, {7, []int64{0}}}, nn.OpMaxPool2D: {{10, []int64{0}}, {7, []int64{0}}}, nn.OpL2Pool2D: {{10, []int64{0}}, {7, []int64{0}}},
	nn.OpConv2D:          {{10, []int64{0, 1, 1}}, {7, []int64{0, 1, 1}}},
	nn.OpDepthwiseConv2D: {{11, []int64{0, 1, 1}}, {8, []int64{0, 1, 1}}},
	nn.OpDepthToSpace:    {{2, []int64{0}}}, nn.OpSpaceToDepth: {{2, []int64{0}}}, nn.OpBatchToSpaceNd: {{2, []int64{0}}}, nn.OpSpaceToBatchNd: {{3, []int64{0}}},
	nn.OpL2Normalization: {{1, []int64{-1}}}, nn.OpLocalResponseNormalization: {{5, []int64{-1}}}, nn.OpSoftmax: {{2, []int64{-1}}},
	nn.OpResizeBilinear: {{3, []int64{0, 0, 0}}}, nn.OpResizeNearestNeighbor: {{4, []int64{0, 0}}},
}

// removeDefaults takes trailing arguments away that have their default, as many
// as possible; dilations go in pairs.
func removeDefaults(g *nn.Subgraph) {
	for i := range g.Operations {
		op := &g.Operations[i]
		for _, d := range trailing[op.Type] {
			if removeFrom(g, op, d.from, d.values) {
				break
			}
		}
	}
}

func removeFrom(g *nn.Subgraph, op *nn.Operation, from int, values []int64) bool {
	n := len(op.Inputs)
	if n <= from || n > from+len(values) || g.Operands[op.Inputs[from]].Type == nn.Int32 && values[0] == 0 {
		return false // fewer, more, or the other form of the operation
	}
	keep := n
	for keep > from && isValue(&g.Operands[op.Inputs[keep-1]], values[keep-1-from]) {
		keep--
	}
	if len(values) == 3 && values[1] == 1 && keep == from+2 {
		keep++ // one dilation does not go alone
	}
	op.Inputs = op.Inputs[:keep:keep]
	return keep < n
}

// isValue reports whether a scalar constant has a value.
func isValue(o *nn.Operand, want int64) bool {
	if !o.IsConst() {
		return false
	}
	switch o.Type {
	case nn.Bool:
		return int64(o.Data[0]) == want
	case nn.Int32:
		return int64(int32(uint32(o.Data[0])|uint32(o.Data[1])<<8|uint32(o.Data[2])<<16|uint32(o.Data[3])<<24)) == want
	}
	return false
}
