package partition

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Problem is a model to be partitioned. Device 0 is the CPU, which supports
// every operation, so that there is always a plan.
type Problem struct {
	Model      *nn.Model // nil for a problem made by hand
	Graph      *Graph
	Devices    []Device
	Preference hal.Preference
	Objective  Objective
	Expression *Expression // takes the place of Objective, which is Latency; nil: there is none
	Costs      Costs
	Seeds      []Plan // that branch-bound and auto must not fall behind
	Runs       int    // plans that Solve may run for a strategy; 0 is as many as help, a negative number none

	// Placed are operations that one device must run, whatever a strategy plans: devices by operation. All others, but the
	// CPU, do not support them.
	Placed map[int]int

	// Control is the control flow that the runtime can execute, and Subgraphs are the
	// problems of what it calls, by index of the model's subgraphs, on the same devices.
	Control   []Control
	Subgraphs map[uint32]*Problem

	planned map[uint32]Plan // of Subgraphs, while a strategy plans the model
}

// Device is a device and its support of the model.
type Device struct {
	Name         string
	Driver       hal.Device // nil for a problem made by hand
	Capabilities hal.Capabilities
	Support      []hal.Support // per operation of the main subgraph

	interprets bool // it is the runtime
}

// Objective is what a plan is to make small.
type Objective int

// Objectives.
const (
	Latency     Objective = iota // simulated time from request to result
	Energy                       // energy of all devices
	EnergyDelay                  // their product
	Throughput                   // time between results of a stream; see Evaluation.IntervalFs
	FirstResult                  // time of compiling and of an execution on a cold phone
)

// InFlight is how many inputs of a stream are in flight at most: each needs a thread
// and buffers of the application.
const InFlight = 8

var objectiveNames = [...]string{"latency", "energy", "energy-delay", "throughput", "first-result"}

// Objectives lists all objectives by name.
func Objectives() []string { return objectiveNames[:] }

// String is the objective's name.
func (o Objective) String() string { return objectiveNames[o] }

// ParseObjective is the inverse of String.
func ParseObjective(name string) (Objective, error) {
	for o, n := range objectiveNames {
		if n == name {
			return Objective(o), nil
		}
	}
	return 0, fmt.Errorf("partition: no objective %q; there are %s", name, strings.Join(objectiveNames[:], ", "))
}

// Cost is time and energy, simulated or predicted.
type Cost struct {
	TimeFs   float64 // femtoseconds
	EngineFs float64 // of it the device works for this alone; at most TimeFs
	EnergyPJ float64
}

// Plus is the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.TimeFs + d.TimeFs, c.EngineFs + d.EngineFs, c.EnergyPJ + d.EnergyPJ}
}

// Times is a multiple of a cost.
func (c Cost) Times(x float64) Cost { return Cost{c.TimeFs * x, c.EngineFs * x, c.EnergyPJ * x} }

// by is a cost as one number, its parts weighed by those of w.
func (c Cost) by(w Cost) float64 {
	return c.TimeFs*w.TimeFs + c.EngineFs*w.EngineFs + c.EnergyPJ*w.EnergyPJ
}

// weights returns the weights of the parts of a cost that an objective adds up.
func (o Objective) weights() Cost {
	switch o {
	case Energy:
		return Cost{EnergyPJ: 1}
	case Throughput:
		return Cost{TimeFs: 1.0 / InFlight, EngineFs: 1}
	}
	return Cost{TimeFs: 1}
}

// Costs are the costs of operations and segments. Indexes refer to the
// problem's devices and operations.
type Costs struct {
	Operation [][]Cost // by device and operation; what it does not support has no meaning
	Fixed     []Cost   // by device, of a segment that there is
	PerByte   []Cost   // by device, of a byte that enters or leaves a segment
	// Measure runs a plan; nil when nothing can. Its result is kept.
	Measure func(plan Plan) (*Run, error)
	// Predict returns the costs of a plan without running it: more than the sum of its parts, since clocks and idle states
	// depend on all of them. nil is their sum; so is a nil Run, for a plan that it cannot predict.
	Predict func(plan Plan) (*Run, error)
	// Subgraphs are the costs of the problem's subgraphs, and Rounds how often its control
	// flow, by operation, runs each of the two that it calls.
	Subgraphs map[uint32]Costs
	Rounds    map[int][2]float64

	streamed    []float64              // by device, the factors of ScaleStream; nil: 1
	segments    map[string]Cost        // known as a whole, by segmentKey
	interpreted map[string]Cost        // by controlKey
	runs        map[string]*Run        // by planKey
	predictions map[string]*Evaluation // by planKey
}

// Segment is a segment whose cost is known as a whole.
type Segment struct {
	Device     int
	Operations []int
	Cost       Cost
	Control    *Control // that the runtime executed; nil for a segment of a device
}

// Never is the cost of operations that a device cannot run, or gives no estimate for: more
// than any plan without them, and not a time.
var Never = Cost{TimeFs: 1e30, EngineFs: 1e30, EnergyPJ: 1e30}

// never reports a cost that contains Never.
func (c Cost) never() bool { return c.TimeFs >= Never.TimeFs || c.EnergyPJ >= Never.EnergyPJ }

// Run is a plan that ran, in a loop of its like: each segment found the machine as
// the others leave it.
type Run struct {
	LatencyFs float64 // of one execution
	EnergyPJ  float64
	// IntervalFs is the time between results of a stream; 0: none ran.
	IntervalFs float64
	Segments   []Segment // in the order of the plan's steps
	// Predicted: the plan has not run; this is what is known of its steps, put together.
	Predicted bool

	plan Plan
}

// Ran is the run of a plan, nil of one that was not measured.
func (c *Costs) Ran(plan Plan) *Run { return c.runs[planKey(plan)] }

// Clone is a copy that learns of runs by itself.
func (c *Costs) Clone() Costs {
	d := *c
	d.segments, d.interpreted, d.runs, d.predictions = maps.Clone(c.segments), maps.Clone(c.interpreted), maps.Clone(c.runs), maps.Clone(c.predictions)
	return d
}

// ScaleEngine multiplies the times for which a device is held: a stream holds an engine for less
// than an execution by itself, which wakes it up, or for more.
func (c *Costs) ScaleEngine(device int, by float64) {
	for i := range c.Operation[device] {
		if x := &c.Operation[device][i]; !x.never() {
			x.EngineFs *= by
		}
	}
	c.Fixed[device].EngineFs *= by
	c.PerByte[device].EngineFs *= by
	for k, x := range c.segments {
		if int(k[0]) == device && !x.never() {
			x.EngineFs *= by
			c.segments[k] = x
		}
	}
	clear(c.predictions)
}

// ScaleStream multiplies the time of steps of a device beside others of a stream, which keep clocks up and cores
// awake.
func (c *Costs) ScaleStream(device int, by float64) {
	if c.streamed == nil {
		c.streamed = slices.Repeat([]float64{1}, len(c.Fixed))
	}
	c.streamed[device] *= by
	clear(c.predictions)
}

// inStream is the mean factor of ScaleStream of steps with a time on each device, weighted by the times.
func (c *Costs) inStream(time []float64) float64 {
	sum, all := 0.0, 0.0
	for d, by := range c.streamed {
		sum += by * time[d]
		all += time[d]
	}
	if all == 0 {
		return 1
	}
	return sum / all
}

// DeviceTimes is the time for which a plan occupies each device, by the costs of its segments.
func (p *Problem) DeviceTimes(plan Plan) ([]float64, error) {
	e, err := p.evaluate(plan, nil)
	if err != nil {
		return nil, err
	}
	return e.load, nil
}

// Runs are the plans that ran, with their costs, in a fixed order.
func (c *Costs) Runs(each func(plan Plan, r *Run) error) error {
	for _, k := range slices.Sorted(maps.Keys(c.runs)) {
		if err := each(c.runs[k].plan, c.runs[k]); err != nil {
			return err
		}
	}
	return nil
}

// SetRun sets the costs of a plan, and with them those of its segments.
func (c *Costs) SetRun(plan Plan, r *Run) {
	if c.runs == nil {
		c.runs, c.interpreted = map[string]*Run{}, map[string]Cost{}
	}
	r.plan = plan
	c.runs[planKey(plan)] = r
	for _, s := range r.Segments {
		if s.Control != nil {
			c.interpreted[controlKey(s.Control, plan.Subgraphs)] = s.Cost
			continue
		}
		c.SetSegment(s)
	}
}

func planKey(plan Plan) string {
	b := make([]byte, len(plan.Device)+1)
	for i, d := range plan.Device {
		b[i] = byte(d)
	}
	if plan.Sequential {
		b[len(plan.Device)] = 1
	}
	if plan.Part != nil {
		b = append(b, 'p')
		for _, n := range ranks(plan.Part) {
			b = append(b, byte(n), byte(n>>8), byte(n>>16))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(plan.Subgraphs)) {
		b = append(b, byte(k), byte(k>>8), byte(k>>16))
		b = append(b, planKey(plan.Subgraphs[k])...)
	}
	return string(b)
}

// SetSegment states the cost of a segment as a whole.
func (c *Costs) SetSegment(s Segment) {
	if c.segments == nil {
		c.segments = map[string]Cost{}
	}
	c.segments[segmentKey(s.Device, s.Operations)] = s.Cost
}

// Segments lists the segments whose cost is known as a whole, by device and
// operations.
func (c *Costs) Segments() []Segment {
	var l []Segment
	for _, k := range slices.Sorted(maps.Keys(c.segments)) {
		s := Segment{Device: int(k[0]), Cost: c.segments[k]}
		for at := 1; at < len(k); at += 3 {
			s.Operations = append(s.Operations, int(k[at])|int(k[at+1])<<8|int(k[at+2])<<16)
		}
		l = append(l, s)
	}
	return l
}

func segmentKey(device int, operations []int) string {
	b := make([]byte, 0, 4+2*len(operations))
	b = append(b, byte(device))
	for _, i := range operations {
		b = append(b, byte(i), byte(i>>8), byte(i>>16))
	}
	return string(b)
}

// supports reports whether a device supports an operation.
func (p *Problem) supports(device, op int) bool { return p.Devices[device].Support[op].OK }

// estimate is the additive cost of a step: its predicted cost while it is not known as a
// whole.
func (p *Problem) estimate(s *Step, bytes int64) Cost {
	c := p.Costs.Fixed[s.Device].Plus(p.Costs.PerByte[s.Device].Times(float64(bytes)))
	for _, i := range s.Operations {
		c = c.Plus(p.Costs.Operation[s.Device][i])
	}
	return c
}

// segment predicts the cost of a step: what is known of it as a whole, otherwise
// the sum of its parts. bytes are those that enter and leave it.
func (p *Problem) segment(s *Step, bytes int64) Cost {
	if c, known := p.Costs.segments[segmentKey(s.Device, s.Operations)]; known {
		return c
	}
	return p.estimate(s, bytes)
}

// table is the additive part of the costs as one number each, by weights: what most strategies minimize. A device that does not support an
// operation costs infinity.
type table struct {
	devices int
	op      []float64 // [operation*devices + device]
	fixed   []float64
	perByte []float64
}

func (p *Problem) table(w Cost) *table {
	d := len(p.Devices)
	t := &table{devices: d, op: make([]float64, len(p.Graph.Operations)*d), fixed: make([]float64, d), perByte: make([]float64, d)}
	for k := range p.Devices {
		t.fixed[k], t.perByte[k] = p.Costs.Fixed[k].by(w), p.Costs.PerByte[k].by(w)
		for i := range p.Graph.Operations {
			t.op[i*d+k] = math.Inf(1)
			if p.supports(k, i) && !p.Costs.Operation[k][i].never() { // a sum with it would lose all else
				t.op[i*d+k] = p.Costs.Operation[k][i].by(w)
			}
		}
	}
	return t
}

// scale returns the weights under which the sum of a table stands for the
// objective. A product has none: near the plan with the given time and energy it
// falls and rises as their relative changes added, and an expression by its slopes.
func (p *Problem) scale() Cost {
	if p.Expression == nil && p.Objective != EnergyDelay {
		return p.Objective.weights()
	}
	best, w := math.Inf(1), Cost{TimeFs: 1}
	for d := range p.Devices {
		plan, err := Single(d).Plan(p)
		if err != nil {
			continue
		}
		if e, err := p.Evaluate(plan); err == nil && e.Score < best && e.LatencyFs > 0 && e.EnergyPJ > 0 {
			best, w = e.Score, Cost{TimeFs: 1 / e.LatencyFs, EnergyPJ: 1 / e.EnergyPJ}
			if p.Expression != nil {
				w = p.Expression.slopes(e.LatencyFs, e.EnergyPJ)
			}
		}
	}
	return w
}

// Check reports what is wrong with a problem made by hand.
func (p *Problem) Check() error {
	n, d := len(p.Graph.Operations), len(p.Devices)
	if d == 0 || d > 255 {
		return fmt.Errorf("partition: %d devices, want 1 to 255", d)
	}
	if len(p.Costs.Operation) != d || len(p.Costs.Fixed) != d || len(p.Costs.PerByte) != d {
		return fmt.Errorf("partition: costs of %d, %d and %d devices, there are %d", len(p.Costs.Operation), len(p.Costs.Fixed), len(p.Costs.PerByte), d)
	}
	for k := range p.Devices {
		if len(p.Devices[k].Support) != n || len(p.Costs.Operation[k]) != n {
			return fmt.Errorf("partition: %s: support of %d operations and costs of %d, there are %d", p.Devices[k].Name, len(p.Devices[k].Support), len(p.Costs.Operation[k]), n)
		}
	}
	for i := range p.Graph.Operations {
		if !p.supports(0, i) {
			return hal.Errorf(hal.InvalidArgument, "operation %d (%s): %s", i, p.Graph.Operations[i].Type, p.Devices[0].Support[i].Reason)
		}
	}
	return nil
}
