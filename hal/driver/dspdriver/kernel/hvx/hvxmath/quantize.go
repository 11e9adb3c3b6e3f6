package hvxmath

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Quant is the quantization of a tensor as it is stored.
type Quant struct {
	Scale  float32
	Zero   int32
	Lo, Hi int32
}

// Floats are the values of all stored bytes.
func (q Quant) Floats() []uint32 {
	t := make([]uint32, 256)
	for i := range t {
		t[i] = math.Float32bits(q.Scale * float32(int32(i)-q.Zero))
	}
	return t
}

// Quantize is the stored value nearest to a float; a NaN gives the least.
func Quantize(a *hvx.Builder, v codegen.Reg, q Quant) codegen.Reg {
	x := a.FDiv(v, a.Float(q.Scale))
	i := a.Into(hexagon.A2_addsat, a.Round(x), a.Imm(int(q.Zero)))
	i = a.Into(hexagon.A2_min, i, a.Imm(int(q.Hi)))
	i = a.Into(hexagon.A2_max, i, a.Imm(int(q.Lo)))
	return a.Into(hexagon.C2_muxri, a.Compare(hexagon.F2_sfcmpuo, x, x), int(q.Lo), i)
}

// Exponentials are e to the value of every stored byte.
func (q Quant) Exponentials() []uint32 {
	t := q.Floats()
	for i, v := range t {
		t[i] = math.Float32bits(float32(math.Exp(float64(math.Float32frombits(v)))))
	}
	return t
}
