package compile_test

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// doubling is
//
//	while x < limit { x = x < 4 ? x + 1 : x * factor }
//
// for a TENSOR_FLOAT32 x of one element.
func doubling(limit, factor float32) *nn.Model {
	f32 := func(l nn.Lifetime, v ...float32) nn.Operand {
		o := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: l}
		for _, x := range v {
			o.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(x))
		}
		return o
	}
	truth := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: l}
	}
	ref := nn.SubgraphOperand
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	in, temp, out, constant := nn.SubgraphInput, nn.TemporaryVariable, nn.SubgraphOutput, nn.ConstantCopy
	return &nn.Model{
		Main: nn.Subgraph{Operands: []nn.Operand{f32(in), f32(out), ref(0), ref(1)}, Inputs: []uint32{0}, Outputs: []uint32{1},
			Operations: []nn.Operation{{Type: nn.OpWhile, Inputs: []uint32{2, 3, 0}, Outputs: []uint32{1}}}},
		Referenced: []nn.Subgraph{
			{Operands: []nn.Operand{f32(in), f32(constant, limit), truth(out)}, Inputs: []uint32{0}, Outputs: []uint32{2},
				Operations: []nn.Operation{{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}}},
			{Operands: []nn.Operand{f32(in), f32(constant, 4), truth(temp), ref(2), ref(3), f32(out)}, Inputs: []uint32{0}, Outputs: []uint32{5},
				Operations: []nn.Operation{
					{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
					{Type: nn.OpIf, Inputs: []uint32{2, 3, 4, 0}, Outputs: []uint32{5}},
				}},
			{Operands: []nn.Operand{f32(in), f32(constant, 1), none, f32(out)}, Inputs: []uint32{0}, Outputs: []uint32{3},
				Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}},
			{Operands: []nn.Operand{f32(in), f32(constant, factor), none, f32(out)}, Inputs: []uint32{0}, Outputs: []uint32{3},
				Operations: []nn.Operation{{Type: nn.OpMul, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}},
		},
	}
}

// gpuOf is the GPU of a phone.
func gpuOf(t *testing.T) hal.Device {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	for _, d := range list {
		if d.Type() == hal.DeviceGPU {
			return d
		}
	}
	t.Fatal("no GPU")
	return nil
}

// run executes a prepared model on one number.
func run(p hal.PreparedModel, x float32, o hal.ExecuteOptions) (float32, *hal.Result, error) {
	in, out := binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)), make([]byte, 4)
	r, err := p.Execute((&hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{out}}).Request(), o)
	return math.Float32frombits(binary.LittleEndian.Uint32(out)), r, err
}

// TestControl: a WHILE with an IF in its body has its result, its costs are those of one operation and
// grow with the rounds, and a compilation cache gives the same.
func TestControl(t *testing.T) {
	d := gpuOf(t)
	m := doubling(30, 2)
	m.Referenced[2].Operands[0].Dimensions = []uint32{0} // its shape comes with a call
	m.Referenced[3].Operands[3].Dimensions = []uint32{0} // this one follows
	support, err := d.SupportedOperations(m)
	if err != nil || !support[0].OK {
		t.Fatal(support, err)
	}
	c := cacheIn(t)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{Cache: c}))(t)
	loaded := require.V(d.PrepareModelFromCache(nil, c))(t)
	var before int64
	for _, x := range []struct {
		in, want float32
		rounds   int
		deferred int64
	}{{31, 31, 0, 0}, {20, 40, 1, 0}, {1, 32, 6, 3}} {
		for _, p := range []hal.PreparedModel{p, loaded} {
			got, r, err := run(p, x.in, hal.ExecuteOptions{})
			if err != nil || got != x.want {
				t.Fatalf("%g: %g, %v; want %g", x.in, got, err, x.want)
			}
			var sum int64
			rows := 0
			for _, o := range r.Stats.Operations {
				sum += o.Cycles
				if o.Index >= 0 {
					rows++
				}
			}
			var deferred int64
			for _, k := range r.Stats.Counters {
				if k.Name == compile.DeferredCounter {
					deferred = k.Value
				}
			}
			require.Same(t, x.deferred, deferred, x.in, "operations that waited for their shape")
			if rows != 1 || sum != r.Stats.Cycles || max(r.Stats.Launches, 1) != 1+3*x.rounds {
				t.Errorf("%g: %d rows of operations, %d cycles of %d, %d launches", x.in, rows, sum, r.Stats.Cycles, r.Stats.Launches)
			}
			if p == loaded {
				if r.Stats.Cycles <= before {
					t.Errorf("%g: %d cycles, no more than the %d of fewer rounds", x.in, r.Stats.Cycles, before)
				}
				before = r.Stats.Cycles
			}
		}
	}
}

// TestWorkOfSubgraph: the products of a called operation count where its declared input has no shape.
func TestWorkOfSubgraph(t *testing.T) {
	f32 := func(l nn.Lifetime, dims ...uint32) nn.Operand {
		o := nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: l}
		if l == nn.ConstantCopy {
			o.Data = make([]byte, o.Bytes())
		}
		return o
	}
	truth := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	in, out, constant, ref := nn.SubgraphInput, nn.SubgraphOutput, nn.ConstantCopy, nn.SubgraphOperand(0)
	m := &nn.Model{
		Main: nn.Subgraph{Operands: []nn.Operand{truth, ref, ref, f32(in, 5, 2), f32(out, 5, 3)}, Inputs: []uint32{0, 3}, Outputs: []uint32{4},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}}},
		Referenced: []nn.Subgraph{{Operands: []nn.Operand{f32(in, 5, 2), f32(constant, 3, 2), f32(constant, 3), none, f32(nn.TemporaryVariable, 0, 0), f32(out, 5, 3)}, Inputs: []uint32{0}, Outputs: []uint32{5},
			Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{4}}, {Type: nn.OpFullyConnected, Inputs: []uint32{4, 1, 2, 3}, Outputs: []uint32{5}}}}},
	}
	p := require.V(gpuOf(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	r := require.V(p.Execute((&hal.Buffers{Inputs: [][]byte{{1}, make([]byte, 40)}, Outputs: [][]byte{make([]byte, 60)}}).Request(), hal.ExecuteOptions{}))(t)
	var products int64
	for _, o := range r.Stats.Operations {
		products += o.MACs
	}
	require.Same(t, int64(5*2*3), products)
}

// failing is a writer that accepts so many writes, and all after the next.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f--; *f == -1 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// TestWrites: what is printed of a program has its subgraphs, and ends with the first error of its writer.
func TestWrites(t *testing.T) {
	m := doubling(30, 2)
	m.Referenced[2].Operands[0].Dimensions = []uint32{0} // lowered by an execution
	p := require.V(gpuOf(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	_, _, err := run(p, 1, hal.ExecuteOptions{Functional: true})
	require.NoError(t, err)
	const calls = "; operation 0 WHILE: subgraph 0\n; operation 0 WHILE: subgraph 1\n; operation 1 IF: subgraph 2\n; operation 1 IF: subgraph 3\n"
	for name, write := range map[string]func(io.Writer) error{
		"listing": p.WriteListing, "program": p.WriteProgram, "steps": p.(hal.StepPrinter).WriteSteps, "estimates": p.(hal.Explainer).Explain,
	} {
		var b strings.Builder
		require.NoError(t, write(&b))
		got := ""
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "; operation ") && strings.Contains(line, ": subgraph ") {
				got += line
			}
		}
		require.Same(t, calls, got, name)
		all := failing(1 << 20)
		require.NoError(t, write(&all))
		for k := range 1<<20 - all {
			if f := k; !errors.Is(write(&f), io.ErrShortWrite) {
				t.Errorf("%s: the error of write %d is lost", name, k)
			}
		}
	}
}

// TestLoopWithoutEnd: a WHILE whose condition stays true ends with its limit, with time and without, or with an earlier deadline.
func TestLoopWithoutEnd(t *testing.T) {
	d := gpuOf(t)
	p := require.V(d.PrepareModel(doubling(100, 0), hal.PrepareOptions{}))(t)
	const limit = "WHILE has not ended within 300µs of simulated time: "
	for _, c := range []struct {
		functional, engine bool
		deadline           time.Duration // 0: none
		want               string
	}{
		{want: limit + "stopped 300.0 us"},
		{deadline: time.Minute, want: limit + "stopped 300.0 us"},
		{functional: true, want: limit + "stopped 0.0 us"},
		{engine: true, deadline: 100 * time.Microsecond, want: "the deadline: stopped 100.0 us"},
	} {
		o := hal.ExecuteOptions{Functional: c.functional, EngineOnly: c.engine, LoopTimeout: 300 * time.Microsecond}
		if c.deadline > 0 {
			o.Deadline = hal.MakeDeadline(d, c.deadline)
		}
		if _, _, err := run(p, 1, o); hal.StatusOf(err) != hal.MissedDeadlineTransient || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLoopLimit: where time is not simulated, a loop may end in the call that is one before its limit.
func TestLoopLimit(t *testing.T) {
	p := require.V(gpuOf(t).PrepareModel(doubling(30, 2), hal.PrepareOptions{}))(t)
	const before = 11 * 100 * time.Microsecond // of five rounds and the sixth condition
	for limit, want := range map[time.Duration]hal.Status{before: hal.MissedDeadlineTransient, before + 1: hal.StatusNone} {
		if _, _, err := run(p, 1, hal.ExecuteOptions{Functional: true, LoopTimeout: limit}); hal.StatusOf(err) != want {
			t.Errorf("%v: %v", limit, err)
		}
	}
}

// TestLoopInLoop: the error of a loop in another that does not end names the one whose time it was.
func TestLoopInLoop(t *testing.T) {
	m := doubling(100, 0)
	m.Referenced[1] = nn.Subgraph{Operands: slices.Clone(m.Main.Operands), Operations: m.Main.Operations, Inputs: []uint32{0}, Outputs: []uint32{1}}
	m.Referenced[1].Operands[3].Data = []byte{3, 0, 0, 0}
	p := require.V(gpuOf(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	_, _, err := run(p, 1, hal.ExecuteOptions{Functional: true, LoopTimeout: 300 * time.Microsecond})
	if hal.StatusOf(err) != hal.MissedDeadlineTransient || strings.Count(err.Error(), "has not ended") != 1 {
		t.Error(err)
	}
}

// TestRefusedSubgraph: what a device does not accept in a subgraph is why it refuses the WHILE.
func TestRefusedSubgraph(t *testing.T) {
	m := doubling(30, 2)
	m.Referenced[3].Operations[0].Type = nn.OpOEM
	support, err := gpuOf(t).SupportedOperations(m)
	if err != nil || support[0].OK || support[0].Reason != "OEM_OPERATION is not supported" {
		t.Errorf("a WHILE that calls OEM_OPERATION: %+v, %v", support, err)
	}
}

// TestSharedSubgraphs: subgraphs that many operations call are compiled once: 2^24 paths through 24
// levels take no time. More than 32 levels are refused.
func TestSharedSubgraphs(t *testing.T) {
	for levels, refusal := range map[uint32]string{24: "", 31: "", 32: "subgraphs nest more than 32 deep"} {
		sharedSubgraphs(t, levels, refusal)
	}
}

func sharedSubgraphs(t *testing.T, levels uint32, refusal string) {
	t.Helper()
	truth := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: l}
	}
	level := func(k uint32) nn.Subgraph {
		ref := nn.SubgraphOperand(k)
		return nn.Subgraph{Operands: []nn.Operand{truth(nn.SubgraphInput), ref, ref, truth(nn.SubgraphOutput)}, Inputs: []uint32{0}, Outputs: []uint32{3},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 0}, Outputs: []uint32{3}}}}
	}
	m := &nn.Model{Main: level(0)}
	for k := range levels {
		m.Referenced = append(m.Referenced, level(k+1))
	}
	m.Referenced = append(m.Referenced, nn.Subgraph{Operands: []nn.Operand{truth(nn.SubgraphInput), truth(nn.SubgraphOutput)}, Inputs: []uint32{0}, Outputs: []uint32{1},
		Operations: []nn.Operation{{Type: nn.OpLogicalNot, Inputs: []uint32{0}, Outputs: []uint32{1}}}})
	p, err := gpuOf(t).PrepareModel(m, hal.PrepareOptions{})
	if refusal != "" {
		if err == nil || !strings.Contains(err.Error(), refusal) {
			t.Errorf("%d levels: %v", levels, err)
		}
		return
	}
	require.NoError(t, err)
	out := make([]byte, 1)
	if _, err := p.Execute((&hal.Buffers{Inputs: [][]byte{{1}}, Outputs: [][]byte{out}}).Request(), hal.ExecuteOptions{Functional: true}); err != nil || out[0] != 0 {
		t.Error(out, errors.Unwrap(err), err)
	}
}
