package lowering

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// BatchMatmul is the product of matrices [.., m, k] and [.., k, n], each possibly transposed. Batches are broadcast;
// NNAPI requires equal ones.
func (g *Graph) BatchMatmul(out nn.Operand, a, b uint32, transposeA, transposeB bool) uint32 {
	da, db := g.Dims(a), g.Dims(b)
	if len(da) < 2 || len(db) < 2 {
		g.Failf("shapes %v and %v", da, db)
	}
	batch := g.Broadcast(da[:len(da)-2], db[:len(db)-2])
	rows, cols := da[len(da)-2], db[len(db)-1]
	if transposeA {
		rows = da[len(da)-1]
	}
	if transposeB {
		cols = db[len(db)-2]
	}
	shape := append(slices.Clone(batch), rows, cols)
	flat := batch
	if len(batch) > 2 {
		flat = []uint32{uint32(nn.Elements(batch))}
	}
	a = g.Reshape(g.BroadcastTo(a, append(slices.Clone(batch), da[len(da)-2:]...)), append(slices.Clone(flat), da[len(da)-2:]...))
	b = g.Reshape(g.BroadcastTo(b, append(slices.Clone(batch), db[len(db)-2:]...)), append(slices.Clone(flat), db[len(db)-2:]...))
	return g.Reshape(g.Emit(nn.OpBatchMatmul, out, a, b, g.BoolScalar(transposeA), g.BoolScalar(transposeB)), shape)
}
