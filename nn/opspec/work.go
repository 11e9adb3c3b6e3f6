package opspec

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// Kernel is the family of loops that computes an operation.
type Kernel uint8

// Kernel families.
const (
	KernelNone      Kernel = iota // no multiply-accumulates: arithmetic by element, copies, searches
	KernelConv                    // CONV_2D, TRANSPOSE_CONV_2D
	KernelDepthwise               // DEPTHWISE_CONV_2D
	KernelDense                   // matrix products: FULLY_CONNECTED, BATCH_MATMUL, recurrent cells
	KernelGrouped                 // GROUPED_CONV_2D

	NumKernels = KernelGrouped // whose loops use vectors
)

// TensorWork is an operand that an operation reads or writes. Reading is what it
// touches of it: a GATHER reads the rows that it gathers.
type TensorWork struct {
	Bytes    int64
	Constant bool // a weight: part of the model
	Output   bool
}

// Product is a CONV_2D, DEPTHWISE_CONV_2D or GROUPED_CONV_2D as products of matrices: for each group one of Rows by
// Taps * Inputs with Taps * Inputs by Outputs. All are 0 of other operations.
type Product struct {
	Groups, Rows    int64 // Rows are the positions of all outputs
	Taps            int64 // of a window
	Inputs, Outputs int64 // channels of a group
	Steps           int64 // elementwise steps of its results: bias, requantization
}

// Work is the work of one execution of an operation, independent of the device.
// Every estimate of cost reads it. IF and WHILE count their own transfer of
// values, not the subgraphs that they call.
type Work struct {
	Kernel Kernel
	// Type is the key type, in which the arithmetic is done.
	Type nn.OperandType
	// MACs are the multiply-accumulates as the operation defines them, padding
	// included, without waste of any implementation.
	MACs int64
	// Steps are elementwise steps: one arithmetic instruction on one element of
	// Type, loads, stores and MACs apart.
	Steps int64
	// Patches are bytes of windows of the input (of the output of a transposed convolution)
	// that are copied side by side for a product of matrices. A window of one pixel, read
	// without stride, needs no copy.
	Patches int64
	// Product is the product of matrices that a convolution is.
	Product Product
	// Scalars are elements that libraries handle one at a time, where others are handled
	// by vectors.
	Scalars int64
	// Lookups are accesses to addresses that depend on data, one after another.
	Lookups int64
	Tensors []TensorWork
}

// Read is the bytes of activations that the operation reads.
func (w *Work) Read() int64 {
	return w.sum(func(t *TensorWork) bool { return !t.Constant && !t.Output })
}

// Weights is the bytes of constants that the operation reads.
func (w *Work) Weights() int64 { return w.sum(func(t *TensorWork) bool { return t.Constant }) }

// Written is the bytes that the operation writes.
func (w *Work) Written() int64 { return w.sum(func(t *TensorWork) bool { return t.Output }) }

func (w *Work) sum(f func(*TensorWork) bool) int64 {
	var n int64
	for i := range w.Tensors {
		if f(&w.Tensors[i]) {
			n += w.Tensors[i].Bytes
		}
	}
	return n
}

// WorkRule is how an operation's work follows from its operands. Its functions end with the first error: see package try.
type WorkRule struct {
	Kernel Kernel
	// Float and Quant are elementwise steps per unit, by the key type.
	Float, Quant int64
	// Per counts the units; nil is the elements of all outputs.
	Per func(*Args) int64
	// Also counts MACs, lookups and what steps are not elementwise; nil is none.
	Also func(*Args, *Work)
	// Rows: only as many bytes of the first tensor are read as are written.
	Rows bool
}

// Work describes one execution of an operation. The error is ErrUnknown while a
// shape is not known.
func (v View) Work(op *nn.Operation) (w Work, err error) {
	defer try.Catch(&err)
	a := try.V(v.Bind(op))
	r := &a.Row.Work
	w = Work{Kernel: r.Kernel, Type: a.Key, Tensors: make([]TensorWork, 0, len(op.Inputs)+len(op.Outputs))}
	if err := w.tensors(v, op); err != nil {
		return w, fmt.Errorf("%s: %w", op.Type, err)
	}
	steps := r.Float
	if isQuantized(a.Key) {
		steps = r.Quant
	}
	units := int64(0)
	if r.Per != nil {
		units = r.Per(&a)
	} else if steps != 0 {
		units = outputElements(&a)
	}
	w.Steps = product(op, steps, units)
	if r.Also != nil {
		r.Also(&a, &w)
	}
	if r.Rows && len(w.Tensors) > 0 {
		w.Tensors[0].Bytes = min(w.Tensors[0].Bytes, w.Written())
	}
	return w, nil
}

// MACs counts the multiply-accumulates of an operation whose inputs have known
// shapes: 0 while one is not known, -1 when they are too many to count.
func (v View) MACs(op *nn.Operation) int64 {
	row := v.Table.Lookup(op.Type)
	if row == nil || row.Work.Kernel == KernelNone {
		return 0
	}
	var w Work
	count := func() (err error) {
		defer try.Catch(&err)
		a := try.V(v.Bind(op))
		row.Work.Also(&a, &w)
		return nil
	}
	switch err := count(); {
	case errors.Is(err, errTooLarge):
		return -1
	case err != nil:
		return 0
	}
	return w.MACs
}

// tensors lists what the operation reads and writes. An omitted operand is
// neither.
func (w *Work) tensors(v View, op *nn.Operation) error {
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, i := range list {
			o := &v.Operands[i]
			if o.Type == nn.SubgraphRef || k == 0 && (o.Type.IsScalar() || v.omitted(i)) {
				continue
			}
			if o.Type.IsScalar() {
				w.Tensors = append(w.Tensors, TensorWork{Bytes: int64(o.Type.ElementBytes()), Output: true})
				continue
			}
			if _, err := v.Dims(i); err != nil {
				return err
			}
			w.Tensors = append(w.Tensors, TensorWork{Bytes: o.Bytes(), Constant: k == 0 && o.IsConst(), Output: k == 1})
		}
	}
	return nil
}

// errTooLarge marks counts that leave int64.
var errTooLarge = errors.New("the work of one execution is too large to count")

// product multiplies counts that are not negative; one that leaves int64 is an
// error.
func product(op *nn.Operation, factors ...int64) int64 {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if f < 0 || hi != 0 || lo > 1<<56 {
			try.E(fmt.Errorf("%s: %w", op.Type, errTooLarge))
		}
		p = lo
	}
	return int64(p)
}

// isQuantized reports whether elements of the type stand for scaled integers.
func isQuantized(t nn.OperandType) bool {
	switch t {
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant8SymmPerChannel,
		nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		return true
	}
	return t.IsCode()
}

func outputElements(a *Args) (sum int64) {
	for _, i := range a.Op.Outputs {
		sum += try.V(a.View.elements(i))
	}
	return sum
}

// inputElements counts the elements of the first input.
func inputElements(a *Args) int64 { return try.V(a.View.elements(a.Op.Inputs[0])) }

// macs counts the multiply-accumulates of operations that have a parser.
func macs[T any](read func(*Args) (T, error), count func(*T) int64) func(*Args, *Work) {
	return func(a *Args, w *Work) {
		p := try.V(read(a))
		w.products(a, count(&p))
	}
}

// products sets the multiply-accumulates, of which there may be too many to count.
func (w *Work) products(a *Args, macs int64) {
	if w.MACs = macs; macs < 0 {
		try.E(fmt.Errorf("%s: %w", a.Op.Type, errTooLarge))
	}
}

// patched counts multiply-accumulates and the elements of patches.
func patched[T any](read func(*Args) (T, error), count, patches func(*T) int64) func(*Args, *Work) {
	products := macs(read, count)
	return func(a *Args, w *Work) {
		products(a, w)
		p := try.V(read(a))
		w.Patches = product(a.Op, patches(&p), int64(a.Key.ElementBytes()))
	}
}

// lookups counts data-dependent accesses.
func lookups[T any](read func(*Args) (T, error), count func(*T) int64) func(*Args, *Work) {
	return func(a *Args, w *Work) {
		p := try.V(read(a))
		w.Lookups = count(&p)
	}
}

// units counts what steps are per, for operations that have a parser.
func units[T any](read func(*Args) (T, error), count func(*T) []int64) func(*Args) int64 {
	return func(a *Args) int64 {
		p := try.V(read(a))
		return product(a.Op, count(&p)...)
	}
}

func n64(n ...int) []int64 {
	out := make([]int64, len(n))
	for i, x := range n {
		out[i] = int64(x)
	}
	return out
}

// Steps per element of the functions that many operations share, assumed from
// the instruction counts of plain NEON loops (D-310). A quantized step is one
// 8-bit lane: requantizing in 32 bits needs four instructions on four times the
// register width.
const (
	stepsDivide  = 7  // FDIV: one per 7 cycles of a pipe (LLVM's Neoverse N1 model)
	stepsExp     = 20 // range reduction and polynomial
	stepsPow     = 72 // logarithm, product, exponential
	stepsSoftmax = 48 // 12.4 cycles per value measured on a Cortex-A76, 4 step cycles per 16
	stepsPool    = 6  // per element of a window
	stepsAdd     = 48 // two inputs to one scale, sum to another: three doubling multiplies, each 2 cycles per 4 values
	stepsStore   = 2  // bias and clamp
	stepsRequant = 16 // offset, shift, doubling multiply, rounding shift, narrow, clamp
	stepsSigmoid = 24 // exponential and division
)

// scalarsRescale is the cost of requantizing an 8-bit element in scalar elements: measured as
// twice that of a PAD in TensorFlow Lite 2.10.
const scalarsRescale = 2

// Rules that many operations share.
var (
	same  = WorkRule{Float: 1, Quant: 1} // a copy: one step per element written
	moved = WorkRule{Float: 2, Quant: 2} // another order of the elements
)

// MACs counts the multiply-accumulates of a model as its operations define
// them: no padding waste, no elementwise work. Subgraphs that IF and WHILE call
// are not part of it; how often they run is in the result of an execution.
func MACs(m *nn.Model) int64 {
	var total int64
	for i := range m.Main.Operations {
		total += OperationMACs(&m.Main, i)
	}
	return total
}

// OperationMACs counts one operation's; 0 when a shape is unknown.
func OperationMACs(g *nn.Subgraph, i int) int64 {
	return max(ModelView(g).MACs(&g.Operations[i]), 0)
}
