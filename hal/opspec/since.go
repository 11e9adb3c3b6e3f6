package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// TypeSince is the HAL version that allows the key type t; ok is false when
// none does.
func (r *Row) TypeSince(t nn.OperandType) (v Version, ok bool) {
	v, ok = table()[r.Op].keySince(t)
	return max(v, r.Since), ok
}

// KeyOf is the key type of an operation as written; ok is false when the
// operation does not match its row.
func KeyOf(g *nn.Subgraph, op *nn.Operation) (t nn.OperandType, ok bool) {
	a, err := ModelView(g).Bind(op)
	return a.Key, err == nil
}
