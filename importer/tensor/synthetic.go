package tensor

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// SyntheticInput is Synthetic for input i of a subgraph. An input of indices
// into a table, as GATHER and EMBEDDING_LOOKUP take them, stays within it.
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
	for _, op := range g.Operations {
		n := uint32(0)
		switch {
		case op.Type == nn.OpGather && len(op.Inputs) == 3 && op.Inputs[2] == x:
			table, axis := g.Operands[op.Inputs[0]].Dimensions, g.Operands[op.Inputs[1]].Data
			if len(axis) != 4 {
				continue
			}
			a := int(int32(binary.LittleEndian.Uint32(axis)))
			if a < 0 {
				a += len(table)
			}
			if a >= 0 && a < len(table) {
				n = table[a]
			}
		case op.Type == nn.OpEmbeddingLookup && len(op.Inputs) == 2 && op.Inputs[0] == x:
			if table := g.Operands[op.Inputs[1]].Dimensions; len(table) > 0 {
				n = table[0]
			}
		}
		if n > 0 && (rows == 0 || n < rows) {
			rows = n
		}
	}
	return rows
}
