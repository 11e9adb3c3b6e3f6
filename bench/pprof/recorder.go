package pprof

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/google/pprof/profile"
)

// Sample is a cost of one place.
type Sample struct {
	Device     string
	Operation  string // of the model; "" where there is none
	Program    string // "" where the device runs none
	At         int64  // byte offset of the instruction in the program; negative: no instruction
	Text       string // the instruction, or the kind of the cost
	File       string // of its source; "" where there is none
	Line       int
	Count      int64   // executions
	Cycles     []Stall // by reason
	FsPerCycle float64 // of the device's clock
	EnergyPJ   float64
}

// Stall is cycles spent for a reason.
type Stall struct {
	Reason string
	Cycles int64
}

// Value is a quantity that a profile counts.
type Value int

// Values of a profile, in the order of its sample types.
const (
	Cycles Value = iota
	Time
	Energy
	Executions
	numValues
)

var values = [numValues]struct{ name, unit string }{
	{"cycles", "count"}, {"time", "nanoseconds"}, {"energy", "picojoules"}, {"executions", "count"},
}

// String is the name of a value.
func (v Value) String() string { return values[v].name }

// ParseValue is the value of a name.
func ParseValue(name string) (Value, error) {
	for v := range numValues {
		if v.String() == name {
			return v, nil
		}
	}
	return 0, fmt.Errorf("no value %q: cycles, time, energy or executions", name)
}

// place is where costs of a sample are added up.
type place struct {
	device, operation, program string
	at                         int64
	text, reason               string
}

// compare orders places as they are written.
func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.device, q.device), cmp.Compare(p.operation, q.operation), cmp.Compare(p.program, q.program),
		cmp.Compare(p.at, q.at), cmp.Compare(p.text, q.text), cmp.Compare(p.reason, q.reason))
}

// Recorder collects samples.
type Recorder struct {
	costs map[place]*[numValues]float64
	lines map[place]sourceLine
}

type sourceLine struct {
	file string
	line int
}

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{costs: map[place]*[numValues]float64{}, lines: map[place]sourceLine{}}
}

// Len is the number of places that samples were added for.
func (r *Recorder) Len() int { return len(r.costs) }

// Add adds a sample. Its energy is divided by the cycles of each reason; its executions go with the first.
func (r *Recorder) Add(s *Sample) {
	p := place{device: s.Device, operation: s.Operation, program: s.Program, at: max(s.At, -1), text: s.Text}
	if s.File != "" {
		r.lines[p] = sourceLine{s.File, s.Line}
	}
	all := int64(0)
	for _, x := range s.Cycles {
		all += x.Cycles
	}
	list := s.Cycles
	if all == 0 {
		list = []Stall{{}}
	}
	for i, x := range list {
		p.reason = x.Reason
		c := r.costs[p]
		if c == nil {
			c = new([numValues]float64)
			r.costs[p] = c
		}
		share := 1.0
		if all > 0 {
			share = float64(x.Cycles) / float64(all)
		}
		c[Cycles] += float64(x.Cycles)
		c[Time] += float64(x.Cycles) * s.FsPerCycle / 1e6
		c[Energy] += s.EnergyPJ * share
		if i == 0 {
			c[Executions] += float64(s.Count)
		}
	}
}

// sorted are the places in order, and their costs as whole numbers. Sums are rounded, not costs,
// so that they add up.
func (r *Recorder) sorted() ([]place, [][]int64) {
	list := make([]place, 0, len(r.costs))
	for p := range r.costs {
		list = append(list, p)
	}
	slices.SortFunc(list, place.compare)
	var sum, given [numValues]float64
	costs := make([][]int64, len(list))
	for i, p := range list {
		c := r.costs[p]
		costs[i] = make([]int64, numValues)
		for v, x := range c {
			sum[v] += x
			n := math.Round(sum[v] - given[v])
			if given[v] += n; x == 0 {
				given[v] -= n
				n = 0
			}
			costs[i][v] = int64(n)
		}
	}
	return list, costs
}

// Write writes pprof's format, compressed. Tools show a value first.
func (r *Recorder) Write(w io.Writer, first Value) error {
	b := builder{
		profile:   &profile.Profile{DefaultSampleType: first.String(), PeriodType: &profile.ValueType{Type: values[first].name, Unit: values[first].unit}, Period: 1},
		functions: map[string]*profile.Function{}, locations: map[place]*profile.Location{}, mappings: map[string]*profile.Mapping{},
	}
	for _, v := range values {
		b.profile.SampleType = append(b.profile.SampleType, &profile.ValueType{Type: v.name, Unit: v.unit})
	}
	list, costs := r.sorted()
	b.mapPrograms(list)
	for i, p := range list {
		s := &profile.Sample{Value: costs[i], Label: map[string][]string{"device": {p.device}}}
		if p.reason != "" {
			s.Label["stall"] = []string{p.reason}
		}
		if p.at >= 0 {
			s.Label["instruction"] = []string{p.text}
		}
		s.Location = b.stack(p, r.lines)
		b.profile.Sample = append(b.profile.Sample, s)
	}
	if err := b.profile.CheckValid(); err != nil {
		return fmt.Errorf("pprof: %w", err)
	}
	return b.profile.Write(w)
}
