package dspdriver_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// negate is a kernel of a driver author: float32 values with the other sign, a vector of 32
// at a time, though HVX of V66 does not compute on floats. The value is the key of its code,
// which depends on nothing. Arguments: table of (input, output, vectors), entries, address of
// a vector of sign bits.
type negate struct{}

func (negate) Name() string { return "negate" }

func (negate) Emit(b *hvx.Builder) {
	in := b.Args("table", "entries", "signs")
	table, entries := in[0], in[1]
	signs := b.Load(in[2], 0, hvx.AliasConst, "signs")
	b.Repeat(entries, func() {
		src, dst, vectors := b.Word(table, 0, "src"), b.Word(table, 1, "dst"), b.Word(table, 2, "vectors")
		b.Bump(table, 12)
		b.Loop0(vectors, func() {
			v := b.V("v")
			b.Op(hexagon.V6_vL32b_pi, v, src, 1).Loads(hvx.AliasIn)
			b.Op(hexagon.V6_vxor, v, v, signs)
			b.Op(hexagon.V6_vS32b_pi, dst, 1, v).Stores(hvx.AliasOut)
		})
	})
	b.Ret()
}

// negation is what a step computes: all of a tensor, by negate.
type negation struct{ In, Out *layout.Tensor }

// Launch packs the constant, lists what each thread works on, and makes a job.
func (w negation) Launch(l *step.Launcher, _ step.Rows) {
	signs := l.Constant(bytes.Repeat([]byte{0, 0, 0, 0x80}, layout.VectorBytes/4))
	vectors := layout.CeilDiv(w.In.Bytes(), layout.VectorBytes)
	var table []uint32
	for _, r := range l.Spread(vectors) {
		at := uint32(r[0] * layout.VectorBytes)
		table = append(table, w.In.Addr+at, w.Out.Addr+at, uint32(r[1]-r[0]))
	}
	l.LaunchTable(l.Kernel(negate{}), table, 3, signs)
}

// neg lowers NEG of TENSOR_FLOAT32; the driver has that of TENSOR_INT32.
type neg struct{}

func (neg) Identity() string { return "example/neg-1" }

func (neg) Check(v opspec.View, op *nn.Operation) error {
	if op.Type != nn.OpNeg {
		return fmt.Errorf("%s is not NEG", op.Type)
	}
	u, err := opspec.Read[opspec.Unary](v, op)
	if err != nil {
		return err
	}
	if u.Type != nn.TensorFloat32 {
		return fmt.Errorf("NEG of %s: this lowering takes TENSOR_FLOAT32", u.Type)
	}
	return nil
}

func (neg) Lower(l *lower.Lowering, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](l.View(), op)
	if err != nil {
		return err
	}
	in, out := l.FlatPair(u.Input, u.Output)
	l.Add("negate", []*layout.Tensor{in}, []*layout.Tensor{out}, negation{in, out})
	return nil
}

// negModel is NEG of n numbers, quantized in steps of 1/64.
func negModel(n uint32) *nn.Model {
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorFloat32, Dimensions: []uint32{n}, Lifetime: nn.SubgraphInput},
			{Type: nn.TensorFloat32, Dimensions: []uint32{n}, Lifetime: nn.TemporaryVariable},
			{Type: nn.TensorQuant8Asymm, Scale: 1.0 / 64, ZeroPoint: 128, Dimensions: []uint32{n}, Lifetime: nn.SubgraphOutput},
		},
		Operations: []nn.Operation{
			{Type: nn.OpNeg, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpQuantize, Inputs: []uint32{1}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{2},
	}}
}

// newDSP is the DSP of a phone with lowerings of its user.
func newDSP(own ...lower.Operation) (*dspdriver.Device, dsp.Spec) {
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	spec, err := dsp.FromSoC(phone, sim.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	d, err := dspdriver.New(dspdriver.Config{Spec: spec, Settings: dspdriver.Settings{Lowerings: own}, NewMemory: func() (mem.Level, error) { return phone.NewDRAM() }})
	if err != nil {
		log.Fatal(err)
	}
	return d, spec
}

// A kernel from outside the driver: alone against Go, then in a network, where support
// queries, compilations and the version of the device know it.
func Example_kernel() {
	x := make([]byte, 0, 4*100)
	for i := range 100 {
		x = binary.LittleEndian.AppendUint32(x, math.Float32bits(float32(i-50)/32))
	}
	d, spec := newDSP(neg{})
	in, out := kerneltest.Flat("in", len(x)), kerneltest.Flat("out", len(x))
	alone := kerneltest.Case{Spec: spec, Work: negation{in, out}, Inputs: []*layout.Tensor{in}, Data: [][]byte{x}, Output: out}
	r, err := alone.Run()
	if err != nil {
		log.Fatal(err)
	}
	equal := true
	for i := range 100 {
		a := math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))
		equal = equal && math.Float32frombits(binary.LittleEndian.Uint32(r.Output[4*i:])) == -a
	}
	fmt.Println("alone: equal", equal, "- took cycles:", r.Report.Cycles > 0)

	m := negModel(100)
	plain, _ := newDSP()
	for own, d := range []*dspdriver.Device{plain, d} {
		s, err := d.SupportedOperations(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d own lowerings: NEG %v %q, QUANTIZE %v\n", own, s[0].OK, s[0].Reason, s[1].OK)
	}
	p, err := d.PrepareModel(m, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		log.Fatal(err)
	}
	y := make([]byte, 100)
	if _, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{x}, Outputs: [][]byte{y}}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("-(%g) is %g\n", float32(82-50)/32, float32(int(y[82])-128)/64)
	// Output:
	// alone: equal true - took cycles: true
	// 0 own lowerings: NEG false "NEG: TENSOR_FLOAT32; this DSP computes on integers", QUANTIZE true
	// 1 own lowerings: NEG true "", QUANTIZE true
	// -(1) is -1
}
