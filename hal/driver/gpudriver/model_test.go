package gpudriver

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
	"github.com/x448/float16"
)

// flatMemory is a memory of constant latency and no contention.
type flatMemory struct{}

func (flatMemory) Access(t sim.Time, _ uint64, _ int, _ mem.Kind) (sim.Time, sim.Reason) {
	return t + 100*sim.Nanosecond, sim.StallDRAM
}
func (flatMemory) Reset() {}

func newDevice(t testing.TB) *Device {
	t.Helper()
	d, err := New(Config{Spec: gpu.DefaultSpec(), Texels: true, NewMemory: func() (mem.Level, error) { return flatMemory{}, nil }, Settings: Settings{Description: "test"}})
	require.NoError(t, err)
	return d
}

// modelBuilder makes models of one type of tensor with values known to the test.
type modelBuilder struct {
	m      nn.Model
	t      nn.OperandType
	r      *rand.Rand
	inputs [][]float32
}

func newModel(t nn.OperandType) *modelBuilder {
	return &modelBuilder{t: t, r: rand.New(rand.NewPCG(7, 9))}
}

func (b *modelBuilder) operand(o nn.Operand) uint32 {
	b.m.Main.Operands = append(b.m.Main.Operands, o)
	return uint32(len(b.m.Main.Operands) - 1)
}

// encode stores values in the element type; it rounds them in place.
func encode(t nn.OperandType, v []float32) []byte {
	var out []byte
	for i, x := range v {
		if t == nn.TensorFloat16 {
			h := float16.Fromfloat32(x).Bits()
			v[i] = float16.Frombits(h).Float32()
			out = binary.LittleEndian.AppendUint16(out, h)
		} else {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	return out
}

func decode(t nn.OperandType, b []byte) []float32 {
	var out []float32
	if t == nn.TensorFloat16 {
		for ; len(b) > 0; b = b[2:] {
			out = append(out, float16.Frombits(binary.LittleEndian.Uint16(b)).Float32())
		}
		return out
	}
	for ; len(b) > 0; b = b[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return out
}

func (b *modelBuilder) random(n int, scale float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = (b.r.Float32()*2 - 1) * scale
	}
	return v
}

// input is a model input of random values.
func (b *modelBuilder) input(scale float32, dims ...uint32) (uint32, []float32) {
	v := b.random(int(nn.Elements(dims)), scale)
	x := b.operand(nn.Operand{Type: b.t, Dimensions: dims, Lifetime: nn.SubgraphInput})
	b.m.Main.Inputs = append(b.m.Main.Inputs, x)
	encode(b.t, v)
	b.inputs = append(b.inputs, v)
	return x, v
}

func (b *modelBuilder) constant(scale float32, dims ...uint32) (uint32, []float32) {
	v := b.random(int(nn.Elements(dims)), scale)
	return b.operand(nn.Operand{Type: b.t, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: encode(b.t, v)}), v
}

func (b *modelBuilder) i32(v int32) uint32 {
	return b.operand(nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(v))})
}

func (b *modelBuilder) i32s(dims []uint32, v ...int32) uint32 {
	var d []byte
	for _, x := range v {
		d = binary.LittleEndian.AppendUint32(d, uint32(x))
	}
	return b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Lifetime: nn.ConstantCopy, Data: d})
}

func (b *modelBuilder) scalar(v float32) uint32 {
	t := nn.Float32
	if b.t == nn.TensorFloat16 {
		t = nn.Float16
	}
	d := encode(b.t, []float32{v})
	return b.operand(nn.Operand{Type: t, Lifetime: nn.ConstantCopy, Data: d})
}

func (b *modelBuilder) temporary(dims ...uint32) uint32 {
	return b.operand(nn.Operand{Type: b.t, Dimensions: dims, Lifetime: nn.TemporaryVariable})
}

func (b *modelBuilder) output(dims ...uint32) uint32 {
	x := b.operand(nn.Operand{Type: b.t, Dimensions: dims, Lifetime: nn.SubgraphOutput})
	b.m.Main.Outputs = append(b.m.Main.Outputs, x)
	return x
}

func (b *modelBuilder) op(t nn.OperationType, out uint32, in ...uint32) {
	b.m.Main.Operations = append(b.m.Main.Operations, nn.Operation{Type: t, Inputs: in, Outputs: []uint32{out}})
}

// run executes the model timed and functional and checks that both agree.
func (b *modelBuilder) run(t testing.TB) ([][]byte, *hal.Result) {
	t.Helper()
	d := newDevice(t)
	sup, err := d.SupportedOperations(&b.m)
	require.NoError(t, err)
	for i, s := range sup {
		if !s.OK {
			t.Fatalf("operation %d: %s", i, s.Reason)
		}
	}
	p, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
	require.NoError(t, err)
	var outs [2][][]byte
	var res *hal.Result
	for k := range 2 {
		r := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: k == 0}}
		for i, v := range b.inputs {
			r.Inputs = append(r.Inputs, encode(b.m.Main.Operands[b.m.Main.Inputs[i]].Type, v))
		}
		for _, x := range b.m.Main.Outputs {
			r.Outputs = append(r.Outputs, make([]byte, b.m.Main.Operands[x].Bytes()))
		}
		if res, err = hal.Execute(p, r); err != nil {
			t.Fatal(err)
		}
		outs[k] = r.Outputs
	}
	for i := range outs[0] {
		if string(outs[0][i]) != string(outs[1][i]) {
			t.Errorf("output %d: functional and timed execution differ", i)
		}
	}
	sum := int64(0)
	for _, s := range res.Stats.Stalls {
		sum += s.Cycles
	}
	if sum != res.Stats.Cycles || sum == 0 {
		t.Errorf("stalls add up to %d, cycles are %d", sum, res.Stats.Cycles)
	}
	return outs[1], res
}

// check runs the model and compares its output with want.
func (b *modelBuilder) check(t testing.TB, want []float64) *hal.Result {
	t.Helper()
	outs, res := b.run(t)
	compare(t, b.m.Relaxed, b.m.Main.Operands[b.m.Main.Outputs[0]].Type, decode(b.m.Main.Operands[b.m.Main.Outputs[0]].Type, outs[0]), want)
	return res
}

// compare applies the tolerances of the compatibility test suite: 1e-5 plus 5
// units of 2^-23 in single precision; 5 units of 2^-10 when relaxed or half.
func compare(t testing.TB, relaxed bool, typ nn.OperandType, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d elements, want %d", len(got), len(want))
	}
	abs, rel := 1e-5, 5*math.Pow(2, -23)
	if relaxed || typ == nn.TensorFloat16 {
		abs, rel = 5*math.Pow(2, -10), 5*math.Pow(2, -10)
	}
	bad := 0
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= abs+rel*math.Abs(want[i])) {
			if bad++; bad <= 5 {
				t.Errorf("element %d: got %v, want %v", i, got[i], want[i])
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d elements differ", bad, len(got))
	}
}

// checkReference runs the model and compares its outputs with the reference's: infinities and NaN must be where they are there.
func (b *modelBuilder) checkReference(t testing.TB) {
	t.Helper()
	var inputs [][]byte
	for i, v := range b.inputs {
		inputs = append(inputs, encode(b.m.Main.Operands[b.m.Main.Inputs[i]].Type, v))
	}
	want := drivertest.Reference(t, &b.m, inputs)
	outs, _ := b.run(t)
	for i, x := range b.m.Main.Outputs {
		typ := b.m.Main.Operands[x].Type
		if typ == nn.TensorInt32 {
			if !bytes.Equal(outs[i], want[i]) {
				t.Errorf("output %d: %v, want %v", i, outs[i], want[i])
			}
			continue
		}
		got, finite := decode(typ, outs[i]), []float64{}
		for k, v := range decode(typ, want[i]) {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				if got[k] != v && (v == v || got[k] == got[k]) {
					t.Errorf("output %d: element %d is %g, want %g", i, k, got[k], v)
				}
				got[k], v = 0, 0
			}
			finite = append(finite, float64(v))
		}
		compare(t, false, typ, got, finite)
	}
}
