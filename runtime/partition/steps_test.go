package partition

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// graph is a graph of unary operations: each entry lists the operations whose
// results it reads.
func graph(inputs ...[]int) *nn.Subgraph {
	g := &nn.Subgraph{Inputs: []uint32{0}}
	g.Operands = make([]nn.Operand, 1+len(inputs))
	g.Operands[0] = nn.Operand{Type: nn.TensorQuant8Asymm, Lifetime: nn.SubgraphInput}
	for i, from := range inputs {
		op := nn.Operation{Type: nn.OpRelu, Outputs: []uint32{uint32(i + 1)}}
		g.Operands[i+1] = nn.Operand{Type: nn.TensorQuant8Asymm}
		for _, f := range from {
			op.Inputs = append(op.Inputs, uint32(f+1))
		}
		if len(from) == 0 {
			op.Inputs = []uint32{0}
		}
		g.Operations = append(g.Operations, op)
	}
	return g
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		g      *nn.Subgraph
		assign []int
		want   []Step
	}{
		{"one device", graph(nil, []int{0}, []int{1}), []int{1, 1, 1}, []Step{{1, []int{0, 1, 2}}}},
		{"alternating", graph(nil, []int{0}, []int{1}), []int{1, 0, 1}, []Step{{1, []int{0}}, {0, []int{1}}, {1, []int{2}}}},
		// Both branches of device 1 join one step, whatever lies between them.
		{"branches", graph(nil, []int{0}, []int{0}, []int{1, 2}), []int{1, 0, 1, 1}, []Step{{1, []int{0, 2}}, {0, []int{1}}, {1, []int{3}}}},
		{"operations out of reach of each other", graph(nil, nil), []int{1, 0}, []Step{{0, []int{1}}, {1, []int{0}}}},
		{"the last device first, after the CPU", graph(nil, nil, nil), []int{1, 0, 2}, []Step{{0, []int{1}}, {2, []int{2}}, {1, []int{0}}}},
	} {
		require.Equal(t, c.want, Steps(NewGraph(c.g), c.assign, 3), c.name)
	}
}

// TestStepsOfParts: a join and the branch behind it are one step, and the other branch waits for both; in parts of their own the
// branches begin together.
func TestStepsOfParts(t *testing.T) {
	g := NewGraph(graph(nil, []int{0}, []int{0}, []int{1, 2})) // 0 forks into 1 on the CPU and 2 on device 1, which 3 joins
	device := []int{0, 0, 1, 0}
	require.Equal(t, []Step{{0, []int{0, 1}}, {1, []int{2}}, {0, []int{3}}}, stepsOf(g, Plan{Device: device}, 2), "without parts")
	steps := stepsOf(g, Plan{Device: device, Part: []int{7, 90000, 8, 90001}}, 2)
	require.Equal(t, []Step{{0, []int{0}}, {0, []int{1}}, {1, []int{2}}, {0, []int{3}}}, steps, "with parts")
	start, end := Schedule(steps, Link(g, steps), []int64{1, 5, 4, 1}, false)
	require.Check(t, start[1] == 1 && start[2] == 1 && end == 7, "%v, %d", start, end)
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 { // every operation is in one step, behind what it reads, whatever the parts
		n := 2 + random.IntN(9)
		var inputs [][]int
		p := Plan{}
		for i := range n {
			var from []int
			for k := range i {
				if random.IntN(3) == 0 {
					from = append(from, k)
				}
			}
			inputs, p.Device, p.Part = append(inputs, from), append(p.Device, random.IntN(2)), append(p.Part, random.IntN(3))
		}
		done := map[int]bool{}
		for _, s := range stepsOf(NewGraph(graph(inputs...)), p, 2) {
			for _, op := range s.Operations {
				require.Check(t, !done[op] && p.Device[op] == s.Device && p.Part[op] == p.Part[s.Operations[0]], "operation %d of %v in %v", op, p, s)
				for _, k := range inputs[op] {
					require.Check(t, done[k], "operation %d before %d: %v", op, k, p)
				}
				done[op] = true
			}
		}
		require.Same(t, n, len(done), "operations in steps")
	}
	a, b := planKey(Plan{Device: device}), planKey(Plan{Device: device, Part: []int{0, 1, 1, 1}})
	require.Check(t, a != b && b == planKey(Plan{Device: device, Part: []int{3, 9, 9, 9}}) && b != planKey(Plan{Device: device, Part: []int{0, 1, 1, 2}}), "keys")
}

// TestSchedule: two steps that read the same input overlap on two devices, the
// third waits for both; in sequence nothing overlaps.
func TestSchedule(t *testing.T) {
	g := NewGraph(graph(nil, nil, []int{0, 1}))
	steps := Steps(g, []int{1, 2, 0}, 3)
	links := Link(g, steps)
	start, end := Schedule(steps, links, []int64{7, 5, 1}, false)
	if diff := cmp.Diff([]int64{0, 0, 7}, start); diff != "" || end != 8 {
		t.Errorf("ends at %d, (-want +got):\n%s", end, diff)
	}
	if _, end := Schedule(steps, links, []int64{7, 5, 1}, true); end != 13 {
		t.Errorf("in sequence: ends at %d", end)
	}
}

// TestScheduleProperties: over random graphs and placements no device does two steps at once, no step begins before
// what it reads is there, none waits without a cause, and the end is that of the last.
func TestScheduleProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var inputs [][]int
		var assign []int
		for k := range 2 + r.IntN(10) {
			var from []int
			for range r.IntN(3) {
				if k > 0 {
					from = insert(from, r.IntN(k))
				}
			}
			inputs, assign = append(inputs, from), append(assign, r.IntN(3))
		}
		g := NewGraph(graph(inputs...))
		steps := Steps(g, assign, 3)
		links := Link(g, steps)
		took := make([]int64, len(steps))
		for k := range took {
			took[k] = 1 + r.Int64N(9)
		}
		start, end := Schedule(steps, links, took, false)
		last := int64(0)
		for k := range steps {
			causes := []int64{0}
			for _, b := range links[k].Before {
				causes = append(causes, start[b]+took[b])
			}
			for j := range k {
				if steps[j].Device == steps[k].Device {
					causes = append(causes, start[j]+took[j])
				}
			}
			require.Same(t, slices.Max(causes), start[k], "start of step", k, "of", inputs, "on", assign)
			last = max(last, start[k]+took[k])
		}
		require.Same(t, last, end, "end of", inputs, "on", assign)
	}
}

func candidate(exec, power float32, ok ...bool) Device {
	c := Device{Capabilities: hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{
		nn.TensorQuant8Asymm: {ExecTime: exec, PowerUsage: power},
	}}}
	for _, x := range ok {
		c.Support = append(c.Support, hal.Support{OK: x})
	}
	return c
}

func problem(m *nn.Model, pref hal.Preference, devices ...Device) *Problem {
	return &Problem{Model: m, Graph: NewGraph(&m.Main), Preference: pref, Devices: devices}
}

func TestAOSP(t *testing.T) {
	m := &nn.Model{Main: *graph(nil, []int{0}, []int{1})}
	c := []Device{
		candidate(1, 1, true, true, true),
		candidate(0.5, 0.9, true, true, false),
		candidate(0.7, 0.2, true, false, false),
	}
	if got, err := (AOSP{}).Plan(problem(m, hal.FastSingleAnswer, c...)); err != nil || !slices.Equal(got.Device, []int{1, 1, 0}) {
		t.Errorf("by time: %v, %v", got, err)
	}
	if got, err := (AOSP{}).Plan(problem(m, hal.LowPower, c...)); err != nil || !slices.Equal(got.Device, []int{2, 1, 0}) {
		t.Errorf("by power: %v, %v", got, err)
	}
	c[1] = candidate(1, 1, true, true, true) // no better than the CPU
	if got, err := (AOSP{}).Plan(problem(m, hal.FastSingleAnswer, c[:2]...)); err != nil || !slices.Equal(got.Device, []int{0, 0, 0}) {
		t.Errorf("a tie: %v, %v", got, err)
	}
	c[1], c[2] = candidate(0.5, 1, true, true, true), candidate(0.5, 1, true, true, true)
	if got, err := (AOSP{}).Plan(problem(m, hal.FastSingleAnswer, c...)); err != nil || !slices.Equal(got.Device, []int{1, 1, 1}) {
		t.Errorf("a tie of devices: %v, %v", got, err)
	}
}

// TestAOSPControlFlow: on the CPU an IF counts 1 and the mean of its branches, of three
// operations each, as on a driver; what the CPU wins is the runtime's where that can execute it.
func TestAOSPControlFlow(t *testing.T) {
	branch := *graph(nil, []int{0}, []int{1})
	subgraph := nn.SubgraphOperand
	m := &nn.Model{Referenced: []nn.Subgraph{branch, branch}, Main: nn.Subgraph{
		Operands: []nn.Operand{{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}, subgraph(0), subgraph(1),
			branch.Operands[branch.Inputs[0]], {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1}, Scale: 1, Lifetime: nn.SubgraphOutput}},
		Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
		Inputs:     []uint32{0, 3}, Outputs: []uint32{4},
	}}
	cpu, driver := candidate(1, 1, true), candidate(0.5, 0.5, true)
	cpu.Capabilities.If = hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}
	for figure, want := range map[float32]int{2: 1, 2.5: 0, 3: 0} { // and 1.5 beside the CPU's 1 and 3
		driver.Capabilities.If = hal.PerformanceInfo{ExecTime: figure, PowerUsage: figure}
		p := problem(m, hal.FastSingleAnswer, cpu, driver)
		if got, err := (AOSP{}).Plan(p); err != nil || !slices.Equal(got.Device, []int{want}) {
			t.Errorf("IF of %v: %v, %v", figure, got, err)
		}
		p.Control, p.Subgraphs = []Control{{0, [2]uint32{0, 1}}}, map[uint32]*Problem{}
		for k := range uint32(2) {
			three := candidate(1, 1, true, true, true)
			p.Subgraphs[k] = problem(&nn.Model{Main: branch}, hal.FastSingleAnswer, three, candidate(0.5, 0.5, true, true, false))
		}
		got, err := Make(p, AOSP{})
		require.Check(t, err == nil && p.interprets(got) == (want == 0), "IF of %v: %v, %v", figure, got, err)
		if want == 0 && !slices.Equal(got.Subgraphs[1].Device, []int{1, 1, 0}) {
			t.Errorf("IF of %v: the branches are on %v", figure, got.Subgraphs)
		}
	}
}

func TestSingle(t *testing.T) {
	m := &nn.Model{Main: *graph(nil, []int{0})}
	p := problem(m, hal.FastSingleAnswer, candidate(1, 1, true, true), candidate(9, 9, false, true))
	if got, err := Single(1).Plan(p); err != nil || !slices.Equal(got.Device, []int{0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestUnreadPart: a part that nothing outside reads, the dead end of a model, has the values
// that nothing inside reads either as its outputs. Others have only what is read.
func TestUnreadPart(t *testing.T) {
	f := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: l}
	}
	relu := func(in, out uint32) nn.Operation {
		return nn.Operation{Type: nn.OpRelu, Inputs: []uint32{in}, Outputs: []uint32{out}}
	}
	temp := nn.TemporaryVariable
	m := &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{f(nn.SubgraphInput), f(nn.SubgraphOutput), f(temp), f(temp), f(temp)},
		Operations: []nn.Operation{relu(0, 1), relu(1, 2), relu(2, 3), relu(1, 4)},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
	for _, x := range []struct {
		operations []int
		outputs    string
		unread     bool
	}{{[]int{0}, "[1]", false}, {[]int{1, 2, 3}, "[3 4]", true}, {[]int{1}, "[2]", false}, {[]int{0, 1, 2, 3}, "[1]", false}} {
		p := Extract(m, x.operations)
		if got := fmt.Sprint(p.Outputs); got != x.outputs || p.Unread != x.unread || len(p.Model.Main.Outputs) != len(p.Outputs) {
			t.Errorf("operations %v: outputs %v, unread %v; want %s, %v", x.operations, got, p.Unread, x.outputs, x.unread)
		}
	}
}

// TestPlanWithParts: a plan file's parts reach the steps, come back by Named, and must be as many as its operations.
func TestPlanWithParts(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(31, 32)), 3, 2, true)
	f := require.V(ReadPlan("mine", []byte(`{"devices": ["a", "a", "a"], "parts": [4, 4, 9]}`)))(t)
	plan := require.V(f.Plan(p))(t)
	require.Equal(t, []Step{{0, []int{0, 1}}, {0, []int{2}}}, p.Steps(plan), "steps")
	require.Equal(t, plan, require.V(p.Named("again", plan).Plan(p))(t), "Named")
	_, err := require.V(ReadPlan("mine", []byte(`{"devices": ["a", "a", "a"], "parts": [4]}`)))(t).Plan(p)
	require.Check(t, err != nil && strings.Contains(err.Error(), "parts of 1 operations, there are 3"), "%v", err)
}
