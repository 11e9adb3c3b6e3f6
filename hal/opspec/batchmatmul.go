package opspec

import (
	"github.com/nnsoc/nnsoc/hal/nn"
)

// BatchMatmul is a BATCH_MATMUL: for each of Batch, a matrix of Rows by Depth
// times one of Depth by Cols. A matrix with Adj is stored transposed.
type BatchMatmul struct {
	A, B, Output             uint32 // operand indexes
	Type                     nn.OperandType
	Dims                     []uint32
	Batch, Rows, Depth, Cols int
	AdjA, AdjB               bool
}

// BatchMatmul reads a BATCH_MATMUL.
func (v View) BatchMatmul(op *nn.Operation) (BatchMatmul, error) {
	a, err := v.bindAs(op, nn.OpBatchMatmul)
	if err != nil {
		return BatchMatmul{}, err
	}
	m := BatchMatmul{A: a.In("lhs"), B: a.In("rhs"), Output: op.Outputs[0], Type: a.Key}
	x, err := a.Dims("lhs")
	if err != nil {
		return m, err
	}
	y, err := a.Dims("rhs")
	if err != nil {
		return m, err
	}
	if m.AdjA, err = a.BoolOr("adj_x", false); err != nil {
		return m, err
	}
	if m.AdjB, err = a.BoolOr("adj_y", false); err != nil {
		return m, err
	}
	if len(x) < 2 || len(x) > 4 {
		return m, a.errorf("lhs", "rank %d, 2 to 4 needed", len(x))
	}
	at := len(x) - 2
	if len(y) != len(x) || !sameDims(x[:at], y[:at]) {
		return m, a.errorf("rhs", "shape %v, %v needs the same batches", y, x)
	}
	rows, depth := x[at], x[at+1]
	if m.AdjA {
		rows, depth = depth, rows
	}
	inner, cols := y[at], y[at+1]
	if m.AdjB {
		inner, cols = cols, inner
	}
	if inner != depth || rows == 0 || depth == 0 || cols == 0 {
		return m, a.errorf("rhs", "a matrix of %d by %d cannot follow one of %d by %d", inner, cols, rows, depth)
	}
	m.Batch, m.Rows, m.Depth, m.Cols = int(nn.Elements(x[:at])), int(rows), int(depth), int(cols)
	m.Dims = append(append([]uint32{}, x[:at]...), rows, cols)
	return m, nil
}

// MACs counts the multiply-accumulates.
func (m *BatchMatmul) MACs() int64 {
	return int64(m.Batch) * int64(m.Rows) * int64(m.Cols) * int64(m.Depth)
}

// Quant returns the arithmetic of a quantized BATCH_MATMUL; the second matrix
// takes the filter's place, and there is no bias.
func (m *BatchMatmul) Quant(v View) (GEMMQuant, error) {
	_, _, so, err := v.scales(m.A, m.B, m.Output)
	if err != nil {
		return GEMMQuant{}, err
	}
	a, b, o := &v.Operands[m.A], &v.Operands[m.B], &v.Operands[m.Output]
	q := GEMMQuant{InZero: a.ZeroPoint, FilterZero: b.ZeroPoint, OutZero: o.ZeroPoint}
	q.Mult = []Multiplier{QuantizeMultiplier(float64(a.Scale*b.Scale) / so)}
	q.Lo, q.Hi = QuantLimits(o.Type)
	return q, nil
}
