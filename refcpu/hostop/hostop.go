// Package hostop computes the operations of nn.HostExtension: operators of model files that NNAPI does not express,
// which a framework on a phone runs on the CPU between the parts that it hands to NNAPI. Their results often have as
// many elements as the values of an execution say.
//
// An operation has its operands, each of which may be omitted, and last a constant TENSOR_INT32 of attributes, whose
// meanings stand at its row:
//
//	detect.go  boxes chosen by score
//	pick.go    elements chosen by value, place or order
//	place.go   parts read from and put at places that indices name
//	shape.go   new shapes, copies and fills whose extents an execution brings
//	bits.go    bits of elements
//	math.go    functions of reals
//	resize.go  tensors resampled to sizes that an execution brings
//	pool.go    greatest elements with their places, regions of images
//	deform.go  windows whose elements are moved
//	count.go   sequences of words
//
// Table has them beside NNAPI's operations. Elements are moved as they are; tensors have at most four dimensions, a scalar
// is one of one element, as importers hold them. Inputs are hostile: memory and steps are charged to the execution's
// limits before they are spent, and a wrong value is an error.
//
// Facts: the operator documents of ONNX and TensorFlow Lite.
package hostop

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

// None is the attribute of an axis that is left out.
const None = math.MinInt32

// operator is a host operation.
type operator struct {
	op nn.OperationType
	// attributes is the number of attributes.
	attributes int
	run        func(c *call) []tensor
	// steps are the arithmetic steps for each element of the results. Where they depend on the values, the CPU model does not
	// know the time: unpriced.
	steps    int64
	unpriced bool
}

// families are the rows of all host operations.
var families = [][]operator{detectOperators, pickOperators, placeOperators, shapeOperators, bitOperators, mathOperators, resizeOperators, poolOperators, deformOperators, countOperators}

// Table has NNAPI's operations and those of the host.
var Table = sync.OnceValue(func() *refcpu.Table {
	t := refcpu.Standard()
	for _, o := range slices.Concat(families...) {
		var err error
		if t, err = t.WithOpen(opspec.HostRow(o.op, o.steps), o.prepare); err != nil {
			panic(err) // a row of this package
		}
	}
	return t
})

// Unpriced reports whether an operation is one of the host whose time the CPU model does not know: it counts its
// launch and the traffic of its tensors alone (D-2500).
func Unpriced(op nn.OperationType) bool {
	return slices.ContainsFunc(slices.Concat(families...), func(o operator) bool { return o.op == op && o.unpriced })
}

// prepare is the refcpu.Prepare of an operation.
func (o operator) prepare(v opspec.View, op *nn.Operation) (refcpu.Kernel, error) {
	p, err := opspec.Read[opspec.Host](v, op)
	if err != nil {
		return nil, err
	}
	data, err := v.Data(p.Attributes)
	if err != nil {
		return nil, fmt.Errorf("attributes: %w", err)
	}
	if len(data) != 4*max(o.attributes, 1) {
		return nil, fmt.Errorf("%v: %d bytes of attributes, want %d numbers", op.Type, len(data), max(o.attributes, 1))
	}
	attributes := make([]int, o.attributes)
	for i := range attributes {
		attributes[i] = int(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return func(x *refcpu.Run) (err error) {
		defer try.Catch(&err)
		c := &call{x: x, attributes: attributes}
		for _, i := range p.Inputs {
			c.in = append(c.in, tensorOf(x.Operand(i)))
		}
		for _, i := range p.Outputs {
			c.out = append(c.out, x.Operand(i).Type)
		}
		results := o.run(c)
		if len(results) < len(p.Outputs) {
			return fmt.Errorf("%d outputs, it has %d", len(p.Outputs), len(results))
		}
		for k, i := range p.Outputs {
			r := results[k]
			if r.kind != x.Operand(i).Type {
				return fmt.Errorf("output %d is %v, the result %v", k, x.Operand(i).Type, r.kind)
			}
			if len(r.dims) == 0 {
				r.dims = []uint32{1}
			}
			try.E(x.Set(i, refcpu.Tensor{Dimensions: r.dims, Data: r.data}))
		}
		return nil
	}, nil
}

// tensor is a value. A missing one has no type but a negative element size.
type tensor struct {
	kind    nn.OperandType
	dims    []uint32
	data    []byte
	zero    int32 // point of an 8-bit type
	scale   float32
	omitted bool
}

func tensorOf(o *nn.Operand) tensor {
	return tensor{o.Type, o.Dimensions, o.Data, o.ZeroPoint, o.Scale, o.Lifetime == nn.NoValue}
}

func (t *tensor) size() int { return t.kind.ElementBytes() }
func (t *tensor) n() int    { return len(t.data) / t.size() }

// bytes are the elements from lo to hi.
func (t *tensor) bytes(lo, hi int) []byte { return t.data[lo*t.size() : hi*t.size()] }

// number is element i as a number, of 8-bit types the real that it represents.
func (t *tensor) number(i int) float64 {
	switch t.kind {
	case nn.TensorFloat32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case nn.TensorFloat16:
		return float64(float16.Frombits(binary.LittleEndian.Uint16(t.data[2*i:])).Float32())
	case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned:
		return float64(t.scale) * float64(t.integer(i)-int64(t.zero))
	}
	return float64(t.integer(i))
}

// integer is element i of a tensor of integers, of 8-bit types the byte.
func (t *tensor) integer(i int) int64 {
	switch t.kind {
	case nn.TensorInt32:
		return int64(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
	case nn.TensorQuant8AsymmSigned:
		return int64(int8(t.data[i]))
	case nn.TensorQuant8Asymm, nn.TensorBool8:
		return int64(t.data[i])
	}
	panic(try.Failure(fmt.Errorf("integers needed, it is %v", t.kind)))
}

// put sets element i to an integer, which its type must hold.
func (t *tensor) put(i int, v int64) {
	lo, hi := int64(0), int64(math.MaxUint8)
	switch t.kind {
	case nn.TensorInt32:
		lo, hi = math.MinInt32, math.MaxInt32
	case nn.TensorQuant8AsymmSigned:
		lo, hi = math.MinInt8, math.MaxInt8
	case nn.TensorFloat32:
		binary.LittleEndian.PutUint32(t.data[4*i:], math.Float32bits(float32(v)))
		return
	}
	if v < lo || v > hi {
		fail("the result %d does not fit %v", v, t.kind)
	}
	if t.kind == nn.TensorInt32 {
		binary.LittleEndian.PutUint32(t.data[4*i:], uint32(int32(v)))
		return
	}
	t.data[i] = byte(v)
}

// putNumber sets element i to a number: rounded to the type's nearest, integers cut off.
func (t *tensor) putNumber(i int, v float64) {
	switch t.kind {
	case nn.TensorFloat32:
		binary.LittleEndian.PutUint32(t.data[4*i:], math.Float32bits(float32(v)))
	case nn.TensorFloat16:
		binary.LittleEndian.PutUint16(t.data[2*i:], float16.Fromfloat32(float32(v)).Bits())
	default:
		if !(math.Abs(v) < 1<<40) {
			fail("the result %v does not fit %v", v, t.kind)
		}
		t.put(i, int64(v))
	}
}

// call is one execution of an operation.
type call struct {
	x          *refcpu.Run
	attributes []int
	in         []tensor
	out        []nn.OperandType
}

// fail ends the execution with an error.
func fail(format string, args ...any) { try.E(fmt.Errorf(format, args...)) }

// has reports whether input k is given.
func (c *call) has(k int) bool { return k < len(c.in) && !c.in[k].omitted }

// tensor is input k, which must be given.
func (c *call) tensor(k int) *tensor {
	if !c.has(k) {
		fail("input %d is missing", k)
	}
	return &c.in[k]
}

// list is input k as integers.
func (c *call) list(k int) []int64 {
	t := c.tensor(k)
	if t.kind != nn.TensorInt32 {
		fail("input %d is %v, integers needed", k, t.kind)
	}
	try.E(c.x.Charge(int64(t.n()), 8*int64(t.n())))
	list := make([]int64, t.n())
	for i := range list {
		list[i] = t.integer(i)
	}
	return list
}

// one is input k, one integer.
func (c *call) one(k int) int64 {
	t := c.tensor(k)
	if t.n() != 1 {
		fail("input %d has %d elements, want 1", k, t.n())
	}
	return t.integer(0)
}

// real is input k, one number, or an initial value where it is omitted.
func (c *call) real(k int, initial float64) float64 {
	if !c.has(k) {
		return initial
	}
	if t := c.tensor(k); t.n() == 1 {
		return t.number(0)
	}
	fail("input %d has %d elements, want 1", k, c.tensor(k).n())
	return 0
}

// axis resolves an axis that may count from the back.
func axis(a int64, rank int) int {
	if a < 0 {
		a += int64(rank)
	}
	if a < 0 || a >= int64(rank) {
		fail("axis %d of rank %d", a, rank)
	}
	return int(a)
}

// chargeTimes charges n times so many steps, whatever their product is.
func (c *call) chargeTimes(n int, steps float64) {
	total := int64(math.MaxInt64)
	if product := float64(n) * steps; product < 1<<62 {
		total = int64(product)
	}
	try.E(c.x.Charge(total, 0))
}

// make charges and makes a tensor of zeros like another in another shape, which opspec.MaxOpenBytes bounds.
func (c *call) make(like *tensor, dims []uint32) tensor {
	inputs := int64(0)
	for i := range c.in {
		inputs += int64(len(c.in[i].data))
	}
	try.E(opspec.CheckOpenShape(like.kind, dims, inputs))
	n := nn.Elements(dims)
	try.E(c.x.Charge(n, n*int64(like.size())))
	t := *like
	t.dims, t.data = slices.Clone(dims), make([]byte, n*int64(like.size()))
	return t
}

// filled is make with an element everywhere.
func (c *call) filled(like *tensor, dims []uint32, element []byte) tensor {
	y := c.make(like, dims)
	for n := copy(y.data, element); n > 0 && n < len(y.data); n *= 2 {
		copy(y.data[n:], y.data[:n])
	}
	return y
}

// integers is a TENSOR_INT32 of a list.
func (c *call) integers(dims []uint32, list []int64) tensor {
	t := c.make(&tensor{kind: nn.TensorInt32}, dims)
	for i, v := range list {
		t.put(i, v)
	}
	return t
}

// split cuts a shape around an axis: the products of the dimensions before and behind it.
func split(dims []uint32, axis int) (outer, inner int) {
	return int(nn.Elements(dims[:axis])), int(nn.Elements(dims[axis+1:]))
}

// strides are the distances between neighbours along each dimension, in elements.
func strides(dims []uint32) []int {
	s, n := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i], n = n, n*int(dims[i])
	}
	return s
}

// each calls f with the number and the coordinates of every element of a shape, in order.
func each(dims []uint32, f func(i int, at []int)) {
	at := make([]int, len(dims))
	for i := range int(nn.Elements(dims)) {
		f(i, at)
		for d := len(dims) - 1; d >= 0; d-- {
			if at[d]++; at[d] < int(dims[d]) {
				break
			}
			at[d] = 0
		}
	}
}
