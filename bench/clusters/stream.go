package clusters

import (
	"math"

	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Stream is a stream of inferences, as simulated.
type Stream struct {
	IntervalFs float64 // between results
	LatencyFs  float64 // of an inference alone
}

// Inputs of a stream: results of the first and the last ones do not count.
const (
	streamInputs = 48
	streamEdge   = 12
)

// mostWait bounds how much longer waits for the memory get beside other devices.
const mostWait = 10

// task is a step of a plan for one input.
type task struct {
	step  int
	input int
	next  int     // piece
	left  float64 // of its time alone
}

// stream is the state of a simulation.
type stream struct {
	now     float64
	peak    float64 // bytes per femtosecond of the memory
	steps   []partition.Step
	work    [][]piece // by step, the handover first
	after   [][]int   // steps that read what a step writes
	before  []int     // steps that a step reads from
	missing [][]int   // by input and step, steps it still waits for
	ready   [][]task  // by device
	running []*task   // by device
	left    []int     // by input, steps
	ended   []float64 // by input
}

// Run simulates a stream of inferences through a plan: at most partition.InFlight at a time, each device works on one step of
// one input, the oldest that is ready. A wait for the memory is 1 / (1 - u) times as long while other devices use a share
// u of its bandwidth.
func (p *Problem) Run(plan partition.Plan) (Stream, error) {
	if err := p.CheckPlan(plan); err != nil {
		return Stream{}, err
	}
	steps := partition.Steps(p.Graph, plan.Device, len(p.Devices))
	links := partition.Link(p.Graph, steps)
	alone := p.stream(steps, links, 1, 1)
	many := p.stream(steps, links, streamInputs, partition.InFlight)
	return Stream{
		IntervalFs: (many.ended[streamInputs-streamEdge-1] - many.ended[streamEdge-1]) / (streamInputs - 2*streamEdge),
		LatencyFs:  alone.ended[0],
	}, nil
}

// Whole is a stream of inferences each of which has all threads of the SoC's runtime to itself, and the energy of one.
func (p *Problem) Whole() (s Stream, pj float64) {
	for i := range p.whole {
		s.LatencyFs += p.whole[i].time
		pj += p.wholeCosts[i].EnergyPJ
	}
	s.IntervalFs = s.LatencyFs
	return s, pj
}

// stream runs a number of inputs with a bound on those under way.
func (p *Problem) stream(steps []partition.Step, links []partition.Links, inputs, inFlight int) *stream {
	s := &stream{peak: p.peak, steps: steps, work: make([][]piece, len(steps)), after: make([][]int, len(steps)), before: make([]int, len(steps)),
		missing: make([][]int, inputs), ready: make([][]task, len(p.Devices)), running: make([]*task, len(p.Devices)),
		left: make([]int, inputs), ended: make([]float64, inputs)}
	for k := range steps {
		d := steps[k].Device
		moved := float64(links[k].In + links[k].Out - links[k].Stays)
		fetch := moved * p.Costs.PerByte[d].TimeFs
		s.work[k] = append(s.work[k], piece{p.Costs.Fixed[d].TimeFs + fetch, fetch, moved})
		for _, i := range steps[k].Operations {
			s.work[k] = append(s.work[k], p.work[d][i])
		}
		s.before[k] = len(links[k].Before)
		for _, b := range links[k].Before {
			s.after[b] = append(s.after[b], k)
		}
	}
	begun, done := 0, 0
	for done < inputs {
		for begun < inputs && begun-done < inFlight {
			s.begin(begun)
			begun++
		}
		done += s.step()
	}
	return s
}

// begin makes the first steps of an input ready.
func (s *stream) begin(input int) {
	s.missing[input] = append([]int(nil), s.before...)
	s.left[input] = len(s.steps)
	for k, n := range s.before {
		if n == 0 {
			s.add(k, input)
		}
	}
}

// add makes a step of an input ready, after those of older inputs and earlier steps.
func (s *stream) add(step, input int) {
	d := s.steps[step].Device
	i := len(s.ready[d])
	for i > 0 && (s.ready[d][i-1].input > input || s.ready[d][i-1].input == input && s.ready[d][i-1].step > step) {
		i--
	}
	s.ready[d] = append(s.ready[d], task{})
	copy(s.ready[d][i+1:], s.ready[d][i:])
	s.ready[d][i] = task{step, input, 0, s.work[step][0].time}
}

// step lets free devices begin, and time pass until the first piece ends. It returns the number of inputs that ended.
func (s *stream) step() (done int) {
	load := 0.0 // bytes per femtosecond
	for d := range s.running {
		if s.running[d] == nil && len(s.ready[d]) > 0 {
			t := s.ready[d][0]
			s.ready[d] = s.ready[d][1:]
			s.running[d] = &t
		}
		if t := s.running[d]; t != nil {
			load += s.demand(t)
		}
	}
	first, pass := -1, math.Inf(1)
	for d, t := range s.running {
		if t != nil && t.left*s.slower(t, load) < pass {
			first, pass = d, t.left*s.slower(t, load)
		}
	}
	s.now += pass
	for d, t := range s.running {
		if t != nil && d != first {
			t.left = max(0, t.left-pass/s.slower(t, load))
		}
	}
	t := s.running[first]
	if t.next++; t.next < len(s.work[t.step]) {
		t.left = s.work[t.step][t.next].time
		return 0
	}
	s.running[first] = nil
	for _, k := range s.after[t.step] {
		if s.missing[t.input][k]--; s.missing[t.input][k] == 0 {
			s.add(k, t.input)
		}
	}
	if s.left[t.input]--; s.left[t.input] > 0 {
		return 0
	}
	s.ended[t.input] = s.now
	return 1
}

// demand is the bandwidth that a task's piece takes alone.
func (s *stream) demand(t *task) float64 {
	x := &s.work[t.step][t.next]
	if x.time <= 0 {
		return 0
	}
	return x.bytes / x.time
}

// slower is how many times as long a task's piece takes beside the others.
func (s *stream) slower(t *task, load float64) float64 {
	x := &s.work[t.step][t.next]
	if x.time <= 0 {
		return 1
	}
	share := (load - s.demand(t)) / s.peak
	wait := float64(mostWait)
	if share < 1-1.0/mostWait {
		wait = 1 / (1 - share)
	}
	return 1 + x.dram/x.time*(wait-1)
}
