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
	if g.whole(a) && g.whole(b) {
		return g.wholeProduct(a, b, transposeA, transposeB, batch)
	}
	flat := batch
	if len(batch) > 2 {
		flat = []uint32{uint32(nn.Elements(batch))}
	}
	a = g.Reshape(g.BroadcastTo(a, append(slices.Clone(batch), da[len(da)-2:]...)), append(slices.Clone(flat), da[len(da)-2:]...))
	b = g.Reshape(g.BroadcastTo(b, append(slices.Clone(batch), db[len(db)-2:]...)), append(slices.Clone(flat), db[len(db)-2:]...))
	return g.Reshape(g.Emit(nn.OpBatchMatmul, out, a, b, g.BoolScalar(transposeA), g.BoolScalar(transposeB)), shape)
}

// whole reports whether x has integers, and none that stand for reals.
func (g *Graph) whole(x uint32) bool {
	o := g.Operand(x)
	return o.Type == nn.TensorInt32 && o.Scale == 0
}

// maxTerms bounds the products of elements that a product of integers has side by side.
const maxTerms = 1 << 22

// wholeProduct is a product of matrices of integers, exact modulo 2^32. NNAPI's products are of reals, which hold integers
// up to 2^24; here elements meet in [batch, m, k, n], of which the sum along k remains.
func (g *Graph) wholeProduct(a, b uint32, transposeA, transposeB bool, batch []uint32) uint32 {
	matrices := func(x uint32, transposed bool) uint32 {
		d := g.Dims(x)
		x = g.BroadcastTo(x, slices.Concat(batch, d[len(d)-2:]))
		x = g.Reshape(x, []uint32{uint32(nn.Elements(batch)), d[len(d)-2], d[len(d)-1]})
		if transposed {
			x = g.Transpose(x, 0, 2, 1)
		}
		return x
	}
	a, b = matrices(a, transposeA), matrices(b, transposeB)
	da, db := g.Dims(a), g.Dims(b)
	count, m, k, n := da[0], da[1], da[2], db[2]
	if db[1] != k {
		g.Failf("products of shapes %v and %v", da, db)
	}
	if terms := nn.Elements([]uint32{count, m, k, n}); terms < 0 || terms > maxTerms {
		g.Refusef("a product of integers of %d x %d x %d elements in %d batches, at most %d in all; products of reals have no limit", m, k, n, count, maxTerms)
	}
	integer := nn.Operand{Type: nn.TensorInt32}
	terms := g.Binary(nn.OpMul, g.Reshape(a, []uint32{count, m, k, 1}), g.Reshape(b, []uint32{count, 1, k, n}))
	return g.Reshape(g.Reduce(nn.OpReduceSum, integer, terms, []int64{2}, false), slices.Concat(batch, []uint32{m, n}))
}
