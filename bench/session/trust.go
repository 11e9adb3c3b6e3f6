package session

import (
	_ "embed"
	"fmt"
	"strings"
)

// trusted has a row per preset and engine: how many published latencies ours were compared with, and the least and the
// largest ratio of ours to them, and "fit" where a constant of the engine was chosen by them. They are those of docs/FIDELITY.md (go test ./bench/session -run TestTrust -update-trust).
//
//go:embed trust.txt
var trusted string

// Trust says how far the times of an engine were from published ones.
type Trust struct {
	Checks    int     // published latencies of the same engine
	Low, High float64 // ratios ours / published
	Fitted    bool    // a constant of the engine was chosen by these latencies: there are no others
}

// TrustOf is what is known of an engine of a preset; ok is false where nothing is.
func TrustOf(soc, engine string) (t Trust, ok bool) {
	for line := range strings.Lines(trusted) {
		var preset, name, role string
		if n, _ := fmt.Sscan(line, &preset, &name, &t.Checks, &t.Low, &t.High, &role); n == 6 && preset == soc && name == engine {
			t.Fitted = role == "fit"
			return t, true
		}
	}
	return Trust{}, false
}

// trust says in a sentence how far the times of a report's runs can be trusted.
func (r *Report) trust() string {
	var known []string
	for i := range r.Runs {
		x := &r.Runs[i]
		if t, ok := TrustOf(r.SoC, x.Device); ok && x.LatencyUS != nil {
			fitted := ""
			if t.Fitted {
				fitted = ", fitted to them"
			}
			known = append(known, fmt.Sprintf("%.2f to %.2f on the %s (%d%s)", t.Low, t.High, x.Device, t.Checks, fitted))
		}
	}
	if known == nil {
		return fmt.Sprintf("No latency was published to compare these engines of %s with: compare two designs rather than trust one time (docs/FIDELITY.md).", r.SoC)
	}
	return fmt.Sprintf("How far to trust these times: relative to the published latencies of networks, ours are %s (docs/FIDELITY.md).", strings.Join(known, ", "))
}
