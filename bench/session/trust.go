package session

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// trusted has a row per preset and engine: how many published latencies ours were compared with, and the least and the
// largest ratio of ours to them, and what they are: "check", "fit" where a constant of the engine was chosen by them, or
// the cpu.library that the preset must be given to compute as they did.
// They stand in docs/FIDELITY.md (go test ./bench/session -run TestTrust -update-trust).
//
//go:embed trust.txt
var trusted string

// Trust says how far the times of an engine were from published ones.
type Trust struct {
	Checks    int     // published latencies of the same engine
	Low, High float64 // ratios ours / published
	Fitted    bool    // a constant of the engine was chosen by these latencies: there are no others
	Library   string  // key cpu.library of ours in these ratios, where it is not the preset's
}

// TrustOf is what is known of an engine of a preset; ok is false where nothing is.
func TrustOf(soc, engine string) (t Trust, ok bool) {
	for line := range strings.Lines(trusted) {
		var preset, name, role string
		if n, _ := fmt.Sscan(line, &preset, &name, &t.Checks, &t.Low, &t.High, &role); n == 6 && preset == soc && name == engine {
			switch role {
			case "check":
			case "fit":
				t.Fitted = true
			default:
				t.Library = role
			}
			return t, true
		}
	}
	return Trust{}, false
}

// trust says in a sentence how far the times of a report's runs can be trusted: of the engines that ran something.
func (r *Report) trust() string {
	var known []string
	for _, engine := range engines(r.Runs) {
		t, ok := TrustOf(r.SoC, engine)
		if !ok {
			continue
		}
		count := fmt.Sprint(t.Checks)
		if known == nil {
			count += " networks"
		}
		if t.Fitted {
			count += ", fitted to them"
		}
		if t.Library != "" {
			count += ", with cpu.library " + t.Library
		}
		known = append(known, fmt.Sprintf("%.2f to %.2f on the %s (%s)", t.Low, t.High, engine, count))
	}
	if known == nil {
		return fmt.Sprintf("How far to trust these times: no latency of a network was published for these engines of %s. Compare two designs rather than trust one time (docs/FIDELITY.md).", r.SoC)
	}
	return fmt.Sprintf("How far to trust these times: divided by published latencies they give %s (docs/FIDELITY.md).", strings.Join(known, ", "))
}

// engines are the names of the devices that ran something, each once: those of a plan in place of its name.
func engines(runs []Run) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range runs {
		x := &runs[i]
		if x.LatencyUS == nil {
			continue
		}
		if !Divides(x.Device) {
			add(x.Device)
			continue
		}
		for k := range x.Devices {
			add(x.Devices[k].Device)
		}
	}
	return names
}
