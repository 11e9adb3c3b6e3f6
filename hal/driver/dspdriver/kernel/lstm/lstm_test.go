package lstm

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

var update = flag.Bool("update", false, "write the golden files")

// fixedFunction is one function of Fixed16 as a kernel's.
type fixedFunction struct{ name string }

func (f fixedFunction) Name() string         { return f.name }
func (fixedFunction) Form() elementwise.Form { return elementwise.Form{In: []int{1}, Out: 1} }

func (f fixedFunction) Emit(b *hvx.Builder, x [][]codegen.Reg, _ []codegen.Reg) []codegen.Reg {
	out := b.V("out")
	b.Op(hexagon.V6_vassign, out, fixedFunctions[f.name].emit(Fixed16{b}, x[0][0]))
	return []codegen.Reg{out}
}

const oracle = fixedpoint.Q15

var fixedFunctions = map[string]struct {
	want func(a int32) int32
	emit func(h Fixed16, a codegen.Reg) codegen.Reg
}{
	"logistic": {func(a int32) int32 { return oracle.Logistic(a, 3) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Logistic(a, 3) }},
	"tanh3":    {func(a int32) int32 { return oracle.Tanh(a, 3) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Tanh(a, 3) }},
	"tanh4":    {func(a int32) int32 { return oracle.Tanh(a, 4) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Tanh(a, 4) }},
	"tanh0":    {func(a int32) int32 { return oracle.Tanh(a, 0) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Tanh(a, 0) }},
	"rounded":  {func(a int32) int32 { return fixedpoint.RDPOT(a, 8) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Rounded(a, 8) }},
	"square":   {func(a int32) int32 { return oracle.Mul(a, a) }, func(h Fixed16, a codegen.Reg) codegen.Reg { return h.Mul(a, a) }},
}

// TestFixed16 compares the functions of 16-bit fixed point on every value with their
// definition.
func TestFixed16(t *testing.T) {
	var data []byte
	for i := range 1 << 16 {
		data = binary.LittleEndian.AppendUint16(data, uint16(i))
	}
	for name, f := range fixedFunctions {
		t.Run(name, func(t *testing.T) {
			got := hvxtest.New(t).Map(fixedFunction{name}, [][]byte{data})
			for i := range 1 << 16 {
				a := int32(int16(i))
				if y := int32(int16(binary.LittleEndian.Uint16(got[2*i:]))); y != f.want(a) {
					t.Fatalf("of %d is %d, want %d", a, y, f.want(a))
				}
			}
		})
	}
}

func TestGoldens(t *testing.T) {
	m := hvxtest.New(t).Machine()
	hvxtest.Golden(t, *update, m, elementwise.Map{F: Cell16{}})
}
