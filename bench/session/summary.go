package session

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/advise"
	"github.com/nnsoc/nnsoc/bench/glossary"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Summary says in sentences which device is fastest, what its time consists of, what other calls would save,
// how far that can be trusted, and what numbers without a public source could change; none where no run has costs.
func (r *Report) Summary() []string {
	best, second := r.fastest()
	if best == nil {
		return nil
	}
	first := fmt.Sprintf("%s is fastest: %s", best.subject(), spell(*best.LatencyUS))
	if len(r.Runs) == 1 {
		first = fmt.Sprintf("%s takes %s", best.subject(), spell(*best.LatencyUS))
	}
	first = strings.ToUpper(first[:1]) + first[1:]
	if second != nil {
		first += ", " + faster(*second.LatencyUS / *best.LatencyUS) + " " + second.subject()
		switch ratio := *best.EnergyUJ / *second.EnergyUJ; {
		case ratio >= 1.05:
			first += fmt.Sprintf(", for %.1f times its energy", ratio)
		case ratio > 0:
			first += fmt.Sprintf(", for %.0f %% of its energy", 100*ratio)
		}
	}
	list := []string{first + "."}
	if s := r.consistsOf(best); s != "" {
		list = append(list, s)
	}
	for _, c := range advise.CallChanges(&advise.Run{Device: best.Device, LatencyUS: *best.LatencyUS, Parts: best.LatencyParts, Burst: best.burst}) {
		if share := c.PredictedUS / *best.LatencyUS; share >= 0.01 {
			list = append(list, fmt.Sprintf("The best change with the same network and machine: %s, then about %s (-%.0f %%, predicted).", c.What, spell(*best.LatencyUS-c.PredictedUS), 100*share))
		}
	}
	list = append(list, r.trust())
	if s := r.unsourced(best); s != "" {
		list = append(list, s)
	}
	return list
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

// subject names what ran in a sentence: a device, or a way to divide the network among devices.
func (r *Run) subject() string {
	switch r.Device {
	case Auto:
		return "the plan by prediction (auto)"
	case nnrt.ByStrategy:
		return "Android's division (" + nnrt.ByStrategy + ")"
	}
	if _, ok := soc.EngineNamed(r.Device); ok {
		return "the " + r.Device
	}
	return r.Device // of a driver from outside
}

// consistsOf says which parts of a latency are outside of the engine, and which type of operation takes most of the rest.
func (r *Report) consistsOf(run *Run) string {
	outside := map[glossary.Class]float64{}
	for part, us := range run.LatencyParts {
		if c := glossary.ClassOf(glossary.Part, part); c != glossary.Engine {
			outside[c] += us
		}
	}
	var words []string
	for _, c := range slices.SortedFunc(maps.Keys(outside), func(a, b glossary.Class) int { return cmp.Or(cmp.Compare(outside[b], outside[a]), cmp.Compare(a, b)) }) {
		if share := 100 * outside[c] / *run.LatencyUS; share >= 1 {
			words = append(words, fmt.Sprintf("%.0f %% %s", share, c))
		}
	}
	most := r.mostTime(run)
	switch {
	case len(words) == 0 && most == "":
		return ""
	case len(words) == 0:
		return "Of that time " + most + "."
	}
	words[0] = strings.Replace(words[0], " % ", " % is ", 1)
	if most == "" {
		return "Of that time " + strings.Join(words, ", ") + "."
	}
	return "Of that time " + strings.Join(words, ", ") + "; " + most + "."
}

// mostTime says which type of operation takes the most time on the engine, how near that is to the engine's peak, and the
// reason that most of its cycles are charged to.
func (r *Report) mostTime(run *Run) string {
	whole := *run.LatencyUS
	if run.RowsOf != nil {
		whole = run.RowsOf.LatencyUS
	}
	for i := range run.Types { // the most time first
		s := &run.Types[i]
		if s.Type == "LAUNCH" || s.Type == "TRANSFER" {
			continue
		}
		share := 100 * s.TimeUS / whole
		text := fmt.Sprintf("%.0f %% are %d operations %s", share, s.Count, s.Type)
		if s.Count == 1 {
			text = fmt.Sprintf("%.0f %% is one operation %s", share, s.Type)
		}
		if peak := r.Roofs[s.Device].MACsPerS; peak > 0 && s.MACs > 0 && s.TimeUS > 0 {
			text += fmt.Sprintf(", at %.2g %% of the peak", 100*float64(s.MACs)/(s.TimeUS/1e6)/peak)
		}
		if s.BoundBy != "" {
			text += fmt.Sprintf(", bound by %s (%s)", s.BoundBy, glossary.ClassOf(glossary.Reason, s.BoundBy))
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
