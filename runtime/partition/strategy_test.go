package partition

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestOptimal: dp is optimal on chains, branch-bound on every graph and objective, and
// nothing is better than the best of all assignments.
func TestOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 120 {
		chain := k%2 == 0
		p := randomProblem(r, 2+r.IntN(6), 2+r.IntN(2), chain)
		p.Objective = Objective(k / 2 % 4)
		for d := range p.Devices {
			p.Costs.ScaleStream(d, 0.4+0.15*float64(k%5)*float64(d))
			p.Costs.ScaleEngine(d, 1/float64(1+k%9)) // so that latencies bound streams as well
		}
		want := bruteForce(p)
		for _, s := range append(polynomial(p), BranchAndBound{}, Auto{}) {
			plan := require.V(s.Plan(p))(t, s.Name())
			e := require.V(p.Evaluate(plan))(t, s.Name())
			off := e.Score/want - 1
			exact := s == BranchAndBound{} || s == Auto{} || chain && s == DP{} && p.Objective < EnergyDelay
			if off < -1e-9 || exact && off > 1e-9 || math.IsNaN(off) {
				t.Errorf("problem %d, %s, %v: score %v, the best is %v", k, s.Name(), p.Objective, e.Score, want)
			}
			if s == (BranchAndBound{}) && !plan.Proven {
				t.Errorf("problem %d: branch-bound did not end its search of %d operations", k, len(plan.Device))
			}
		}
	}
}

// TestOptimalControlFlow: with the runtime as an additional device, branch-bound is optimal as well, no
// strategy is better, and plans include the division of their subgraphs.
func TestOptimalControlFlow(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	interpreted := 0
	for k := range 80 {
		p := randomProblem(r, 2+r.IntN(4), 2+r.IntN(2), false)
		p.Objective = Objective(k % 4)
		op := r.IntN(len(p.Graph.Operations))
		p.Graph.Operations[op].Type = nn.OpWhile.String()
		p.Control = []Control{{op, [2]uint32{4, 7}}}
		p.Costs.Operation[0][op] = p.Costs.Operation[0][op].Times(10)
		p.Costs.Rounds = map[int][2]float64{op: {2, 1}}
		p.Subgraphs, p.Costs.Subgraphs = map[uint32]*Problem{}, map[uint32]Costs{}
		for _, s := range p.Control[0].Subgraphs {
			p.Subgraphs[s] = randomProblem(r, 1+r.IntN(3), len(p.Devices), false)
			p.Costs.Subgraphs[s] = p.Subgraphs[s].Costs
		}
		for _, s := range []Strategy{GreedyMerge{}, DP{}, MinCut{}, Pipeline{}, BranchAndBound{}, Auto{}} {
			plan, err := Make(p, s)
			require.NoError(t, err, s.Name())
			e := require.V(p.Evaluate(plan))(t, s.Name())
			with := *p
			with.planned = map[uint32]Plan{}
			for _, x := range p.Control[0].Subgraphs {
				sub, _ := p.subgraph(x)
				if with.planned[x], err = Make(sub, s); err != nil {
					t.Fatal(err)
				}
			}
			require.NoError(t, with.addInterpreter())
			off := e.Score/bruteForce(&with) - 1
			exact := s == BranchAndBound{} || s == Auto{}
			if off < -1e-9 || exact && off > 1e-9 || math.IsNaN(off) {
				t.Errorf("problem %d, %s, %v: score %v, %v beside the best", k, s.Name(), p.Objective, e.Score, off)
			}
			if p.interprets(plan) {
				interpreted++
			}
			if bare := (Plan{Device: plan.Device}); p.interprets(plan) && p.CheckPlan(bare) == nil {
				t.Errorf("problem %d: %v without plans of its subgraphs", k, bare)
			}
		}
	}
	require.Check(t, interpreted >= 80 && interpreted <= 400, "%d of 480 plans interpret", interpreted)
}

// TestMinCutTwoDevices: with two devices the cut is the optimum of the sum that
// MinCut states.
func TestMinCutTwoDevices(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 100 {
		p := randomProblem(r, 2+r.IntN(8), 2, false)
		c := newCutter(p)
		sum := func(device []int) (s float64) {
			for i, d := range device {
				s += c.op[i*2+d]
			}
			for _, e := range c.edges {
				if a, b := device[e.from], device[e.to]; a != b {
					s += c.cutCost(e, a, b)
				}
			}
			return s
		}
		n := len(p.Graph.Operations)
		best := math.Inf(1)
		device := make([]int, n)
		for bits := range 1 << n {
			for i := range device {
				device[i] = bits >> i & 1
			}
			best = min(best, sum(device))
		}
		plan := require.V(MinCut{}.Plan(p))(t)
		if got := sum(plan.Device); !(math.Abs(got-best) <= 1e-6*best) {
			t.Errorf("problem %d: cut of %v, the least is %v", k, got, best)
		}
	}
}

// TestPipeline: two devices that are equally fast share a stream.
func TestPipeline(t *testing.T) {
	p := randomProblem(rand.New(rand.NewPCG(5, 6)), 40, 2, true)
	p.Objective = Throughput
	for d := range p.Devices {
		for i := range p.Graph.Operations {
			p.Devices[d].Support[i].OK = true
			p.Costs.Operation[d][i] = Cost{100, 100, 1}
		}
		p.Costs.Fixed[d], p.Costs.PerByte[d] = Cost{10, 10, 1}, Cost{}
	}
	plan := require.V(Pipeline{}.Plan(p))(t)
	e := require.V(p.Evaluate(plan))(t)
	if e.IntervalFs > 2300 { // 2010 is the optimum, one device alone needs 4010
		t.Errorf("%v between results", e.IntervalFs)
	}
}

// TestSolve: a strategy that plans by estimates far too low ends with a plan
// that ran, and auto with one that is no slower than any device. What is proven is so by all that is known in the end.
func TestSolve(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	proven := false
	for k := range 40 {
		p := randomProblem(r, 6, 3, false)
		truth := *p
		measured := 0
		p.Costs.Measure = func(plan Plan) (*Run, error) {
			measured++
			e, err := truth.Evaluate(plan)
			if err != nil {
				return nil, err
			}
			run := &Run{LatencyFs: e.LatencyFs, EnergyPJ: e.EnergyPJ}
			for k, l := range Link(p.Graph, e.Steps) {
				c := truth.segment(&e.Steps[k], l.moves(plan.Sequential))
				more := float64(len(e.Steps[k].Operations) % 3)
				run.Segments = append(run.Segments, Segment{Device: e.Steps[k].Device, Operations: e.Steps[k].Operations, Cost: c.Times(1 + more)})
				run.LatencyFs += more * c.TimeFs
			}
			return run, nil
		}
		for _, s := range append(polynomial(p), BranchAndBound{}, Auto{}) {
			plan, e := require.V2(Solve(p, s))(t)
			if p.Costs.Ran(plan) == nil {
				t.Fatalf("problem %d, %s: the plan was not measured", k, s.Name())
			}
			if best := bruteForce(p); plan.Proven && e.Score > best*(1+1e-9) {
				t.Errorf("problem %d, %s: %v is proven, another plan takes %v", k, s.Name(), e.Score, best)
			}
			if proven = proven || plan.Proven; s != (Auto{}) {
				continue
			}
			for d := range p.Devices {
				one := require.V(Single(d).Plan(p))(t)
				if x, err := p.Evaluate(one); err != nil || x.Score < e.Score*(1-1e-9) {
					t.Errorf("problem %d: auto %v %v, device %d alone %v, error %v", k, plan.Device, e.Score, d, x.Score, err)
				}
			}
		}
		require.Check(t, measured != 0, "nothing was measured")
	}
	require.Check(t, proven, "nothing is proven")
}

// TestSolveIsNotBeaten: if plans have their predicted costs, which are not the sums of their parts, no strategy finds a better
// plan that branch-bound and auto have not seen.
func TestSolveIsNotBeaten(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for k := range 16 {
		p := randomProblem(r, 12, 3, false)
		truth := *p
		run := func(plan Plan) (*Run, error) {
			e, err := truth.evaluate(plan, nil)
			if err != nil {
				return nil, err
			}
			return &Run{LatencyFs: e.LatencyFs * (1 + 0.3*float64(len(e.Steps)%3)), EnergyPJ: e.EnergyPJ}, nil
		}
		p.Costs.Measure = run
		p.Costs.Predict = func(plan Plan) (*Run, error) {
			x, err := run(plan)
			if x != nil {
				x.Predicted = true
			}
			return x, err
		}
		score := func(s Strategy) float64 {
			q := *p
			q.Costs = p.Costs.Clone()
			_, e := require.V2(Solve(&q, s))(t)
			return e.Score
		}
		for _, exact := range []Strategy{BranchAndBound{}, Auto{}} {
			best := score(exact)
			for _, s := range polynomial(p) {
				if x := score(s); x < best*(1-1e-9) {
					t.Errorf("problem %d: %s %v, %s %v", k, exact.Name(), best, s.Name(), x)
				}
			}
		}
	}
}

// TestSolveGivesUp: if every plan costs twice its estimate, branch-bound and auto run a few and
// return the best that ran, even if it was not their choice.
func TestSolveGivesUp(t *testing.T) {
	for _, s := range []Strategy{BranchAndBound{}, Auto{}} {
		p := randomProblem(rand.New(rand.NewPCG(9, 10)), 24, 3, false)
		one := require.V(Single(0).Plan(p))(t)
		p.Costs.SetRun(p.Canonical(one), &Run{LatencyFs: 1})
		measured := 0
		p.Costs.Measure = func(plan Plan) (*Run, error) {
			measured++
			e, err := p.Evaluate(plan)
			if err != nil {
				return nil, err
			}
			return &Run{LatencyFs: 2 + e.LatencyFs}, nil
		}
		// Estimates of all other plans are lower, so that they are tried.
		for d := range p.Devices {
			for i := range p.Costs.Operation[d] {
				p.Costs.Operation[d][i] = p.Costs.Operation[d][i].Times(1e-6)
			}
			p.Costs.Fixed[d], p.Costs.PerByte[d] = Cost{}, Cost{}
		}
		plan, e := require.V2(Solve(p, s))(t)
		if e.LatencyFs != 1 || slices.Max(plan.Device) != 0 || measured == 0 || measured > solveIdle+1 {
			t.Errorf("%s: plan %v of %v after %d others ran, want all on device 0", s.Name(), plan.Device, e.LatencyFs, measured)
		}
	}
}

// BenchmarkPlan plans graphs of 1000 operations.
func BenchmarkPlan(b *testing.B) {
	for _, shape := range []string{"chain", "graph"} {
		p := randomProblem(rand.New(rand.NewPCG(9, 10)), 1000, 4, shape == "chain")
		p.Model = &nn.Model{Main: *graph(make([][]int, 1000)...)} // for aosp, which reads types of operands
		for _, s := range append(polynomial(p), BranchAndBound{}) {
			b.Run(fmt.Sprintf("%s/%s", shape, s.Name()), func(b *testing.B) {
				for b.Loop() {
					require.V(s.Plan(p))(b)
				}
			})
		}
	}
}

// refusing answers for a problem with control flow and fails for all others.
type refusing struct{}

func (refusing) Name() string { return "refusing" }

func (refusing) Plan(p *Problem) (Plan, error) {
	if len(p.Control) == 0 {
		return Plan{}, errors.New("no idea")
	}
	return Single(0).Plan(p)
}

// TestStrategyFailsForSubgraph: a strategy that fails for a subgraph has failed.
func TestStrategyFailsForSubgraph(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := randomProblem(r, 3, 2, true)
	p.Control, p.Subgraphs = []Control{{1, [2]uint32{0, 1}}}, map[uint32]*Problem{0: randomProblem(r, 2, 2, true), 1: randomProblem(r, 2, 2, true)}
	p.Costs.Subgraphs = map[uint32]Costs{0: p.Subgraphs[0].Costs, 1: p.Subgraphs[1].Costs}
	require.V(Make(p, Single(0)))(t)
	if _, err := Make(p, refusing{}); err == nil || err.Error() != "subgraph 0: no idea" {
		t.Errorf("error %v", err)
	}
}

// TestDelegate: engines take operations in the order of the file, or all that they support, and what they cannot take is named.
func TestDelegate(t *testing.T) {
	p := &Problem{Graph: &Graph{Operations: []Operation{{Type: "CONV_2D"}, {Type: "ADD"}, {Type: "CONV_2D"}, {Type: "SOFTMAX"}}}}
	all := make([]hal.Support, 4)
	for i := range all {
		all[i].OK = true
	}
	some := slices.Clone(all)
	some[3] = hal.Support{Reason: "no SOFTMAX"}
	p.Devices = []Device{{Name: "cpu", Support: all}, {Name: "gpu", Support: some}, {Name: "dsp", Support: all}}
	for _, c := range []struct {
		file string
		want []int
		fail string
	}{
		{"", []int{1, 1, 1, 2}, ""},
		{"dsp CONV_2D # first\n\ngpu 0-2\n", []int{2, 1, 2, 0}, ""},
		{"gpu 1\ngpu 0\n", []int{1, 1, 0, 0}, ""},
		{"npu ADD", nil, `no device "npu"; there are cpu, gpu, dsp`},
		{"gpu 2-4", nil, "gpu takes operation 4; the network has 4"},
		{"gpu SOFTMAX", nil, "operation 3 (SOFTMAX), which it does not support: no SOFTMAX"},
		{"gpu", nil, "line 1: gpu takes nothing"},
		{"# none\n", nil, "no line names an engine"},
		{"gpu CONV", nil, `no type of operation is called "CONV"`},
		{"gpu 3-1", nil, `"3-1" is no range`},
		{"gpu 0x", nil, `"0x" is no range`},
	} {
		var s Delegate
		var err error
		if c.file != "" {
			s.Takes, err = ReadTakes(strings.NewReader(c.file))
		}
		var plan Plan
		if err == nil {
			plan, err = s.Plan(p)
		}
		if c.fail != "" {
			require.ErrorContains(t, err, c.fail, c.file)
			continue
		}
		require.NoError(t, err, c.file)
		require.Equal(t, c.want, plan.Device, c.file)
	}
}

// TestBranches: branches is no worse than any single device, and of a fork it runs one branch elsewhere while the other runs here.
func TestBranches(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for k := range 60 {
		p := randomProblem(r, 2+r.IntN(9), 2+r.IntN(2), false)
		p.Objective = Objective(k % 4)
		e := require.V(p.Evaluate(require.V(Branches{}.Plan(p))(t)))(t)
		for d := range p.Devices {
			one := require.V(p.Evaluate(require.V(Single(d).Plan(p))(t)))(t)
			steps := require.V(p.Evaluate(Plan{Device: require.V(Single(d).Plan(p))(t).Device}))(t) // a plan of Single is sequential
			require.Check(t, e.Score <= min(one.Score, steps.Score)*(1+1e-9), "problem %d: %v, device %d %v", k, e.Score, d, one.Score)
		}
	}
	p := &Problem{Graph: NewGraph(graph(nil, []int{0}, []int{1}, []int{0}, []int{3}, []int{2, 4}))} // two branches of two operations
	for d := range 2 {
		costs, support := make([]Cost, 6), make([]hal.Support, 6)
		for i := range costs {
			costs[i], support[i].OK = Cost{TimeFs: float64(10 + d)}, true
		}
		p.Devices = append(p.Devices, Device{Name: string(rune('a' + d)), Support: support})
		p.Costs.Operation = append(p.Costs.Operation, costs)
		p.Costs.Fixed, p.Costs.PerByte = append(p.Costs.Fixed, Cost{TimeFs: float64(d)}), append(p.Costs.PerByte, Cost{})
	}
	plan := require.V(Branches{}.Plan(p))(t)
	e := require.V(p.Evaluate(plan))(t)
	require.Check(t, e.LatencyFs == 10+23+10, "%v: %v, want the fork, a branch of 22 with its call, the join", plan, e.LatencyFs)
}
