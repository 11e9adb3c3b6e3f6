package partition

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// flat is a problem of which every device supports everything: costs by device and operation; segments and bytes cost
// nothing. Operation i reads what operation i-1 writes.
func flat(costs ...[]Cost) *Problem {
	n := len(costs[0])
	inputs := make([][]int, n)
	for i := 1; i < n; i++ {
		inputs[i] = []int{i - 1}
	}
	p := &Problem{Graph: NewGraph(graph(inputs...))}
	for d := range costs {
		support := make([]hal.Support, n)
		for i := range support {
			support[i].OK = true
		}
		p.Devices = append(p.Devices, Device{Name: fmt.Sprint("device ", d), Support: support})
	}
	p.Costs = Costs{Operation: costs, Fixed: make([]Cost, len(costs)), PerByte: make([]Cost, len(costs))}
	return p
}

// TestScores: what each objective makes small.
func TestScores(t *testing.T) {
	for o, want := range map[Objective]float64{Latency: 3, Energy: 5, EnergyDelay: 15, Throughput: 7, FirstResult: 3} {
		require.Same(t, want, o.Score(3, 5, 7), o.String())
	}
}

// TestLinks: operation 0 of device 1 gives 10 bytes to operation 2 of the same device and 100 to operation 1 of device
// 2, which gives 1000 and 2000 to operation 2. The ten bytes alone stay in memory of a device.
func TestLinks(t *testing.T) {
	g := &Graph{
		Operations: []Operation{
			{Inputs: []int{0}, Outputs: []int{1, 2}},
			{Inputs: []int{2}, Outputs: []int{3, 4}},
			{Inputs: []int{1, 3, 4}, Outputs: []int{5}},
		},
		Values: []Value{
			{Bytes: 1, Producer: -1, Consumers: []int{0}},
			{Bytes: 10, Producer: 0, Consumers: []int{2}},
			{Bytes: 100, Producer: 0, Consumers: []int{1}},
			{Bytes: 1000, Producer: 1, Consumers: []int{2}},
			{Bytes: 2000, Producer: 1, Consumers: []int{2}},
			{Bytes: 4, Producer: 2, Output: true},
		},
	}
	links := Link(g, Steps(g, []int{1, 2, 1}, 3))
	require.Equal(t, []Links{
		{In: 1, Out: 110, Stays: 10},
		{Before: []int{0}, In: 100, Out: 3000, Transitions: 1, Moved: 100},
		{Before: []int{0, 1}, In: 3010, Out: 4, Stays: 10, Transitions: 1, Moved: 3000},
	}, links)
	for k, want := range [][2]int64{{101, 111}, {3100, 3100}, {3004, 3014}} {
		require.Same(t, want, [2]int64{links[k].moves(false), links[k].moves(true)}, "bytes of step", k)
	}
}

// TestInterpretedCosts: control flow in the runtime costs the rounds of what it calls, and so long are devices held.
func TestInterpretedCosts(t *testing.T) {
	p := flat([]Cost{{1000, 1000, 1000}})
	p.Graph.Operations[0].Type = nn.OpWhile.String()
	condition, body := flat([]Cost{{3, 2, 5}}), flat([]Cost{{7, 4, 11}})
	p.Control = []Control{{0, [2]uint32{1, 2}}}
	p.Subgraphs = map[uint32]*Problem{1: condition, 2: body}
	p.Costs.Subgraphs = map[uint32]Costs{1: condition.Costs, 2: body.Costs}
	p.Costs.Rounds = map[int][2]float64{0: {5, 4}}
	one := Plan{Device: []int{0}}
	e := require.V(p.Evaluate(Plan{Device: []int{p.drivers()}, Subgraphs: map[uint32]Plan{1: one, 2: one}}))(t)
	require.Same(t, 5*3+4*7, e.LatencyFs, "femtoseconds")
	require.Same(t, 5*5+4*11, e.EnergyPJ, "picojoules")
	require.Same(t, 5*2+4*4, e.load[0], "femtoseconds of the device")
}

// TestInStream: the latency among others of a stream grows by the mean factor of the devices, weighted by their times.
func TestInStream(t *testing.T) {
	p := flat([]Cost{{TimeFs: 3}, {TimeFs: 9}}, []Cost{{TimeFs: 9}, {TimeFs: 1}})
	plan := Plan{Device: []int{0, 1}}
	e := require.V(p.Evaluate(plan))(t)
	require.Same(t, 4.0/InFlight, e.IntervalFs, "without a factor")
	p.Costs.ScaleStream(0, 3)
	p.Costs.ScaleStream(1, 0.5)
	e = require.V(p.Evaluate(plan))(t)
	require.Same(t, 4*2.375/InFlight, e.IntervalFs, "with factors of 3 for 3 fs and 0.5 for 1 fs")
}

// TestCutCost: an edge between two devices costs its bytes on both and half of either's fixed cost.
func TestCutCost(t *testing.T) {
	c := &cutter{table: &table{devices: 2, fixed: []float64{2, 6}, perByte: []float64{1, 3}}}
	for _, ends := range [][2]int{{0, 1}, {1, 0}} {
		require.Same(t, 44, c.cutCost(dataEdge{bytes: 10}, ends[0], ends[1]), "between", ends)
	}
}

// TestCheapest: of devices that cost as much the first has an operation: the CPU before drivers.
func TestCheapest(t *testing.T) {
	c := &table{devices: 3, op: []float64{4, 4, 4, 9, 2, 2}}
	require.Equal(t, []int{0, 1}, []int{c.cheapest(0), c.cheapest(1)})
}

// TestReach: an interval that takes just the limit is within it: 1 fixed, 1 for each operation and 5 for the last, 2 for
// each byte that crosses its ends.
func TestReach(t *testing.T) {
	s := &splitter{
		table: &table{devices: 1, fixed: []float64{1}, perByte: []float64{2}}, n: 4,
		sum: [][]float64{{0, 1, 2, 3, 8}}, refused: [][]int{{4, 4, 4, 4, 4}}, cut: []edge{{}, {cut: 3}, {cut: 1}, {cut: 2}},
	}
	for _, c := range []struct {
		from  int
		limit float64
		want  int
	}{{0, 4.75, 0}, {0, 5, 2}, {0, 7.75, 2}, {0, 8, 3}, {0, 8.75, 3}, {0, 9, 4}, {1, 9.75, 1}, {1, 10, 2}, {1, 12.75, 2}, {1, 13, 3}, {1, 14, 4}} {
		require.Same(t, c.want, s.reach(c.from, 0, c.limit), "from", c.from, "within", c.limit)
	}
}

// TestMostTakes: a file of takes has a most of lines.
func TestMostTakes(t *testing.T) {
	lines := strings.Repeat("gpu 0\n", maxTakes)
	l := require.V(ReadTakes(strings.NewReader(lines)))(t)
	require.Same(t, maxTakes, len(l), "lines")
	_, err := ReadTakes(strings.NewReader(lines + "gpu 0\n"))
	require.ErrorContains(t, err, "line 10001: more than 10000 lines")
}

// TestPredictedPlanRuns: a plan whose costs are predicted has not run: Solve runs the one that it returns, and its costs
// are those of the run.
func TestPredictedPlanRuns(t *testing.T) {
	for _, s := range []Strategy{Single(0), BranchAndBound{}} {
		p := flat([]Cost{{TimeFs: 1}}, []Cost{{TimeFs: 9}})
		ran := 0
		p.Costs.Predict = func(Plan) (*Run, error) { return &Run{LatencyFs: 5, Predicted: true}, nil }
		p.Costs.Measure = func(Plan) (*Run, error) { ran++; return &Run{LatencyFs: 6}, nil }
		plan, e := require.V2(Solve(p, s))(t, s.Name())
		require.Check(t, ran > 0 && !p.Costs.Ran(plan).Predicted && e.LatencyFs == 6, "%s: %d runs, %v fs", s.Name(), ran, e.LatencyFs)
	}
}

// TestPrudent: a predicted plan must be better than the best that ran by more than the margin.
func TestPrudent(t *testing.T) {
	p := flat([]Cost{{TimeFs: 1}}, []Cost{{TimeFs: 1}})
	ran, predicted := Plan{Device: []int{0}}, Plan{Device: []int{1}}
	chosen := func(margin float64, want Plan) {
		t.Helper()
		require.Equal(t, want, require.V(p.Prudent(margin))(t))
	}
	p.Costs.SetRun(predicted, &Run{LatencyFs: 75, Predicted: true})
	chosen(0.5, predicted) // nothing ran
	p.Costs.SetRun(ran, &Run{LatencyFs: 100})
	chosen(0.5, ran)
	chosen(0.25, ran)
	chosen(0.125, predicted)
	chosen(0, predicted)
}
