package session

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/sim/soc"
)

// assumptions has a row per preset and engine: how many numbers that concern it have no public source, the least and the
// largest change of latency in percent when one of them is halved or doubled, the number that does most, and the same of
// energy. They are those of docs/DEVIATIONS.md (go test ./bench/session -run TestAssumption -update-trust).
//
//go:embed assumed.txt
var assumptions string

// Assumption says how far numbers without a public source could move a run on an engine.
type Assumption struct {
	Keys            int
	Latency, Energy Effect
}

// Effect is the least and the largest change in percent that one number makes, halved or doubled, and the one that makes
// the largest.
type Effect struct {
	Low, High float64
	Key       string
}

// AssumptionOf is what is known of an engine of a preset; ok is false where nothing is.
func AssumptionOf(soc, engine string) (a Assumption, ok bool) {
	for line := range strings.Lines(assumptions) {
		var preset, name string
		l, e := &a.Latency, &a.Energy
		if n, _ := fmt.Sscan(line, &preset, &name, &a.Keys, &l.Low, &l.High, &l.Key, &e.Low, &e.High, &e.Key); n == 9 && preset == soc && name == engine {
			return a, true
		}
	}
	return Assumption{}, false
}

// assumption is what is known of an engine of the report's machine, or else of the nearest preset that it is a variant of;
// on is then " of " and that preset.
func (r *Report) assumption(engine string) (a Assumption, on string, ok bool) {
	for name := r.SoC; ; {
		if a, ok = AssumptionOf(name, engine); ok {
			return a, on, true
		}
		base := soc.Base(name)
		if base == name {
			return Assumption{}, "", false
		}
		name, on = base, " of "+base
	}
}

// unsourced says in a sentence how far numbers without a public source could move a run of the report; "" where nobody knows.
func (r *Report) unsourced(x *Run) string {
	var latency, energy []string
	for _, engine := range engines([]Run{*x}) {
		if a, on, ok := r.assumption(engine); ok {
			effect := func(e *Effect) string {
				return fmt.Sprintf("%+.1f to %+.1f %% on the %s%s (%s)", e.Low, e.High, engine, on, e.Key)
			}
			latency, energy = append(latency, effect(&a.Latency)), append(energy, effect(&a.Energy))
		}
	}
	if latency == nil {
		return ""
	}
	return fmt.Sprintf("Assumed keys could move it: one halved or doubled changes its latency by %s, its energy by %s (docs/DEVIATIONS.md).",
		strings.Join(latency, ", "), strings.Join(energy, ", "))
}
