package gpu

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// flat is an elementwise kernel: every lane computes one or four consecutive
// elements of the output from the elements of the inputs at the same place, or
// at the place that broadcasting gives.
type flat struct {
	name    string
	dims    []int   // of the output
	strides [][]int // per input, in elements; nil: the same shape
	in      []*tensor
	out     *tensor
	f       func(a *asm, x []codegen.Reg) codegen.Reg // float32, or as stored for 8-bit types
}

const flatGroup = 64 // lanes of a work-group

func (l *lowering) flat(k *flat) {
	l.add(k.in, []*tensor{k.out}, k.emit)
}

// axis is a dimension of an index space with a stride per operand.
type axis struct {
	n       int
	strides []int
}

// collapse merges dimensions that are contiguous in every operand and drops
// those of one element.
func collapse(dims []int, strides [][]int) []axis {
	var out []axis
	for i, n := range dims {
		if n == 1 {
			continue
		}
		x := axis{n: n}
		for _, s := range strides {
			x.strides = append(x.strides, s[i])
		}
		if len(out) > 0 {
			last := &out[len(out)-1]
			merge := true
			for j, s := range x.strides {
				merge = merge && last.strides[j] == s*n
			}
			if merge {
				last.n *= n
				last.strides = x.strides
				continue
			}
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		out = []axis{{1, make([]int, len(strides))}}
	}
	return out
}

// offsets turns an index into the space of axes into one byte offset per
// operand; shift is the log2 of an element's bytes of each. Along an axis with a
// negative stride offsets count from its last index, which has offset 0.
func (a *asm) offsets(index codegen.Reg, axes []axis, shift []int) []codegen.Reg {
	out := make([]codegen.Reg, len(shift))
	add := func(j int, c codegen.Reg, stride int) {
		bytes := stride << shift[j]
		if bytes == 0 {
			return
		}
		t := c
		if bytes&(bytes-1) == 0 {
			t = a.shiftLeft(c, bits.TrailingZeros(uint(bytes)), "scaled")
		} else {
			t = a.op2(rdna2.V_MUL_LO_U32, a.v("scaled"), c, bytes)
		}
		if out[j].Valid() {
			t = a.op2(rdna2.V_ADD_NC_U32_E32, a.v("offset"), out[j], t)
		}
		out[j] = t
	}
	for i := len(axes) - 1; i >= 0; i-- {
		c := index
		if i > 0 {
			index, c = a.vDivConst(index, axes[i].n, "index")
		}
		for j, stride := range axes[i].strides {
			if stride < 0 {
				add(j, a.op2(rdna2.V_SUB_NC_U32_E32, a.v("from the end"), axes[i].n-1, c), -stride)
				continue
			}
			add(j, c, stride)
		}
	}
	for j := range out {
		if !out[j].Valid() {
			out[j] = a.op1(rdna2.V_MOV_B32_E32, a.v("offset"), 0)
		}
	}
	return out
}

// dense are the strides of a dense tensor.
func dense(dims []int) []int {
	s := make([]int, len(dims))
	n := 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = n
		n *= dims[i]
	}
	return s
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func (k *flat) emit(l *lowering) (*launch, error) {
	a := l.newAsm(k.name)
	n := product(k.dims)
	all := [][]int{dense(k.dims)}
	for i := range k.in {
		s := all[0]
		if k.strides != nil {
			s = k.strides[i]
		}
		all = append(all, s)
	}
	axes := collapse(k.dims, all)
	// Four elements per lane when every operand is dense or one element.
	width := 1
	if len(axes) == 1 && n%4 == 0 && k.out.elem <= f16 {
		width = 4
		for _, t := range k.in {
			if t.elem > f16 {
				width = 1
			}
		}
	}
	lane := a.lane(flatGroup)
	ops := append([]*tensor{k.out}, k.in...)
	var shift []int
	for _, t := range ops {
		shift = append(shift, t.elem.shift()+bits.TrailingZeros(uint(width)))
	}
	offs := a.offsets(lane, axes, shift)
	var x [][]codegen.Reg // per input, per element
	for i, t := range k.in {
		base := a.pointer(t.region, t.off, "in")
		if width == 4 && axes[0].strides[i+1] != 0 {
			x = append(x, a.loadFour(t.elem, base, offs[i+1]))
			continue
		}
		v := a.widenAny(t.elem, a.load(t.elem, base, offs[i+1], 0, "x"))
		x = append(x, []codegen.Reg{v, v, v, v}[:width])
	}
	var y []codegen.Reg
	for j := range width {
		arg := make([]codegen.Reg, len(x))
		for i := range x {
			arg[i] = x[i][j]
		}
		y = append(y, k.f(a, arg))
	}
	base := a.pointer(arena, k.out.off, "out")
	if width == 4 {
		a.storeFour(k.out.elem, base, offs[0], y)
	} else {
		v := y[0]
		if k.out.elem <= f16 {
			v = a.narrow(k.out.elem, v)
		}
		a.store(k.out.elem, base, offs[0], v, 0)
	}
	return a.finish(n/width, 1, 1, flatGroup)
}

// widenAny leaves 8-bit elements as they are.
func (a *asm) widenAny(e element, x codegen.Reg) codegen.Reg {
	if e > f16 {
		return x
	}
	return a.widen(e, x)
}

// loadFour loads four consecutive elements as float32.
func (a *asm) loadFour(e element, base, off codegen.Reg) []codegen.Reg {
	if e == f32 {
		d := a.Reg(rdna2.V4, "four")
		a.Emit(rdna2.GLOBAL_LOAD_DWORDX4_SADDR, d, base, off, 0)
		return []codegen.Reg{at(d, 0), at(d, 1), at(d, 2), at(d, 3)}
	}
	d := a.Reg(rdna2.V2, "four halves")
	a.Emit(rdna2.GLOBAL_LOAD_DWORDX2_SADDR, d, base, off, 0)
	var out []codegen.Reg
	for i := range 2 {
		out = append(out, a.op1(rdna2.V_CVT_F32_F16_E32, a.v("low"), at(d, i)))
		h := a.op2(rdna2.V_LSHRREV_B32_E32, a.v("high"), 16, at(d, i))
		out = append(out, a.op1(rdna2.V_CVT_F32_F16_E32, a.v("high"), h))
	}
	return out
}

// storeFour is the inverse of loadFour.
func (a *asm) storeFour(e element, base, off codegen.Reg, y []codegen.Reg) {
	if e == f32 {
		d := a.Reg(rdna2.V4, "four")
		for i := range 4 {
			a.Emit(rdna2.V_MOV_B32_E32, at(d, i), y[i])
		}
		a.Emit(rdna2.GLOBAL_STORE_DWORDX4_SADDR, off, d, base, 0)
		return
	}
	d := a.Reg(rdna2.V2, "four halves")
	for i := range 2 {
		a.Emit(rdna2.V_PACK_B32_F16, at(d, i), a.narrow(f16, y[2*i]), a.narrow(f16, y[2*i+1]))
	}
	a.Emit(rdna2.GLOBAL_STORE_DWORDX2_SADDR, off, d, base, 0)
}

func ints(d []uint32) []int {
	out := make([]int, len(d))
	for i, x := range d {
		out[i] = int(x)
	}
	return out
}

// quantize lowers QUANTIZE from a float type.
func (l *lowering) quantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	o := &l.g.Operands[u.Output]
	if x.elem > f16 || out.elem <= f16 {
		return fmt.Errorf("%s: from %s to %s is not supported", op.Type, l.g.Operands[u.Input].Type, o.Type)
	}
	lo, hi := opspec.QuantLimits(o.Type)
	scale, zero := o.Scale, o.ZeroPoint
	l.flat(&flat{name: "quantize", dims: ints(u.Dims), in: []*tensor{x}, out: out, f: func(a *asm, x []codegen.Reg) codegen.Reg {
		q := a.divide(x[0], a.op1(rdna2.V_MOV_B32_E32, a.v("scale"), scale))
		// Round half away from zero: add a half of the same sign, truncate.
		sign := a.op1(rdna2.S_MOV_B32, a.s("sign"), uint32(1)<<31)
		h := a.op3(rdna2.V_AND_OR_B32, a.v("half"), q, sign, float32(0.5))
		t := a.op1(rdna2.V_TRUNC_F32_E32, a.v("rounded"), a.op2(rdna2.V_ADD_F32_E32, a.v("sum"), q, h))
		t = a.op2(rdna2.V_ADD_F32_E32, a.v("shifted"), float32(zero), t)
		t = a.clamp(t, float32(lo), float32(hi))
		return a.op1(rdna2.V_CVT_I32_F32_E32, a.v("integer"), t)
	}})
	return nil
}

// dequantize lowers DEQUANTIZE of 8-bit types and of TENSOR_FLOAT16.
func (l *lowering) dequantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	x, out, err := l.pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	in := &l.g.Operands[u.Input]
	if out.elem > f16 {
		return fmt.Errorf("%s: to %s is not supported", op.Type, l.g.Operands[u.Output].Type)
	}
	k := &flat{name: "dequantize", dims: ints(u.Dims), in: []*tensor{x}, out: out}
	switch x.elem {
	case u8, i8:
		cvt := rdna2.V_CVT_F32_UBYTE0_E32
		if x.elem == i8 {
			cvt = rdna2.V_CVT_F32_I32_E32
		}
		k.f = func(a *asm, x []codegen.Reg) codegen.Reg {
			v := a.op1(cvt, a.v("value"), x[0])
			v = a.op2(rdna2.V_SUBREV_F32_E32, a.v("centred"), float32(in.ZeroPoint), v)
			return a.op2(rdna2.V_MUL_F32_E32, a.v("real"), in.Scale, v)
		}
	default:
		k.f = func(_ *asm, x []codegen.Reg) codegen.Reg { return x[0] }
	}
	l.flat(k)
	return nil
}

// convert changes the storage of a float tensor.
func (l *lowering) convert(from, to *tensor) {
	l.flat(&flat{name: "convert", dims: []int{from.n}, in: []*tensor{from}, out: to,
		f: func(_ *asm, x []codegen.Reg) codegen.Reg { return x[0] }})
}
