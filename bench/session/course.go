package session

import (
	"fmt"
	"time"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// MaxDuration is the range of the simulated clock of femtoseconds, less a warm-up.
const MaxDuration = 2 * time.Hour

// maxSamples bounds the samples of a run.
const maxSamples = 1000

// step is the span of a sample: 1, 2 or 5 times a power of ten, in at least a ms.
func (p *Pace) step() sim.Time {
	for step := sim.Millisecond; ; step *= 10 {
		for _, n := range []sim.Time{1, 2, 5} {
			if p.span() <= maxSamples*n*step {
				return n * step
			}
		}
	}
}

func (p *Pace) span() sim.Time { return sim.Time(p.Duration) * sim.Nanosecond }

// Course is the course of a run over a duration.
type Course struct {
	Seconds float64 `json:"duration_s"` // simulated; less than asked for when the phone switched itself off
	StepS   float64 `json:"step_s"`     // from sample to sample
	EnergyJ float64 `json:"energy_j"`
	// Simulated are the executions that ran on an engine. The others were like one of them.
	Simulated int            `json:"simulated_executions"`
	Shutdown  string         `json:"shutdown,omitempty"` // why the phone switched itself off
	Samples   []CourseSample `json:"samples"`

	start, step sim.Time
	Clocks      []string   `json:"-"`
	Sensors     []string   `json:"-"`
	Rails       []soc.Rail `json:"-"`
	open        CourseSample
	bytes       float64
	latency     sim.Time
}

// CourseSample is a step of a course. Clocks are means over its time, temperatures those
// at its end.
type CourseSample struct {
	Seconds      float64            `json:"end_s"` // at its end
	Invocations  int                `json:"invocation_count"`
	LatencyUS    *float64           `json:"latency_us"` // mean of the invocations that ended in it; null: none did
	ClockMHz     map[string]float64 `json:"clocks_mhz"`
	PowerW       map[string]float64 `json:"power_w"`
	TotalW       float64            `json:"total_w"`
	TemperatureC map[string]float64 `json:"temperature_c,omitempty"`
	DRAMGBps     float64            `json:"dram_gbps"`
	Status       string             `json:"thermal_status"`

	span float64 // s so far
}

func newCourse(m *platform.Machine, p *Pace) *Course {
	c := &Course{start: m.Now(), step: p.step(), Clocks: m.Clocks(), Sensors: m.Sensors(), Rails: m.Rails(), Samples: []CourseSample{}}
	c.StepS = c.step.Seconds()
	return c
}

// sample adds the machine's measurements over a span, step by step.
func (c *Course) sample(s *platform.Sample) {
	from := max(s.From, c.start)
	all := (s.To - s.From).Seconds()
	for from < s.To {
		edge := c.start + (sim.Time(len(c.Samples))+1)*c.step
		to := min(s.To, edge)
		c.weigh(s, (to - from).Seconds(), (to-from).Seconds()/all)
		if from = to; to == edge {
			c.close(s, to)
		}
	}
}

// weigh adds a part of a span to the open sample: its length and its share.
func (c *Course) weigh(s *platform.Sample, seconds, share float64) {
	o := &c.open
	if o.PowerW == nil {
		o.PowerW, o.ClockMHz = map[string]float64{}, map[string]float64{}
	}
	o.span += seconds
	for _, r := range c.Rails {
		o.PowerW[r.String()] += s.Watts[r] * seconds
		c.EnergyJ += s.Watts[r] * seconds
	}
	for i, name := range c.Clocks {
		o.ClockMHz[name] += float64(s.SpanHz[i]) / 1e6 * seconds
	}
	c.bytes += s.DRAMBytes * share
}

// close ends the open sample with the state at the end of s.
func (c *Course) close(s *platform.Sample, at sim.Time) {
	o := &c.open
	for _, r := range c.Rails {
		name := r.String()
		o.PowerW[name] /= o.span
		o.TotalW += o.PowerW[name]
	}
	for name := range o.ClockMHz {
		o.ClockMHz[name] /= o.span
	}
	o.Seconds, o.Status, o.DRAMGBps = (at - c.start).Seconds(), s.Status.String(), c.bytes/o.span/1e9
	if len(c.Sensors) > 0 {
		o.TemperatureC = map[string]float64{}
		for i, name := range c.Sensors {
			o.TemperatureC[name] = s.Celsius[i]
		}
	}
	if o.Invocations > 0 {
		us := c.latency.Microseconds() / float64(o.Invocations)
		o.LatencyUS = &us
	}
	c.Samples = append(c.Samples, *o)
	c.open, c.bytes, c.latency = CourseSample{}, 0, 0
}

// invoked adds an invocation to the open sample.
func (c *Course) invoked(latency sim.Time) {
	c.open.Invocations++
	c.latency += latency
}

// endure invokes a compilation again and again until its duration is over or the phone
// switches itself off.
func (p *Pace) endure(m *Phone, compiled *nnrt.Compilation, inputs [][]byte, o nnrt.ExecuteOptions) (last *nnrt.Result, inv *Invocations, err error) {
	before := m.Live.Simulated()
	once, pause, err := p.begin(m, compiled, inputs, o)
	if err != nil {
		return nil, nil, err
	}
	clock := m.Live.SoC()
	c := newCourse(clock, p)
	defer clock.Observe(c.sample)()
	span := p.span()
	end := c.start + span
	inv = NewInvocations()
	inv.Course = c
	var loop *devices.Loop
	for next := c.start; clock.Now() < end; {
		var x devices.Invocation
		if loop == nil {
			loop, x, err = m.Live.Loop(func() (err error) { last, err = once(false); return err })
		} else {
			x, err = loop.Next()
		}
		if dead := clock.Alive(); dead != nil && err != nil {
			c.Shutdown, err = dead.Error(), nil
			break
		}
		if err != nil {
			return nil, nil, err
		}
		inv.repeated(&x)
		c.invoked(x.Latency)
		pause()
		if now := clock.Now(); now >= next {
			if p.Progress != nil {
				p.Progress(float64(now-c.start) / float64(span))
			}
			next += span / 10
		}
	}
	if last == nil {
		return nil, nil, fmt.Errorf("the phone is too hot to begin with: %s", c.Shutdown)
	}
	c.Seconds, c.Simulated = (clock.Now() - c.start).Seconds(), m.Live.Simulated()-before
	inv.Finish()
	return last, inv, nil
}
