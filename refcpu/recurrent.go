package refcpu

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// recurrentArgs reads the operands of a recurrent operation by name.
type recurrentArgs struct {
	x   *run
	a   opspec.Args
	err error
}

// matrix is a float operand with its shape.
type matrix struct {
	dims []uint32
	v    []float32
}

func (m *matrix) given() bool { return m.v != nil }

// rows and cols of a matrix of rank 2.
func (m *matrix) rows() int { return int(m.dims[0]) }
func (m *matrix) cols() int { return int(m.dims[1]) }

// bindRecurrent makes a kernel that reads its operands when it runs.
func bindRecurrent(v opspec.View, op *nn.Operation, f func(r *recurrentArgs) error) (kern, error) {
	if _, err := v.Bind(op); err != nil {
		return nil, err
	}
	return func(x *run) error {
		a, err := x.view.Bind(op)
		if err != nil {
			return err
		}
		r := &recurrentArgs{x: x, a: a}
		if err := f(r); err != nil {
			return err
		}
		return r.err
	}, nil
}

func (r *recurrentArgs) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	}
}

// get reads a float operand, empty when it is omitted. Shape gives the
// expected dimensions, -1 for any.
func (r *recurrentArgs) get(name string, shape ...int) matrix {
	i := r.a.In(name)
	if i == opspec.None || r.err != nil {
		return matrix{}
	}
	d, err := r.a.Dims(name)
	if err != nil {
		r.fail(name, "%w", err)
		return matrix{}
	}
	ok := len(d) == len(shape)
	for k := 0; ok && k < len(d); k++ {
		ok = shape[k] < 0 || int(d[k]) == shape[k]
	}
	if !ok {
		r.fail(name, "shape %v, %v needed", d, shape)
		return matrix{}
	}
	return matrix{d, r.x.floats(i, &r.x.shared)}
}

func (r *recurrentArgs) int32(name string) int32 {
	v, err := r.a.Int32(name)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

func (r *recurrentArgs) bool(name string) bool {
	v, err := r.a.BoolOr(name, false)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

func (r *recurrentArgs) float(name string) float32 {
	v, err := r.a.Float(name)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return v
}

// activation is the function of an activation code of recurrent operations.
func (r *recurrentArgs) activation(name string) func(float32) float32 {
	switch code := r.int32(name); code {
	case 0:
		return func(v float32) float32 { return v }
	case 1:
		return func(v float32) float32 { return clampF(v, 0, inf32) }
	case 2:
		return func(v float32) float32 { return clampF(v, -1, 1) }
	case 3:
		return func(v float32) float32 { return clampF(v, 0, 6) }
	case 4:
		return tanh
	case 6:
		return sigmoid
	default:
		r.fail(name, "code %d", code)
		return tanh
	}
}

func tanh(v float32) float32    { return float32(math.Tanh(float64(v))) }
func sigmoid(v float32) float32 { return float32(1 / (1 + exp(-float64(v)))) }

// spend charges steps of work.
func (r *recurrentArgs) spend(factors ...int) {
	n := int64(1)
	for _, f := range factors {
		if n *= int64(max(f, 1)); n > r.x.left.work {
			if r.err == nil {
				r.err = fmt.Errorf("%d steps: %w", n, errLimit)
			}
			return
		}
	}
	r.x.left.work -= n
}

// multiply adds w times x to dst for a batch: dst[b][u] += sum w[u][i] x[b][i].
func multiply(dst []float32, w matrix, x []float32, batch int) {
	units, n := w.rows(), w.cols()
	for b := range batch {
		in := x[b*n : (b+1)*n]
		for u := range units {
			sum := float32(0)
			for i, v := range w.v[u*n : (u+1)*n] {
				sum += float32(v * in[i])
			}
			dst[b*units+u] += sum
		}
	}
}

// sequence is how the steps of an input [T, B, I] or [B, T, I] lie in memory.
type sequence struct {
	steps, batch, size int
	timeMajor          bool
}

func newSequence(m matrix, timeMajor bool) sequence {
	s := sequence{int(m.dims[1]), int(m.dims[0]), int(m.dims[2]), timeMajor}
	if timeMajor {
		s.steps, s.batch = s.batch, s.steps
	}
	return s
}

// load copies step t of a batch into dst [B][size].
func (s sequence) load(dst, src []float32, t int) {
	for b := range s.batch {
		copy(dst[b*s.size:(b+1)*s.size], src[s.at(b, t)*s.size:])
	}
}

// store copies [B][n] into step t of dst with rows of width values, from offset on.
func (s sequence) store(dst, src []float32, t, n, width, offset int) {
	for b := range s.batch {
		copy(dst[s.at(b, t)*width+offset:], src[b*n:(b+1)*n])
	}
}

func (s sequence) at(b, t int) int {
	if s.timeMajor {
		return t*s.batch + b
	}
	return b*s.steps + t
}

// dims is the shape of a sequence of rows of n values.
func (s sequence) dims(n int) []uint32 {
	if s.timeMajor {
		return []uint32{uint32(s.steps), uint32(s.batch), uint32(n)}
	}
	return []uint32{uint32(s.batch), uint32(s.steps), uint32(n)}
}

// give sets shapes of the outputs that the operation has, in order.
func (r *recurrentArgs) give(dims ...[]uint32) error {
	if len(dims) < len(r.a.Op.Outputs) {
		return errors.New("too many outputs")
	}
	return r.x.give(r.a.Op, dims[:len(r.a.Op.Outputs)]...)
}

// put writes output i, if the operation has it.
func (r *recurrentArgs) put(i int, v []float32) {
	if i < len(r.a.Op.Outputs) {
		r.x.setReals(r.a.Op.Outputs[i], v)
	}
}
