package tensor

import (
	"encoding/binary"

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
	for _, op := range g.Operations {
		if !opspec.Reads[opspec.Gather](op.Type) {
			continue
		}
		t, err := opspec.Read[opspec.Gather](opspec.ModelView(g), &op)
		if n := uint32(t.Count); err == nil && t.Indices == x && n > 0 && (rows == 0 || n < rows) {
			rows = n
		}
	}
	return rows
}
