package nnrt

import (
	"cmp"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
)

// Tracer receives the timeline of an execution. Times are simulated
// femtoseconds since the execution began.
type Tracer interface {
	// Span records an interval of a unit of a device. op is the operation, or
	// overhead, that it is charged to, with the operation's whole cost. It must
	// not be kept.
	Span(device string, s hal.Span, op *OperationCost)
	// Sample records the value that a counter of a device has from atFs on.
	Sample(device string, c Counter, atFs int64, value float64)
}

// Counter is what a Tracer samples.
type Counter int

// Counters of a timeline.
const (
	DRAMBandwidth Counter = iota // GB/s
	Power                        // W
	Frequency                    // MHz
	NumCounters
)

var counterNames = [NumCounters]string{"DRAM bandwidth (GB/s)", "power (W)", "clock (MHz)"}

// String is the counter's name with its unit.
func (c Counter) String() string { return counterNames[c] }

// partTrace keeps the spans of a part until the execution's costs are known.
type partTrace struct {
	device     string
	of         *source
	operations []int // of the source, by the part's indexes
	startFs    int64
	spans      []hal.Span
	stats      hal.Stats
}

// Span implements hal.Tracer.
func (p *partTrace) Span(s hal.Span) {
	s.EndFs = max(s.EndFs, s.StartFs)
	p.spans = append(p.spans, s)
}

// shift says when the part began.
func (p *partTrace) shift(startFs int64) {
	p.startFs = startFs
	for i := range p.spans {
		p.spans[i].StartFs += startFs
		p.spans[i].EndFs += startFs
	}
}

// emit passes the spans on, with the operations of the model, and the counters
// that follow from them.
func (p *partTrace) emit(to Tracer, r *Result) {
	for _, s := range p.spans {
		op := r.overhead(p.device, s.Operation)
		if s.Operation >= 0 {
			if s.Operation >= len(p.operations) {
				continue
			}
			op = r.row(p.of, p.device, p.operations[s.Operation])
			s.Operation = op.Index
		}
		to.Span(p.device, s, op)
	}
	st := &p.stats
	if st.Cycles == 0 {
		return
	}
	p.rates(to)
	to.Sample(p.device, Frequency, p.startFs, float64(st.ClockHz)/1e6)
	to.Sample(p.device, Frequency, p.startFs+st.LatencyFs, 0)
}

// rates samples bandwidth and power. The bytes and the energy of an operation
// are spread evenly over its spans, so that the areas under the counters are
// the bytes and the energy of the part.
func (p *partTrace) rates(to Tracer) {
	busy := map[int]int64{} // femtoseconds by operation, all tracks together
	for _, s := range p.spans {
		busy[s.Operation] += s.EndFs - s.StartFs
	}
	type edge struct {
		atFs  int64
		rates [2]float64 // change of bandwidth and power
	}
	perFs := map[int][2]float64{}
	for i := range p.stats.Operations {
		if o := &p.stats.Operations[i]; busy[o.Index] > 0 {
			perFs[o.Index] = [2]float64{float64(o.DRAMBytes) / float64(busy[o.Index]), o.EnergyPJ / float64(busy[o.Index])}
		}
	}
	var edges []edge
	for _, s := range p.spans {
		x := perFs[s.Operation]
		edges = append(edges, edge{s.StartFs, x}, edge{s.EndFs, [2]float64{-x[0], -x[1]}})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.atFs, b.atFs) })
	scale := [2]float64{1e6, 1e3} // bytes/fs to GB/s, pJ/fs to W
	var now [2]float64
	for i, x := range edges {
		for k := range now {
			now[k] += x.rates[k]
		}
		if i+1 < len(edges) && edges[i+1].atFs == x.atFs {
			continue
		}
		if i+1 == len(edges) {
			now = [2]float64{} // without the rounding of the sums
		}
		to.Sample(p.device, DRAMBandwidth, x.atFs, max(now[0], 0)*scale[0])
		to.Sample(p.device, Power, x.atFs, max(now[1], 0)*scale[1])
	}
}
