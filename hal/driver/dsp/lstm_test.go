package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/isa/build"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// TestFixed16 compares the functions of halves on every value with their
// definition.
func TestFixed16(t *testing.T) {
	const f = opspec.Fixed16
	for name, x := range map[string]struct {
		want func(a int32) int32
		make func(h halves, a build.Reg) build.Reg
	}{
		"logistic": {func(a int32) int32 { return f.Logistic(a, 3) }, func(h halves, a build.Reg) build.Reg { return h.logistic(a, 3) }},
		"tanh3":    {func(a int32) int32 { return f.Tanh(a, 3) }, func(h halves, a build.Reg) build.Reg { return h.tanh(a, 3) }},
		"tanh4":    {func(a int32) int32 { return f.Tanh(a, 4) }, func(h halves, a build.Reg) build.Reg { return h.tanh(a, 4) }},
		"tanh0":    {func(a int32) int32 { return f.Tanh(a, 0) }, func(h halves, a build.Reg) build.Reg { return h.tanh(a, 0) }},
		"rounded":  {func(a int32) int32 { return opspec.RDPOT(a, 8) }, func(h halves, a build.Reg) build.Reg { return h.rounded(a, 8) }},
		"square":   {func(a int32) int32 { return f.Mul(a, a) }, func(h halves, a build.Reg) build.Reg { return h.mul(a, a) }},
	} {
		t.Run(name, func(t *testing.T) {
			d := device(t)
			o := nn.Operand{Type: nn.TensorQuant16Symm, Dimensions: []uint32{1 << 16}, Scale: 1}
			b := newBuilder(rand.New(rand.NewPCG(1, 1)))
			in, out := b.input(o), b.output(o)
			l := &lowering{graph: &b.m.Main, view: opspec.FinalView(&b.m.Main), threads: d.threads(), image: newImage(codeBase), vtcm: newVTCM(&d.cfg.Spec)}
			l.forget()
			from, to := l.denseTensor(in), l.flatResult(out)
			from.keep, to.keep = true, true
			l.inputs, l.outputs = []*tensor{from}, []*tensor{to}
			l.flatStep("function", flatOp(name, 1, 0, func(a *asm, out build.Reg, v, _ []build.Reg) {
				a.op(hexagon.V6_vassign, out, x.make(halves{a}, v[0]))
			}), to, []*tensor{from})
			if err := l.finish(); err != nil {
				t.Fatal(err)
			}
			var data []byte
			for i := range 1 << 16 {
				data = binary.LittleEndian.AppendUint16(data, uint16(i))
			}
			done, err := l.plan(d).run([][]byte{data}, dsp.Options{Functional: true})
			if err != nil {
				t.Fatal(err)
			}
			defer done.release()
			got, _ := done.output(0)
			for i := range 1 << 16 {
				a := int32(int16(i))
				if y := int32(int16(binary.LittleEndian.Uint16(got[2*i:]))); y != x.want(a) {
					t.Fatalf("of %d is %d, want %d", a, y, x.want(a))
				}
			}
		})
	}
}

func (b *builder) words16(n int) []byte { return b.bytes(2 * n) }

// TestRandomLstm16 runs QUANTIZED_16BIT_LSTM with constant weights and with
// weights that are inputs.
func TestRandomLstm16(t *testing.T) {
	d := device(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 41))
		b := newBuilder(r)
		batch, size, units := 1+r.IntN(3), pick(r, 1, 2, 7, 40, 150), pick(r, 1, 4, 9, 33, 64, 130)
		var in [][]byte
		operand := func(o nn.Operand, data []byte) uint32 {
			if r.IntN(2) == 0 {
				o.Lifetime, o.Data = nn.ConstantCopy, data
				return b.operand(o)
			}
			in = append(in, data)
			return b.input(o)
		}
		act := func(n int) nn.Operand {
			return nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1. / 128, ZeroPoint: 128, Dimensions: []uint32{uint32(batch), uint32(n)}}
		}
		args := make([]uint32, 15)
		args[0] = b.input(act(size))
		in = append(in, b.bytes(batch*size))
		var zero [4]int32
		for g := range zero {
			zero[g] = r.Int32N(256)
		}
		scale := float32(math.Ldexp(float64(1+r.Float32()), -8-r.IntN(6)))
		for k := 1; k < 9; k++ {
			n, g := size, (k-1)%4
			if k > 4 {
				n = units
			}
			o := nn.Operand{Type: nn.TensorQuant8Asymm, Scale: scale, ZeroPoint: zero[g], Dimensions: []uint32{uint32(units), uint32(n)}}
			args[k] = operand(o, b.bytes(units*n))
		}
		for k := 9; k < 13; k++ {
			var data []byte
			for range units {
				data = binary.LittleEndian.AppendUint32(data, uint32(r.Int32N(1<<uint(4+r.IntN(27)))-1<<3))
			}
			args[k] = operand(nn.Operand{Type: nn.TensorInt32, Scale: scale / 128, Dimensions: []uint32{uint32(units)}}, data)
		}
		state := nn.Operand{Type: nn.TensorQuant16Symm, Scale: 1. / 2048, Dimensions: []uint32{uint32(batch), uint32(units)}}
		args[13] = b.input(state)
		in = append(in, b.words16(batch*units))
		args[14] = b.input(act(units))
		in = append(in, b.bytes(batch*units))
		b.add(nn.OpQuantized16bitLstm, args, b.output(state), b.output(act(units)))
		t.Run(fmt.Sprintf("%d_%dx%d_%d", seed, batch, size, units), func(t *testing.T) { check(t, d, &b.m, in, r.IntN(2) == 0) })
	}
}
