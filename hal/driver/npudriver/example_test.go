package npudriver_test

import (
	"bytes"
	"fmt"
	"log"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kerneltest"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// tanh lowers TANH of bytes in another way than the driver, from reals: a pool of one element whose
// output goes through a lookup table.
type tanh struct{}

func (tanh) Identity() string { return "example/tanh-1" }

func (tanh) Check(v opspec.View, op *nn.Operation) error {
	if op.Type != nn.OpTanh {
		return fmt.Errorf("%s is not TANH", op.Type)
	}
	u, err := opspec.Read[opspec.Unary](v, op)
	if err != nil {
		return err
	}
	if u.Type != nn.TensorQuant8Asymm {
		return fmt.Errorf("TANH of %s: this lowering takes TENSOR_QUANT8_ASYMM", u.Type)
	}
	return nil
}

func (tanh) Lower(l *lower.Lowering, op *nn.Operation) error {
	u, err := opspec.Read[opspec.Unary](l.View(), op)
	if err != nil {
		return err
	}
	n := int(nn.Elements(u.Dims))
	in := l.In(u.Input, 1, 1, n)
	out := l.Out(u.Output, 1, 1, n)
	x := l.Operand(u.Input)
	l.Add(mapped(in, out, tanhTable(x.Scale, x.ZeroPoint)))
	return nil
}

// mapped is the kernel: the largest of one element, looked up.
func mapped(in, out layout.Ref, table []byte) kernel.Kernel {
	return kernel.Kernel{
		Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: 0, Hi: 255},
		IFM:   in, OFM: out, Table: table,
	}
}

// tanhTable has TANH of every byte, in steps of 1/128 around 128.
func tanhTable(scale float32, zero int32) []byte {
	t := make([]byte, 256)
	for i := range t {
		y := math.Tanh(float64(scale) * float64(int32(i)-zero))
		t[i] = byte(min(max(math.Round(y*128)+128, 0), 255))
	}
	return t
}

// tanhModel is TANH of n bytes.
func tanhModel(n uint32) *nn.Model {
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorQuant8Asymm, Scale: 1.0 / 32, ZeroPoint: 128, Dimensions: []uint32{1, n}, Lifetime: nn.SubgraphInput},
			{Type: nn.TensorQuant8Asymm, Scale: 1.0 / 128, ZeroPoint: 128, Dimensions: []uint32{1, n}, Lifetime: nn.SubgraphOutput},
		},
		Operations: []nn.Operation{{Type: nn.OpTanh, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// newNPU is the NPU of a phone with lowerings of its user.
func newNPU(own ...lower.Operation) *npudriver.Device {
	d, err := npudriver.New(npudriver.Config{Spec: phoneSpec(), OnChipBytes: 1 << 20, Settings: npudriver.Settings{Lowerings: own}})
	if err != nil {
		log.Fatal(err)
	}
	return d
}

func phoneSpec() npu.Spec {
	phone, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	spec, err := npu.FromSoC(phone, sim.FastSingleAnswer)
	if err != nil {
		log.Fatal(err)
	}
	return spec
}

// A kernel from outside the driver: alone against Go, then in a network, where support
// queries, compilations and the version of the device know it.
func Example_kernel() {
	x, want := make([]byte, 256), tanhTable(1.0/32, 128)
	for i := range x {
		x[i] = byte(i)
	}
	line := layout.Ref{FeatureMap: layout.Dense(0, 1, 1, 256, 1, false)}
	r, err := (&kerneltest.Case{Spec: phoneSpec(), Kernel: mapped(line, line, want), Input: x}).Run()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("alone equals the table:", bytes.Equal(r.Output, want), "- took cycles:", r.Report.Cycles > 0)

	m := tanhModel(256)
	reference, err := cpudriver.Reference(m, [][]byte{x})
	if err != nil {
		log.Fatal(err)
	}
	for _, own := range [][]lower.Operation{nil, {tanh{}}} {
		d := newNPU(own...)
		s, err := d.SupportedOperations(m)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d own lowerings: TANH %v %q\n", len(own), s[0].OK, s[0].Reason)
		if !s[0].OK {
			continue
		}
		p, err := d.PrepareModel(m, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
		if err != nil {
			log.Fatal(err)
		}
		y := make([]byte, 256)
		if _, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{x}, Outputs: [][]byte{y}}); err != nil {
			log.Fatal(err)
		}
		fmt.Println("in a network equals the reference:", bytes.Equal(y, reference[0]))
	}
	// Output:
	// alone equals the table: true - took cycles: true
	// 0 own lowerings: TANH true ""
	// in a network equals the reference: true
	// 1 own lowerings: TANH true ""
	// in a network equals the reference: true
}
