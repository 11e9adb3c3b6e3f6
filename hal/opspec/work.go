package opspec

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Kernel is the family of loops that computes an operation.
type Kernel uint8

// Kernel families.
const (
	KernelElementwise Kernel = iota // no multiply-accumulates: arithmetic by element, copies, searches
	KernelConv                      // CONV_2D, GROUPED_CONV_2D, TRANSPOSE_CONV_2D
	KernelDepthwise                 // DEPTHWISE_CONV_2D
	KernelDense                     // matrix products: FULLY_CONNECTED, BATCH_MATMUL, recurrent cells
	NumKernels
)

// TensorWork is an operand that an operation reads or writes. Reading is what it
// touches of it: a GATHER reads the rows that it gathers.
type TensorWork struct {
	Bytes    int64
	Constant bool // a weight: part of the model
	Output   bool
}

// Work describes what one execution of an operation does, whoever executes it.
// Every estimate of cost reads it. IF and WHILE count their own hand-over of
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

// counter counts steps, lookups or MACs of an operation.
type counter func(v View, op *nn.Operation, w *Work) error

// workRow is how an operation's work follows from its operands.
type workRow struct {
	kernel Kernel
	// float and quant are elementwise steps per unit, by the key type.
	float, quant int64
	// per counts the units; nil is the elements of all outputs.
	per func(v View, op *nn.Operation) (int64, error)
	// also counts what is not elementwise; nil is nothing.
	also counter
	// rows: only as many bytes of the first tensor are read as are written.
	rows bool
}

// Work describes one execution of an operation. The error is ErrUnknown while a
// shape is not known.
func (v View) Work(op *nn.Operation) (Work, error) {
	if !op.Type.Valid() || !table()[op.Type].present {
		return Work{}, fmt.Errorf("%s: no such operation", op.Type)
	}
	a, err := v.Bind(op)
	if err != nil {
		return Work{}, err
	}
	r := &workRows[op.Type]
	w := Work{Kernel: r.kernel, Type: a.Key, Tensors: make([]TensorWork, 0, len(op.Inputs)+len(op.Outputs))}
	if err := w.tensors(v, op); err != nil {
		return w, fmt.Errorf("%s: %w", op.Type, err)
	}
	steps := r.float
	if quantized(a.Key) {
		steps = r.quant
	}
	units := int64(0)
	if r.per != nil {
		units, err = r.per(v, op)
	} else if steps != 0 {
		units, err = outputElements(v, op)
	}
	if err != nil {
		return w, err
	}
	if w.Steps, err = product(op, steps, units); err != nil {
		return w, err
	}
	if r.also != nil {
		if err := r.also(v, op, &w); err != nil {
			return w, err
		}
	}
	if r.rows && len(w.Tensors) > 0 {
		w.Tensors[0].Bytes = min(w.Tensors[0].Bytes, w.Written())
	}
	return w, nil
}

// MACs counts the multiply-accumulates of an operation whose inputs have known
// shapes: 0 while one is not known, -1 when they are too many to count.
func (v View) MACs(op *nn.Operation) int64 {
	if !op.Type.Valid() || workRows[op.Type].kernel == KernelElementwise {
		return 0
	}
	var w Work
	err := workRows[op.Type].also(v, op, &w)
	switch {
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
func product(op *nn.Operation, factors ...int64) (int64, error) {
	p := uint64(1)
	for _, f := range factors {
		if f < 0 {
			return 0, fmt.Errorf("%s: %w", op.Type, errTooLarge)
		}
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > 1<<56 {
			return 0, fmt.Errorf("%s: %w", op.Type, errTooLarge)
		}
		p = lo
	}
	return int64(p), nil
}

// quantized reports whether elements of the type stand for scaled integers.
func quantized(t nn.OperandType) bool {
	switch t {
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant8SymmPerChannel,
		nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		return true
	}
	return false
}

// elements is the number of elements of operand i, 0 when it is omitted.
func (v View) elements(i uint32) (int64, error) {
	if v.omitted(i) {
		return 0, nil
	}
	d, err := v.Dims(i)
	if err != nil {
		return 0, err
	}
	return nn.Elements(d), nil
}

func outputElements(v View, op *nn.Operation) (int64, error) {
	var sum int64
	for _, i := range op.Outputs {
		n, err := v.elements(i)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

func inputElements(v View, op *nn.Operation) (int64, error) { return v.elements(op.Inputs[0]) }

// macs counts the multiply-accumulates of operations that have a parser.
func macs[T any](parse func(View, *nn.Operation) (T, error), count func(*T) int64) counter {
	return func(v View, op *nn.Operation, w *Work) error {
		p, err := parse(v, op)
		if err != nil {
			return err
		}
		if w.MACs = count(&p); w.MACs < 0 {
			return fmt.Errorf("%s: %w", op.Type, errTooLarge)
		}
		return nil
	}
}

// lookups counts data-dependent accesses.
func lookups[T any](parse func(View, *nn.Operation) (T, error), count func(*T) int64) counter {
	return func(v View, op *nn.Operation, w *Work) error {
		p, err := parse(v, op)
		if err != nil {
			return err
		}
		w.Lookups = count(&p)
		return nil
	}
}

// units counts what steps are per, for operations that have a parser.
func units[T any](parse func(View, *nn.Operation) (T, error), count func(*T) []int64) func(View, *nn.Operation) (int64, error) {
	return func(v View, op *nn.Operation) (int64, error) {
		p, err := parse(v, op)
		if err != nil {
			return 0, err
		}
		return product(op, count(&p)...)
	}
}

// recurrentWork counts a recurrent operation: each element of a weight is
// multiplied once in each step of each row of the batch, each gate or unit (an
// element of a bias) goes through a function, each normalized one through a
// normalization.
func recurrentWork(function, normalization int64) counter {
	return func(v View, op *nn.Operation, w *Work) error {
		a, err := v.Bind(op)
		if err != nil {
			return err
		}
		d, err := a.Dims("input")
		if err != nil {
			return err
		}
		if len(d) == 0 {
			return a.errorf("input", "a scalar")
		}
		steps := nn.Elements(d[:len(d)-1]) // batch, and time of a sequence
		aux := a.Has("aux_input")
		for i, x := range op.Inputs {
			name := a.in[i].name
			if v.Operands[x].Type.IsScalar() || strings.Contains(name, "aux") && !aux {
				continue
			}
			n, err := v.elements(x)
			if err != nil {
				return err
			}
			amount, err := product(op, n, steps)
			if err != nil {
				return err
			}
			switch {
			case strings.HasSuffix(name, "layer_norm_weights"):
				w.Steps += amount * normalization
			case strings.Contains(name, "weights"):
				w.MACs += amount
			case strings.Contains(name, "bias"):
				w.Steps += amount * function
			}
		}
		return nil
	}
}

// suppression is an upper bound of what a non-maximum suppression does: it sorts
// the candidates and compares each with every box that was kept.
func suppression(candidates, kept string) counter {
	const iou = 12 // steps: four corners, two areas, a division
	return func(v View, op *nn.Operation, w *Work) error {
		a, err := v.Bind(op)
		if err != nil {
			return err
		}
		n, err := v.elements(a.In(candidates))
		if err != nil {
			return err
		}
		k := int64(1)
		if kept != "" {
			limit, err := a.Int32(kept)
			if err != nil {
				return err
			}
			k = max(int64(limit), 1)
			if limit < 0 {
				k = n // all
			}
		}
		k = min(k, max(n, 1))
		sort, err := product(op, n, int64(bits.Len64(uint64(n))))
		if err != nil {
			return err
		}
		compare, err := product(op, n, k, iou)
		if err != nil {
			return err
		}
		w.Steps += sort + compare
		w.Lookups += n
		return nil
	}
}
