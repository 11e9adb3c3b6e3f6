package rdna

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Offsets turns an index into the space of axes into one byte offset per
// operand; shift is the log2 of an element's bytes of each. Along an axis with a
// negative stride offsets count from its last index, which has offset 0.
func (a *Builder) Offsets(index codegen.Reg, axes []layout.Axis, shift []int) []codegen.Reg {
	out := make([]codegen.Reg, len(shift))
	add := func(j int, c codegen.Reg, stride int) {
		bytes := stride << shift[j]
		if bytes == 0 {
			return
		}
		t := c
		if bytes&(bytes-1) == 0 {
			t = a.ShiftLeft(c, bits.TrailingZeros(uint(bytes)), "scaled")
		} else {
			t = a.Op2(rdna2.V_MUL_LO_U32, a.V("scaled"), c, bytes)
		}
		if out[j].Valid() {
			t = a.Op2(rdna2.V_ADD_NC_U32_E32, a.V("offset"), out[j], t)
		}
		out[j] = t
	}
	for i := len(axes) - 1; i >= 0; i-- {
		c := index
		if i > 0 {
			index, c = a.DivConstV(index, axes[i].N, "index")
		}
		for j, stride := range axes[i].Strides[:len(shift)] {
			if stride < 0 {
				add(j, a.Op2(rdna2.V_SUB_NC_U32_E32, a.V("from the end"), axes[i].N-1, c), -stride)
				continue
			}
			add(j, c, stride)
		}
	}
	for j := range out {
		if !out[j].Valid() {
			out[j] = a.Op1(rdna2.V_MOV_B32_E32, a.V("offset"), 0)
		}
	}
	return out
}
