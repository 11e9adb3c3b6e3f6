package scenario

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// Bounds of a scenario: of its file, its networks, its length and the arrivals of all networks.
const (
	maxFile       = 1 << 20
	maxNetworks   = 16
	maxDurationMS = 60_000
	maxJobs       = 20_000
	minStartC     = -20
	maxStartC     = 80
)

// Scenario is networks that arrive at one phone.
type Scenario struct {
	Name        string  `toml:"name" json:"name"`
	Description string  `toml:"description,omitempty" json:"description,omitempty"`
	Source      string  `toml:"source,omitempty" json:"source,omitempty"` // who describes such a use, or that it is ours
	SoC         string  `toml:"soc,omitempty" json:"soc,omitempty"`       // preset or file; "" is the caller's
	DurationMS  float64 `toml:"duration_ms" json:"duration_ms"`           // in which networks arrive
	Seed        uint64  `toml:"seed,omitempty" json:"seed,omitempty"`     // of random arrivals
	// StartC is the temperature of the whole phone when the scenario begins, in Celsius; 0: as after a long time without
	// work.
	StartC float64 `toml:"start_c,omitempty" json:"start_c,omitempty"`
	// Networks share the phone.
	Networks []Network `toml:"network" json:"networks"`
}

// Network is one network of a scenario and its arrivals.
type Network struct {
	Model string `toml:"model" json:"model"` // a file, or a name of the zoo
	// Arrivals is periodic (the default), poisson or trace.
	Arrivals   string    `toml:"arrivals,omitempty" json:"arrivals,omitempty"`
	PeriodMS   float64   `toml:"period_ms,omitempty" json:"period_ms,omitempty"`     // from one arrival to the next; the mean of poisson
	OffsetMS   float64   `toml:"offset_ms,omitempty" json:"offset_ms,omitempty"`     // of the first arrival of periodic
	TraceMS    []float64 `toml:"trace_ms,omitempty" json:"trace_ms,omitempty"`       // rising, of trace
	DeadlineMS float64   `toml:"deadline_ms,omitempty" json:"deadline_ms,omitempty"` // after the arrival; 0 is the period, of a trace none
	Priority   string    `toml:"priority,omitempty" json:"priority,omitempty"`       // low, medium (the default) or high
}

// Kinds of arrivals.
const (
	Periodic = "periodic"
	Poisson  = "poisson"
	Trace    = "trace"
)

// Priorities are the names of priorities, the lowest first.
var Priorities = []string{"low", "medium", "high"}

// Parse reads a scenario from TOML, or from JSON where it begins with a brace; file is used in errors.
func Parse(file string, data []byte) (*Scenario, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("scenario: %s: %d bytes, at most %d", file, len(data), maxFile)
	}
	var s Scenario
	var err error
	if text := bytes.TrimLeft(data, " \t\r\n\ufeff"); bytes.HasPrefix(text, []byte("{")) {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err = d.Decode(&s); err == nil {
			if _, more := d.Token(); !errors.Is(more, io.EOF) {
				err = errors.New("text behind the object")
			}
		}
	} else {
		err = decodeTOML(data, &s)
	}
	if err == nil {
		err = s.complete()
	}
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", file, err)
	}
	return &s, nil
}

// decodeTOML names the place of an error.
func decodeTOML(data []byte, s *Scenario) error {
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(s)
	var strict *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		row, column := strict.Errors[0].Position()
		return fmt.Errorf("line %d, column %d: there is no key %v", row, column, strict.Errors[0].Key())
	case errors.As(err, &wrong):
		row, column := wrong.Position()
		return fmt.Errorf("line %d, column %d: %w", row, column, err)
	}
	return err
}

// TOML is the scenario as a file that Parse reads.
func (s *Scenario) TOML() ([]byte, error) { return toml.Marshal(s) }

// complete fills in defaults and checks.
func (s *Scenario) complete() error {
	switch {
	case s.Name == "":
		return errors.New("it has no name")
	case !(s.DurationMS > 0 && s.DurationMS <= maxDurationMS):
		return fmt.Errorf("duration_ms = %v, want above 0 and at most %d", s.DurationMS, maxDurationMS)
	case s.StartC != 0 && !(s.StartC >= minStartC && s.StartC <= maxStartC):
		return fmt.Errorf("start_c = %v, want %d to %d", s.StartC, minStartC, maxStartC)
	case len(s.Networks) == 0 || len(s.Networks) > maxNetworks:
		return fmt.Errorf("%d networks, want 1 to %d", len(s.Networks), maxNetworks)
	}
	jobs := 0.
	for i := range s.Networks {
		n := &s.Networks[i]
		if err := n.complete(s.DurationMS); err != nil {
			return fmt.Errorf("network[%d] (%s): %w", i, n.Model, err)
		}
		jobs += n.expected(s.DurationMS)
	}
	if jobs > maxJobs {
		return fmt.Errorf("about %.0f arrivals in %v ms, at most %d", jobs, s.DurationMS, maxJobs)
	}
	return nil
}

func (n *Network) complete(durationMS float64) error {
	if n.Arrivals == "" {
		n.Arrivals = Periodic
	}
	if n.Priority == "" {
		n.Priority = "medium"
	}
	traced := n.Arrivals == Trace
	switch {
	case n.Model == "":
		return errors.New("it names no model")
	case !slices.Contains([]string{Periodic, Poisson, Trace}, n.Arrivals):
		return fmt.Errorf("arrivals = %q; there are %s, %s, %s", n.Arrivals, Periodic, Poisson, Trace)
	case !slices.Contains(Priorities, n.Priority):
		return fmt.Errorf("priority = %q; there are low, medium, high", n.Priority)
	case traced && (n.PeriodMS != 0 || n.OffsetMS != 0):
		return errors.New("period_ms and offset_ms do nothing with a trace")
	case !traced && len(n.TraceMS) > 0:
		return fmt.Errorf("trace_ms does nothing with arrivals = %q", n.Arrivals)
	case n.Arrivals == Poisson && n.OffsetMS != 0:
		return errors.New("offset_ms does nothing with arrivals = \"poisson\"")
	case !traced && !(n.PeriodMS >= 0.01 && n.PeriodMS <= maxDurationMS):
		return fmt.Errorf("period_ms = %v, want 0.01 to %d", n.PeriodMS, maxDurationMS)
	case !(n.OffsetMS >= 0 && n.OffsetMS <= maxDurationMS):
		return fmt.Errorf("offset_ms = %v, want 0 to %d", n.OffsetMS, maxDurationMS)
	case n.OffsetMS >= durationMS && n.OffsetMS > 0:
		return fmt.Errorf("offset_ms = %v, want less than the scenario's duration_ms = %v: it never arrives", n.OffsetMS, durationMS)
	case !(n.DeadlineMS >= 0 && n.DeadlineMS <= maxDurationMS):
		return fmt.Errorf("deadline_ms = %v, want 0 to %d", n.DeadlineMS, maxDurationMS)
	case traced && len(n.TraceMS) == 0:
		return errors.New("it has no trace_ms")
	}
	for i, t := range n.TraceMS {
		if !(t >= 0 && t < durationMS) || i > 0 && t < n.TraceMS[i-1] {
			return fmt.Errorf("trace_ms[%d] = %v, want rising times within the duration", i, t)
		}
	}
	if n.DeadlineMS == 0 {
		n.DeadlineMS = n.PeriodMS
	}
	return nil
}

// expected is about how often the network arrives.
func (n *Network) expected(durationMS float64) float64 {
	if n.Arrivals == Trace {
		return float64(len(n.TraceMS))
	}
	return math.Ceil(durationMS / n.PeriodMS)
}
