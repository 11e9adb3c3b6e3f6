package tensor

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// SyntheticInput is Synthetic for input i of a subgraph. An input of indices into a table, as of GATHER and
// EMBEDDING_LOOKUP, stays within it.
func SyntheticInput(g *nn.Subgraph, i int, seed uint32) []byte {
	x := g.Inputs[i]
	data := Synthetic(&g.Operands[x], seed)
	rows := tableRows(g, x)
	if g.Operands[x].Type != nn.TensorInt32 || rows == 0 {
		return data
	}
	for at := 0; at+4 <= len(data); at += 4 {
		binary.LittleEndian.PutUint32(data[at:], binary.LittleEndian.Uint32(data[at:])%rows)
	}
	return data
}

// tableRows is the number of rows of the smallest table that operand x
// indexes; 0 when it indexes none.
func tableRows(g *nn.Subgraph, x uint32) (rows uint32) {
	flow := flowOf(g, x)
	for _, op := range g.Operations {
		if !opspec.Reads[opspec.Gather](op.Type) {
			continue
		}
		t, err := opspec.Read[opspec.Gather](opspec.ModelView(g), &op)
		if n := uint32(t.Count); err == nil && flow[t.Indices] == elements && n > 0 && (rows == 0 || n < rows) {
			rows = n
		}
	}
	return rows
}

// origin is what a tensor has of an input whose numbers are not negative.
type origin int

const (
	elsewhere origin = iota
	elements         // elements of the input
	zeros            // zeros, or false: what is added to negative indices, which count from the end
)

// flowOf follows an input through operations that move its elements, and through the composition that importers make of
// indices which may count from the end:
//
//	index + (index < 0) * rows
func flowOf(g *nn.Subgraph, x uint32) map[uint32]origin {
	flow := map[uint32]origin{x: elements}
	for _, op := range g.Operations {
		in := func(k int) origin {
			if k < len(op.Inputs) {
				return flow[op.Inputs[k]]
			}
			return elsewhere
		}
		zero := func(k int) bool { return k < len(op.Inputs) && isZero(g, op.Inputs[k]) }
		y := elsewhere
		switch op.Type {
		case nn.OpReshape, nn.OpTranspose, nn.OpExpandDims, nn.OpSqueeze, nn.OpSlice, nn.OpStridedSlice, nn.OpTile, nn.OpCast, nn.OpGather:
			y = in(0)
		case nn.OpConcatenation:
			for k := range op.Inputs {
				y = max(y, in(k)%zeros)
			}
		case nn.OpLess:
			if in(0) == elements && zero(1) {
				y = zeros
			}
		case nn.OpSelect:
			if in(0) == zeros && zero(2) {
				y = zeros
			}
		case nn.OpMul:
			if in(0) == zeros || in(1) == zeros {
				y = zeros
			}
		case nn.OpAdd:
			if a, b := in(0), in(1); a == zeros {
				y = b
			} else if b == zeros {
				y = a
			}
		}
		if len(op.Outputs) > 0 && y != elsewhere {
			flow[op.Outputs[0]] = y
		}
	}
	return flow
}

// isZero reports a constant of zeros.
func isZero(g *nn.Subgraph, x uint32) bool {
	o := &g.Operands[x]
	return o.IsConst() && !slices.ContainsFunc(o.Data, func(b byte) bool { return b != 0 })
}
