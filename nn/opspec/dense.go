package opspec

import (
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// denseRows are the matrix products.
var denseRows = []Row{
	{Op: nn.OpFullyConnected, Since: V10, Types: floatQuant10, Args: fullyConnectedArgs, Until12: productScaleUntil12,
		Quant: fits(readFullyConnected, (*FullyConnected).Quant), Sums: sums(readFullyConnected, (*FullyConnected).sums),
		Work: WorkRule{Kernel: KernelDense, Float: stepsStore, Quant: stepsRequant, Also: macs(readFullyConnected, (*FullyConnected).MACs)},
		Forms: []Form{
			{V10, "input:T weights:T bias:B activation:int32", "output:T"},
		}},
	{Op: nn.OpBatchMatmul, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8S@FL6", MaxRank: 4, Args: batchMatmulArgs,
		Quant: fits(readBatchMatmul, (*BatchMatmul).Quant),
		Work:  WorkRule{Kernel: KernelDense, Float: stepsStore, Quant: stepsRequant, Also: macs(readBatchMatmul, (*BatchMatmul).MACs)},
		Forms: []Form{
			{FL6, "lhs:T rhs:T adj_x:bool adj_y:bool", "output:T"},
		}},
}

var (
	fullyConnectedArgs = Arguments[FullyConnected]{Read: readFullyConnected, Shapes: one((*FullyConnected).OutputDims)}
	batchMatmulArgs    = Arguments[BatchMatmul]{Read: readBatchMatmul, Shapes: one(func(m *BatchMatmul) []uint32 { return m.Dims })}
)

// FullyConnected is a FULLY_CONNECTED. The input is taken as [Batch, Depth],
// the weights are [Units, Depth].
type FullyConnected struct {
	Input, Weights, Bias, Output uint32 // operand indexes
	Type                         nn.OperandType
	Batch, Depth, Units          int
	Act                          nn.FusedActivation
}

func readFullyConnected(a *Args) (FullyConnected, error) {
	f := FullyConnected{Input: a.In("input"), Weights: a.In("weights"), Bias: a.In("bias"), Output: a.Op.Outputs[0], Type: a.Key}
	in := try.V(a.Dims("input"))
	w := try.V(a.Dims("weights"))
	b := try.V(a.Dims("bias"))
	if len(in) < 2 || len(in) > 4 {
		return f, a.errorf("input", "rank %d, 2 to 4 needed", len(in))
	}
	if len(w) != 2 || w[0] == 0 || w[1] == 0 {
		return f, a.errorf("weights", "shape %v, [units, depth] needed", w)
	}
	f.Units, f.Depth = int(w[0]), int(w[1])
	n := nn.Elements(in)
	if n%int64(f.Depth) != 0 {
		return f, a.errorf("input", "shape %v is no multiple of the depth %d", in, f.Depth)
	}
	f.Batch = int(n / int64(f.Depth))
	if len(b) != 1 || int(b[0]) != f.Units {
		return f, a.errorf("bias", "shape %v, [%d] needed", b, f.Units)
	}
	f.Act = try.V(a.activation())
	return f, nil
}

// OutputDims is the shape of the result.
func (f *FullyConnected) OutputDims() []uint32 { return []uint32{uint32(f.Batch), uint32(f.Units)} }

// MACs counts the multiply-accumulates.
func (f *FullyConnected) MACs() int64 { return int64(f.Batch) * int64(f.Units) * int64(f.Depth) }

// Quant returns the requantization of a quantized operation.
func (f *FullyConnected) Quant(v View) (GEMMQuant, error) {
	return v.gemmQuant(f.Input, f.Weights, f.Bias, f.Output, f.Act, f.Units, 0)
}

// sums says what a quantized operation adds up in 32 bits.
func (f *FullyConnected) sums(v View) (Sums, error) {
	q, err := f.Quant(v)
	return Sums{f.Input, f.Weights, f.Bias, f.Units, f.Depth, q}, err
}

// BatchMatmul is a BATCH_MATMUL: for each of Batch, a matrix of Rows by Depth
// times one of Depth by Cols. A matrix with Adj is stored transposed.
type BatchMatmul struct {
	A, B, Output             uint32 // operand indexes
	Type                     nn.OperandType
	Dims                     []uint32
	Batch, Rows, Depth, Cols int
	AdjA, AdjB               bool
}

func readBatchMatmul(a *Args) (BatchMatmul, error) {
	m := BatchMatmul{A: a.In("lhs"), B: a.In("rhs"), Output: a.Op.Outputs[0], Type: a.Key}
	x := try.V(a.Dims("lhs"))
	y := try.V(a.Dims("rhs"))
	m.AdjA = try.V(a.Bool("adj_x"))
	m.AdjB = try.V(a.Bool("adj_y"))
	if len(x) < 2 || len(x) > 4 {
		return m, a.errorf("lhs", "rank %d, 2 to 4 needed", len(x))
	}
	at := len(x) - 2
	if len(y) != len(x) || !slices.Equal(x[:at], y[:at]) {
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
	q.Mult = []fixedpoint.Multiplier{fixedpoint.QuantizeMultiplier(float64(a.Scale*b.Scale) / so)}
	q.Lo, q.Hi = QuantLimits(o.Type)
	return q, nil
}
