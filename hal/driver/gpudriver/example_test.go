package gpudriver_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// exponential is a kernel of a driver author: e to the power of each element.
type exponential struct{ in, out *layout.Tensor }

// Emit computes an element per lane: 2^(x * log2 e).
func (k exponential) Emit(b *rdna.Builder) kernel.Grid {
	off := b.ShiftLeft(b.Lane(kernel.FlatGroup), k.in.Elem.Shift(), "offset")
	x := b.Widen(k.in.Elem, b.Load(k.in.Elem, b.Pointer(k.in.Region, k.in.Off, "in"), off, 0, "x"))
	x = b.Op2(rdna2.V_MUL_F32_E32, b.V("scaled"), float32(math.Log2E), x)
	y := b.Op1(rdna2.V_EXP_F32_E32, b.V("y"), x)
	b.Store(k.out.Elem, b.Pointer(layout.Arena, k.out.Off, "out"), off, b.Narrow(k.out.Elem, y), 0)
	return kernel.Flat("exponential", k.in.N)
}

// exp lowers EXP, which the driver does not have.
type exp struct{}

func (exp) Identity() string { return "example/exp-1" }

func (exp) Check(_ opspec.View, op *nn.Operation) error {
	if op.Type != nn.OpExp {
		return fmt.Errorf("%s is not EXP", op.Type)
	}
	return nil
}

func (exp) Lower(l *lower.Lowering, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](l.View(), op)
	if err != nil {
		return err
	}
	in, out, err := l.Pair(u.Input, u.Output)
	if err != nil {
		return err
	}
	l.Add(exponential{in, out}, []*layout.Tensor{in}, []*layout.Tensor{out})
	return nil
}

// expModel is EXP and RELU6 of n numbers.
func expModel(n uint32) *nn.Model {
	tensor := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{n}, Lifetime: l}
	}
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.SubgraphInput), tensor(nn.TemporaryVariable), tensor(nn.SubgraphOutput)},
		Operations: []nn.Operation{
			{Type: nn.OpExp, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpRelu6, Inputs: []uint32{1}, Outputs: []uint32{2}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{2},
	}}
}

// newGPU is the GPU of a phone with lowerings of its user.
func newGPU(own ...lower.Operation) *gpudriver.Device {
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	d, err := gpudriver.New(gpudriver.Config{Spec: gpu.DefaultSpec(), Settings: gpudriver.Settings{Lowerings: own}, NewMemory: func() (mem.Level, error) {
		l, _, err := phone.NewPath("gpu", 0)
		return l, err
	}})
	if err != nil {
		log.Fatal(err)
	}
	return d
}

// A kernel from outside the driver: alone against Go, then in a network, where support
// queries, compilations and the version of the device know it.
func Example_kernel() {
	in, out := kerneltest.Tensor(layout.F32, 100), kerneltest.Tensor(layout.F32, 100)
	x := make([]float32, in.N)
	for i := range x {
		x[i] = float32(i)/25 - 2
	}
	alone := kerneltest.Case{Kernel: exponential{in, out}, Inputs: []*layout.Tensor{in}, Data: [][]byte{kerneltest.Bytes(x)}, Output: out}
	r, err := alone.Run()
	if err != nil {
		log.Fatal(err)
	}
	worst := 0.0
	for i, y := range r.Floats() {
		worst = max(worst, math.Abs(float64(y)/math.Exp(float64(x[i]))-1))
	}
	fmt.Println("alone: within 1e-6:", worst < 1e-6, "- took cycles:", r.Report.Cycles > 0)

	m := expModel(100)
	for own, d := range []*gpudriver.Device{newGPU(), newGPU(exp{})} {
		s, err := d.SupportedOperations(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d own lowerings: EXP %v %q\n", own, s[0].OK, s[0].Reason)
	}
	p, err := newGPU(exp{}).PrepareModel(m, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		log.Fatal(err)
	}
	y := make([]byte, 400)
	if _, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{kerneltest.Bytes(x)}, Outputs: [][]byte{y}}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("e^%.0f is %.3f\n", x[75], math.Float32frombits(binary.LittleEndian.Uint32(y[4*75:])))
	// Output:
	// alone: within 1e-6: true - took cycles: true
	// 0 own lowerings: EXP true ""
	// 1 own lowerings: EXP true ""
	// e^1 is 2.718
}
