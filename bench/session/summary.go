package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/advise"
	"github.com/nnsoc/nnsoc/bench/glossary"
)

// Summary says in sentences which device is fastest, what its time consists of, what other calls would save,
// and how far that can be trusted; none where no run has costs.
func (r *Report) Summary() []string {
	best, second := r.fastest()
	if best == nil {
		return nil
	}
	first := fmt.Sprintf("The %s is fastest: %s", best.Device, spell(*best.LatencyUS))
	if len(r.Runs) == 1 {
		first = fmt.Sprintf("The %s takes %s", best.Device, spell(*best.LatencyUS))
	}
	if second != nil {
		first += ", " + faster(*second.LatencyUS / *best.LatencyUS) + " the " + second.Device
		switch ratio := *best.EnergyUJ / *second.EnergyUJ; {
		case ratio >= 2:
			first += fmt.Sprintf(", for %.1f times its energy", ratio)
		case ratio > 0:
			first += fmt.Sprintf(", for %.0f %% of its energy", 100*ratio)
		}
	}
	list := []string{first + "."}
	if s := best.consistsOf(); s != "" {
		list = append(list, s)
	}
	for _, c := range advise.CallChanges(&advise.Run{Device: best.Device, LatencyUS: *best.LatencyUS, Parts: best.LatencyParts, Burst: best.burst}) {
		if share := c.PredictedUS / *best.LatencyUS; share >= 0.01 {
			list = append(list, fmt.Sprintf("What would change it most without another network or machine: %s, about %s (-%.0f %%, predicted).", c.What, spell(*best.LatencyUS-c.PredictedUS), 100*share))
		}
	}
	return append(list, r.trust())
}

// Fastest returns the fastest run, nil where none has costs.
func (r *Report) Fastest() *Run {
	best, _ := r.fastest()
	return best
}

// fastest returns the fastest run and the run that it is compared with: that of the CPU, else the next.
func (r *Report) fastest() (best, second *Run) {
	var timed []*Run
	for i := range r.Runs {
		if x := &r.Runs[i]; x.LatencyUS != nil && *x.LatencyUS > 0 {
			timed = append(timed, x)
		}
	}
	if len(timed) == 0 {
		return nil, nil
	}
	slices.SortStableFunc(timed, func(a, b *Run) int { return cmp.Compare(*a.LatencyUS, *b.LatencyUS) })
	if len(timed) > 1 {
		second = timed[1]
	}
	for _, x := range timed[1:] {
		if x.Device == "cpu" {
			second = x
		}
	}
	return timed[0], second
}

// consistsOf says which parts of a latency are outside of the engine, and which type of operation takes most of the rest.
func (r *Run) consistsOf() string {
	outside := map[string]float64{}
	for part, us := range r.LatencyParts {
		if c := glossary.ClassOf(glossary.Part, part); c != glossary.Engine {
			outside[string(c)] += us
		}
	}
	var words []string
	for _, m := range slices.SortedFunc(maps.Keys(outside), func(a, b string) int { return cmp.Or(cmp.Compare(outside[b], outside[a]), cmp.Compare(a, b)) }) {
		if share := 100 * outside[m] / *r.LatencyUS; share >= 1 {
			words = append(words, fmt.Sprintf("%.0f %% %s", share, m))
		}
	}
	if s := r.mostTime(); s != "" {
		words = append(words, s)
	}
	if len(words) == 0 {
		return ""
	}
	return "Of that time " + strings.Join(words, ", ") + "."
}

// mostTime says which type of operation takes the most time on the engine, with the reason that most of its cycles are
// charged to.
func (r *Run) mostTime() string {
	whole := *r.LatencyUS
	if r.RowsOf != nil {
		whole = r.RowsOf.LatencyUS
	}
	for _, s := range r.Types { // the most time first
		if s.Type == "LAUNCH" || s.Type == "TRANSFER" {
			continue
		}
		text := fmt.Sprintf("%.0f %% operations %s (%d)", 100*s.TimeUS/whole, s.Type, s.Count)
		if s.BoundBy != "" {
			text += " bound by " + s.BoundBy
		}
		return text
	}
	return ""
}

// faster says how much faster than another a device is.
func faster(ratio float64) string {
	switch percent := 100 * (ratio - 1); {
	case percent < 0.5:
		return "as fast as"
	case percent < 20:
		return fmt.Sprintf("%.0f %% faster than", percent)
	}
	return fmt.Sprintf("%.1f times as fast as", ratio)
}

// spell writes a time with the unit in which a person says it.
func spell(us float64) string {
	switch {
	case us >= 1e6:
		return fmt.Sprintf("%.2f s", us/1e6)
	case us >= 1e3:
		return fmt.Sprintf("%.2f ms", us/1e3)
	}
	return fmt.Sprintf("%.1f us", us)
}
