package nnrt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// branchingLoop is
//
//	while x < limit { x = x < 4 ? relu(x) + 1 : x * 2 }
//
// for a TENSOR_FLOAT32 x of one element, then relu6(x).
func branchingLoop(limit float32) *nn.Model {
	f32 := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: l}
	}
	number := func(v float32) nn.Operand {
		o := f32(nn.ConstantCopy)
		o.Data, _ = binary.Append(nil, binary.LittleEndian, v)
		return o
	}
	boolean := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: l}
	}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	ref := nn.SubgraphOperand
	in, temp, out := nn.SubgraphInput, nn.TemporaryVariable, nn.SubgraphOutput
	return &nn.Model{
		Main: nn.Subgraph{
			Operands: []nn.Operand{f32(in), f32(temp), f32(out), ref(0), ref(1)},
			Operations: []nn.Operation{
				{Type: nn.OpWhile, Inputs: []uint32{3, 4, 0}, Outputs: []uint32{1}},
				{Type: nn.OpRelu6, Inputs: []uint32{1}, Outputs: []uint32{2}},
			},
			Inputs: []uint32{0}, Outputs: []uint32{2},
		},
		Referenced: []nn.Subgraph{
			{
				Operands:   []nn.Operand{f32(in), number(limit), boolean(out)},
				Operations: []nn.Operation{{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}},
				Inputs:     []uint32{0}, Outputs: []uint32{2},
			},
			{
				Operands: []nn.Operand{f32(in), number(4), boolean(temp), ref(2), ref(3), f32(out)},
				Operations: []nn.Operation{
					{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
					{Type: nn.OpIf, Inputs: []uint32{2, 3, 4, 0}, Outputs: []uint32{5}},
				},
				Inputs: []uint32{0}, Outputs: []uint32{5},
			},
			{
				Operands: []nn.Operand{f32(in), f32(temp), number(1), none, f32(out)},
				Operations: []nn.Operation{
					{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
					{Type: nn.OpAdd, Inputs: []uint32{1, 2, 3}, Outputs: []uint32{4}},
				},
				Inputs: []uint32{0}, Outputs: []uint32{4},
			},
			{
				Operands:   []nn.Operand{f32(in), number(2), none, f32(out)},
				Operations: []nn.Operation{{Type: nn.OpMul, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
				Inputs:     []uint32{0}, Outputs: []uint32{3},
			},
		},
	}
}

// listing is the list of steps, one a line.
func listing(c *Compilation) []string {
	var l []string
	for i := range c.Steps() {
		s := c.Step(i)
		if j, ok := s.Prepared.(*jump); ok {
			var b bytes.Buffer
			_ = j.WriteListing(&b)
			l = append(l, strings.TrimSpace(strings.TrimPrefix(b.String(), ";")))
			continue
		}
		l = append(l, strings.TrimSpace(fmt.Sprint(s.Subgraph, " ", s.Operations, " on ", s.Device)))
	}
	return l
}

// TestControlFlowSteps: IF and WHILE are steps of one flat list with the parts of
// their subgraphs, each on the best device for it.
func TestControlFlowSteps(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpAdd: true, nn.OpIf: true, nn.OpWhile: true}}))(t)
	m := branchingLoop(100)
	c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
	want := []string{
		"WHILE: condition step 1, body step 3, exit step 10",
		"WHILE condition [0] on x",
		"GOTO step 0",
		"WHILE body [0] on x",
		"IF: then step 5, else step 8",
		"IF then [0] on x",
		"IF then [1] on cpu",
		"GOTO step 9",
		"IF else [0] on x",
		"GOTO step 0",
		"[1] on x",
	}
	require.Equal(t, want, listing(c), "steps")
	for _, x := range []float32{-3, 0.5, 7, 200} { // the last leaves at once
		in, _ := binary.Append(nil, binary.LittleEndian, x)
		want := require.V(cpudriver.Reference(m, [][]byte{in}))(t)
		for range 2 {
			res := require.V(c.Execute([][]byte{in}, ExecuteOptions{}))(t)
			require.Check(t, bytes.Equal(res.Outputs[0], want[0]), "x = %v: %v, want %v", x, res.Outputs[0], want[0])
			if err := addsUp(res); err != nil {
				t.Errorf("x = %v: %v", x, err)
			}
			require.Check(t, len(res.Fallbacks) == 0, "x = %v: fallbacks %v", x, res.Fallbacks)
		}
	}
}

// TestRounds: an execution says how often each WHILE tested and ran its body, and which branch an IF took.
func TestRounds(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpAdd: true, nn.OpIf: true, nn.OpWhile: true}}))(t)
	loop, branch := branchingLoop(100), branchingLoop(100)
	branch.Main = branch.Referenced[1] // x < 4 ? relu(x) + 1 : x * 2
	for _, c := range []struct {
		m    *nn.Model
		x    float32
		want map[int][2]int
	}{
		{loop, 200, map[int][2]int{0: {1, 0}}},
		{loop, 60, map[int][2]int{0: {2, 1}}},
		{loop, 3, map[int][2]int{0: {7, 6}}}, // 3, 4, 8, 16, 32, 64, 128
		{branch, 3, map[int][2]int{1: {1, 0}}},
		{branch, 4, map[int][2]int{1: {0, 1}}},
	} {
		in, _ := binary.Append(nil, binary.LittleEndian, c.x)
		k := require.V(Compile(r, c.m, ByStrategy, CompileOptions{}))(t)
		res := require.V(k.Execute([][]byte{in}, ExecuteOptions{}))(t)
		require.Equal(t, c.want, res.Rounds, "rounds from", c.x)
	}
}

// TestControlFlowOnCPU: without a device, with open shapes, with a strategy that does
// not interpret and without partitioning the CPU executes a WHILE as a whole.
func TestControlFlowOnCPU(t *testing.T) {
	open := branchingLoop(9)
	open.Main.Operands[1].Dimensions = []uint32{0}
	x := &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpIf: true, nn.OpWhile: true}}
	for name, c := range map[string]struct {
		m       *nn.Model
		devices []hal.Device
		target  string
		options CompileOptions
	}{
		"no device":            {branchingLoop(9), nil, ByStrategy, CompileOptions{}},
		"open shapes":          {open, []hal.Device{x}, ByStrategy, CompileOptions{}},
		"a device by its name": {branchingLoop(9), []hal.Device{x}, "x", CompileOptions{}},
		"no partitioning":      {branchingLoop(9), []hal.Device{x}, ByStrategy, CompileOptions{Partitioning: WithoutPartitioning}},
	} {
		r := require.V(registry.New(testCPU(), c.devices...))(t)
		k := require.V(Compile(r, c.m, c.target, c.options))(t)
		if s := k.Step(0); s.Device != "cpu" || s.Operations[0] != 0 {
			t.Errorf("%s: steps %q", name, listing(k))
		}
		for i := range k.Steps() {
			if _, ok := k.Step(i).Prepared.(*jump); ok {
				t.Errorf("%s: interprets, steps %q", name, listing(k))
			}
		}
	}
}

// TestSharedSubgraphs: 2^30 paths through 30 levels of subgraphs, each called twice by
// the one above, take no time, on devices that accept IF and on one that declines it.
func TestSharedSubgraphs(t *testing.T) {
	truth := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: l}
	}
	level := func(k uint32) nn.Subgraph {
		ref := nn.SubgraphOperand(k)
		return nn.Subgraph{Operands: []nn.Operand{truth(nn.SubgraphInput), ref, ref, truth(nn.SubgraphOutput)}, Inputs: []uint32{0}, Outputs: []uint32{3},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 0}, Outputs: []uint32{3}}}}
	}
	m := &nn.Model{Main: level(0)}
	for k := range uint32(30) {
		m.Referenced = append(m.Referenced, level(k+1))
	}
	m.Referenced = append(m.Referenced, nn.Subgraph{Operands: []nn.Operand{truth(nn.SubgraphInput), truth(nn.SubgraphOutput)}, Inputs: []uint32{0}, Outputs: []uint32{1},
		Operations: []nn.Operation{{Type: nn.OpLogicalNot, Inputs: []uint32{0}, Outputs: []uint32{1}}}})
	for _, declines := range []map[nn.OperationType]bool{nil, {nn.OpIf: true}, {nn.OpIf: true, nn.OpLogicalNot: true}} {
		c := require.V(Compile(require.V(registry.New(testCPU(), &picky{name: "x", declines: declines}))(t), m, ByStrategy, CompileOptions{}))(t)
		if res, err := c.Execute([][]byte{{1}}, ExecuteOptions{}); err != nil || !bytes.Equal(res.Outputs[0], []byte{0}) {
			t.Errorf("%v: %v, %v", declines, res, err)
		}
	}
}

// TestLoopTimeout: a WHILE that does not end misses its deadline, with and without a
// timing model, and nothing runs it again.
func TestLoopTimeout(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpIf: true, nn.OpWhile: true}}))(t)
	m := branchingLoop(100)
	m.Referenced[3].Operands[1].Data = make([]byte, 4) // x becomes 0 again and again
	c := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
	for _, functional := range []bool{false, true} {
		_, err := c.Execute([][]byte{make([]byte, 4)}, ExecuteOptions{Functional: functional, LoopTimeout: 20 * time.Microsecond})
		require.Check(t, hal.StatusOf(err) == hal.MissedDeadlineTransient, "functional %v: %v", functional, err)
	}
}

// TestControlFlowFallsBack: a part in a branch whose device fails runs on the CPU and
// is listed once under the IF or WHILE, however often it ran; a part that a device
// cannot prepare sends the whole model to the CPU, as in AOSP.
func TestControlFlowFallsBack(t *testing.T) {
	declines := map[nn.OperationType]bool{nn.OpIf: true, nn.OpWhile: true, nn.OpLess: true}
	m := branchingLoop(100)
	in := make([]byte, 4)
	want := require.V(cpudriver.Reference(m, [][]byte{in}))(t)
	for name, c := range map[string]struct {
		device   hal.Device
		steps    int
		compiled []string // the operations of the fallbacks, with the beginnings of their reasons
		executed []string
	}{
		"executing": {&failing{picky{name: "x", declines: declines}, hal.Errorf(hal.GeneralFailure, "lost")}, 10, nil, []string{
			"0 IF then, operation 0 (RELU): executing", "0 IF then, operation 1 (ADD): executing", "0 IF else, operation 0 (MUL): executing", "1 executing"}},
		"preparing": {&picky{name: "x", declines: declines, prepare: hal.Errorf(hal.GeneralFailure, "too large")}, 1, []string{
			"0 another part", "1 another part"}, nil},
	} {
		r := require.V(registry.New(testCPU(), c.device))(t)
		k := require.V(Compile(r, m, ByStrategy, CompileOptions{}))(t)
		res := require.V(k.Execute([][]byte{in}, ExecuteOptions{}))(t)
		require.Equal(t, want[0], res.Outputs[0], name)
		if k.Steps() != c.steps {
			t.Errorf("%s: steps %q", name, listing(k))
		}
		for what, l := range map[string][2]any{"compiling": {c.compiled, k.Fallbacks}, "executing": {c.executed, res.Fallbacks}} {
			want, got := l[0].([]string), l[1].([]Fallback)
			if len(want) != len(got) {
				t.Errorf("%s: fallbacks of %s: %v, want %q", name, what, got, want)
				continue
			}
			for i, f := range got {
				if text := fmt.Sprint(f.Operation, " ", f.Reason); !strings.HasPrefix(text, want[i]) {
					t.Errorf("%s: fallback of %s: %q, want %q", name, what, text, want[i])
				}
			}
		}
	}
}
