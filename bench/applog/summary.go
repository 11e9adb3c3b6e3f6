package applog

import (
	"cmp"
	"math"
	"slices"
)

// Summary is what became of a compilation.
type Summary struct {
	*Compilation
	Executions  []*Execution // in the order of their ends, failed ones too
	Latency     Distribution // of those that succeeded
	EnergyUj    float64      // all together
	PartUs      []float64    // mean time of each part
	Failed      int
	Results     map[string]int // of those that failed, by result code
	Compared    int            // with the reference
	Differing   int            // executions with a difference
	Difference  string         // the first one
	NotCompared string         // why the first one of these was not
}

// Distribution is of times in microseconds; zeros for none.
type Distribution struct {
	Count                                                      int
	FirstUs, MeanUs, MinimumUs, P50Us, P90Us, P99Us, MaximumUs float64
}

// Distribute returns the distribution of times that are in the order of their coming. Percentiles are by nearest rank.
func Distribute(us []float64) (d Distribution) {
	if len(us) == 0 {
		return d
	}
	sorted := slices.Sorted(slices.Values(us))
	rank := func(p float64) float64 { return sorted[max(int(math.Ceil(p*float64(len(sorted))))-1, 0)] }
	d = Distribution{Count: len(us), FirstUs: us[0], MinimumUs: sorted[0], P50Us: rank(0.5), P90Us: rank(0.9), P99Us: rank(0.99), MaximumUs: sorted[len(sorted)-1]}
	for _, x := range us {
		d.MeanUs += x
	}
	d.MeanUs /= float64(len(us))
	return d
}

// Success is the result code of a call without an error.
const Success = "NO_ERROR"

// Summarize returns the summaries of the compilations of a log, by process in the order of their beginning, then by number.
func (l *Log) Summarize() []*Summary {
	type key struct{ process, number int }
	known := map[key]*Summary{}
	var list []*Summary
	for i := range l.Compilations {
		c := &l.Compilations[i]
		s := &Summary{Compilation: c, Results: map[string]int{}}
		known[key{c.Process, c.Number}] = s
		list = append(list, s)
	}
	for i := range l.Executions {
		e := &l.Executions[i]
		if s := known[key{e.Process, e.Compilation}]; s != nil {
			s.Executions = append(s.Executions, e)
		}
	}
	order := map[int]int{}
	for i, p := range l.Processes {
		order[p.ID] = i
	}
	slices.SortStableFunc(list, func(a, b *Summary) int {
		return cmp.Or(cmp.Compare(order[a.Process], order[b.Process]), cmp.Compare(a.Number, b.Number))
	})
	for _, s := range list {
		s.count()
	}
	return list
}

// count adds up the executions.
func (s *Summary) count() {
	var times []float64
	s.PartUs = make([]float64, len(s.Parts))
	ran := make([]int, len(s.Parts))
	for _, e := range s.Executions {
		if e.Result != Success {
			s.Failed++
			s.Results[e.Result]++
			continue
		}
		times = append(times, e.LatencyUs)
		s.EnergyUj += e.EnergyUj
		for i, p := range e.Parts {
			if len(e.Parts) == len(s.Parts) { // otherwise control flow, whose parts ran as often as it took
				s.PartUs[i] += p.EndUs - p.StartUs
				ran[i]++
			}
		}
		switch c := e.Check; {
		case c == nil:
		case !c.Compared:
			s.NotCompared = cmp.Or(s.NotCompared, c.Reason)
		default:
			s.Compared++
			if c.Mismatches > 0 {
				s.Differing++
				s.Difference = cmp.Or(s.Difference, c.Reason)
			}
		}
	}
	for i := range ran {
		s.PartUs[i] /= float64(max(ran[i], 1))
	}
	s.Latency = Distribute(times)
}
