package refcpu

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// network is a quantized graph of convolution, depthwise convolution, pooling,
// addition and softmax with random weights.
func network(r *rand.Rand) (*nn.Model, []byte) {
	const q8 = nn.TensorQuant8Asymm
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	bias := func(n uint32) []byte {
		var b []byte
		for range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(int32(r.IntN(2000)-1000)))
		}
		return b
	}
	g := &graph{}
	in := g.input(q8, 0.02, 120, 1, 31, 29, 3)
	a := g.add(nn.Operand{Type: q8, Dimensions: []uint32{1, 16, 15, 20}, Scale: 0.05, ZeroPoint: 100})
	g.op(nn.OpConv2D, []uint32{a}, in, g.constant(q8, 0.01, 130, random(20*27), 20, 3, 3, 3),
		g.constant(nn.TensorInt32, 0.02*0.01, 0, bias(20), 20), g.int32(1), g.int32(2), g.int32(2), g.int32(1))
	d := g.add(nn.Operand{Type: q8, Dimensions: []uint32{1, 16, 15, 40}, Scale: 0.05, ZeroPoint: 100})
	g.op(nn.OpDepthwiseConv2D, []uint32{d}, a, g.constant(q8, 0.01, 125, random(9*40), 1, 3, 3, 40),
		g.constant(nn.TensorInt32, 0.05*0.01, 0, bias(40), 40), g.int32(1), g.int32(1), g.int32(1), g.int32(2), g.int32(0))
	s := g.add(nn.Operand{Type: q8, Dimensions: []uint32{1, 16, 15, 40}, Scale: 0.1, ZeroPoint: 90})
	g.op(nn.OpAdd, []uint32{s}, d, d, g.int32(0))
	p := g.add(nn.Operand{Type: q8, Dimensions: []uint32{1, 8, 7, 40}, Scale: 0.1, ZeroPoint: 90})
	g.op(nn.OpAveragePool2D, []uint32{p}, s, g.int32(2), g.int32(2), g.int32(2), g.int32(2), g.int32(2), g.int32(0))
	beta := g.add(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: floatBytes(1)})
	out := g.output(q8, 1./256, 0, 1, 8, 7, 40)
	g.op(nn.OpSoftmax, []uint32{out}, p, beta)
	return g.model(), random(31 * 29 * 3)
}

func TestSameBytesWithAnyThreads(t *testing.T) {
	m, in := network(rand.New(rand.NewPCG(5, 6)))
	p := require.V(Compile(m))(t)
	var want []byte
	for _, threads := range []int{1, 2, 3, 8, 1} {
		out := make([]byte, 8*7*40)
		require.NoError(t, p.Run([][]byte{in}, [][]byte{out}, Options{Threads: threads}))
		if want == nil {
			want = out
		}
		require.Check(t, bytes.Equal(out, want), "%d threads give other bytes than one", threads)
	}
}

func TestObserve(t *testing.T) {
	m, in := network(rand.New(rand.NewPCG(5, 6)))
	p := require.V(Compile(m))(t)
	out := make([]byte, 8*7*40)
	var sizes []int
	var last []byte
	require.NoError(t, p.Run([][]byte{in}, [][]byte{out}, Options{Observe: func(op int, o [][]byte) {
		require.Check(t, op == len(sizes), "operation %d observed at position %d", op, len(sizes))
		sizes = append(sizes, len(o[0]))
		last = append([]byte(nil), o[0]...)
	}}))
	require.Check(t, len(sizes) == 5 && sizes[0] == 16*15*20 && bytes.Equal(last, out), "observed sizes %v", sizes)
}

func TestRunErrors(t *testing.T) {
	m, in := network(rand.New(rand.NewPCG(5, 6)))
	p := require.V(Compile(m))(t)
	out := make([]byte, 8*7*40)
	for want, run := range map[string]func() error{
		"0 inputs":         func() error { return p.Run(nil, [][]byte{out}, Options{}) },
		"has 2 bytes":      func() error { return p.Run([][]byte{in[:2]}, [][]byte{out}, Options{}) },
		"needs 2240 bytes": func() error { return p.Run([][]byte{in}, [][]byte{out[1:]}, Options{}) },
		"does not match [1 ": func() error {
			_, err := p.Execute([]Tensor{{Dimensions: []uint32{1, 1, 1, 3}, Data: in[:3]}}, Options{})
			return err
		},
		"not be omitted": func() error { return p.Run([][]byte{nil}, [][]byte{out}, Options{}) },
	} {
		require.ErrorContains(t, run(), want)
	}
	require.Report(t, p.Run([][]byte{in}, [][]byte{out}, Options{}), "after errors")
	require.ErrorContains(t, require.Err(CompileConfig(m, Config{Limits: Limits{Bytes: 1000}})), "exceed 1000 bytes", "a limit of 1000 bytes")
	require.ErrorContains(t, require.Err(CompileConfig(m, Config{Limits: Limits{Work: 1000}})), "1000 steps", "a limit of 1000 steps")
	m.Main.Operations[0].Type = 999
	require.ErrorContains(t, require.Err(Compile(m)), "operation 0: OperationType(999) is not supported", "an operation the reference lacks")
}

func BenchmarkRun(b *testing.B) {
	m, in := network(rand.New(rand.NewPCG(5, 6)))
	p := require.V(Compile(m))(b)
	out := make([]byte, 8*7*40)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, p.Run([][]byte{in}, [][]byte{out}, Options{Threads: 1}))
	}
}

// TestConcurrentRuns executes one program from several goroutines.
func TestConcurrentRuns(t *testing.T) {
	m, in := network(rand.New(rand.NewPCG(5, 6)))
	p := require.V(Compile(m))(t)
	want := make([]byte, 8*7*40)
	require.NoError(t, p.Run([][]byte{in}, [][]byte{want}, Options{}))
	results := make(chan []byte)
	for range 4 {
		go func() {
			out := make([]byte, len(want))
			require.Report(t, p.Run([][]byte{in}, [][]byte{out}, Options{Threads: 2}))
			results <- out
		}()
	}
	for range 4 {
		require.Check(t, bytes.Equal(<-results, want), "concurrent runs give different bytes")
	}
}

// TestNoNumbers: NaNs and infinities propagate to the results that they are a part of, and to no others.
func TestNoNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	g := &graph{}
	x := g.input(nn.TensorFloat32, 0, 0, 1, 1, 1, 8)
	normal, integers, bytes := g.output(nn.TensorFloat32, 0, 0, 1, 1, 1, 8), g.output(nn.TensorInt32, 0, 0, 1, 1, 1, 8), g.output(nn.TensorQuant8Asymm, 1, 0, 1, 1, 1, 8)
	pooled := g.output(nn.TensorFloat32, 0, 0, 1, 1, 4, 1)
	row := g.input(nn.TensorFloat32, 0, 0, 1, 1, 5, 1)
	number := func(v float32) uint32 { return g.constant(nn.Float32, 0, 0, floatBytes(v)) }
	g.op(nn.OpLocalResponseNormalization, []uint32{normal}, x, g.int32(1), number(1), number(1), number(1))
	g.op(nn.OpCast, []uint32{integers}, x)
	g.op(nn.OpCast, []uint32{bytes}, x)
	g.op(nn.OpMaxPool2D, []uint32{pooled}, row, g.int32(nn.PaddingValid), g.int32(1), g.int32(1), g.int32(2), g.int32(1), g.int32(0))
	top, places := g.output(nn.TensorFloat32, 0, 0, 1, 1, 1, 4), g.output(nn.TensorInt32, 0, 0, 1, 1, 1, 4)
	g.op(nn.OpTopkV2, []uint32{top, places}, x, g.int32(4))
	p := require.V(Compile(g.model()))(t)
	out := require.V(p.Execute([]Tensor{{Data: floatBytes(nan, 1, 1, 0x1p40, 1, 1, 1, inf)}, {Data: floatBytes(1, nan, nan, 3, -inf)}}, Options{}))(t)
	want := []float32{nan, nan, 1 / (1 + 0x1p80 + 2), 0x1p-40, 1 / (1 + 0x1p80 + 2), 0.25, 0, nan}
	for i, w := range want {
		if got := math.Float32frombits(binary.LittleEndian.Uint32(out[0].Data[4*i:])); got != w && !(got != got && w != w) {
			t.Errorf("normalized %d: %v, want %v", i, got, w)
		}
	}
	for i, w := range []int32{0, 1, 1, math.MaxInt32, 1, 1, 1, math.MaxInt32} {
		require.Same(t, w, int32(binary.LittleEndian.Uint32(out[1].Data[4*i:])), "integer", i)
	}
	if w := []byte{0, 1, 1, 255, 1, 1, 1, 255}; string(out[2].Data) != string(w) {
		t.Errorf("bytes %v, want %v", out[2].Data, w)
	}
	if w := floatBytes(1, -inf, 3, 3); string(out[3].Data) != string(w) {
		t.Errorf("pooled %v, want %v", out[3].Data, w)
	}
	if w := int32Bytes(0, 7, 3, 1); string(out[5].Data) != string(w) {
		t.Errorf("places %v, want %v", out[5].Data, w)
	}
}
