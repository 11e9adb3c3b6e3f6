package crash

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outcome of a crash test: the first that was heard counts.
type Outcome string

// Outcomes.
const (
	Success Outcome = "SUCCESS"
	Failure Outcome = "FAILURE" // an assertion
	Crash   Outcome = "CRASH"   // the test's process died
	Hang    Outcome = "HANG"    // nothing was heard in time
)

// Coordinator runs crash tests.
type Coordinator struct {
	// Modes are the names of modes; none are all. Devices are the accelerators.
	Modes, Devices []string
	Socket         func(device string) string // of a driver that serves it, "" is none
	Service        bool
	Models         []string
	Scale          float64
	Seed           uint64
	// Margin is how much later than its duration a test may end, a third of it the limit of a small inference; 0 is 30
	// s.
	Margin  time.Duration
	Command func() *exec.Cmd
	// Progress is called with the test under way; nil is silent.
	Progress func(format string, args ...any)
}

// Verdict is the outcome of a test.
type Verdict struct {
	Mode    string  `json:"mode"`
	Config  Config  `json:"config"` // at full scale
	Device  string  `json:"device"`
	Outcome Outcome `json:"outcome"`
	Text    string  `json:"text,omitempty"`
	Counts  Counts  `json:"counts"`
	HostSec float64 `json:"host_s"`
}

// Filter is the devices whose name matches a regular expression.
func Filter(devices []string, pattern string) ([]string, error) {
	r, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(slices.Clone(devices), func(d string) bool { return !r.MatchString(d) })
	if len(list) == 0 {
		return nil, fmt.Errorf("no device of %s matches %q", strings.Join(devices, ", "), pattern)
	}
	return list, nil
}

// Run runs all configurations of the modes on each device.
func (c *Coordinator) Run() ([]Verdict, error) {
	names := c.Modes
	if len(names) == 0 {
		names = Names()
	}
	for _, name := range names {
		if findMode(name) == nil {
			return nil, fmt.Errorf("no crash test %q; there are\n  %s", name, strings.Join(Names(), "\n  "))
		}
	}
	if !(c.Scale > 0 && c.Scale <= maxScale) {
		return nil, fmt.Errorf("scale %v, want above 0 to %d", c.Scale, maxScale)
	}
	var list []Verdict
	for _, device := range c.Devices {
		for _, name := range names {
			m := findMode(name)
			for i := range m.Configs {
				if c.Progress != nil {
					c.Progress("%s on %s, %d of %d", name, device, i+1, len(m.Configs))
				}
				v, err := c.one(m, i, device)
				if err != nil {
					return nil, err
				}
				list = append(list, *v)
			}
		}
	}
	return list, nil
}

// one runs a test in a separate process.
func (c *Coordinator) one(m *Mode, config int, device string) (*Verdict, error) {
	q := &Request{Role: RoleTest, Mode: m.Name, Config: config, Device: device, Service: c.Service, Models: c.Models, Seed: c.Seed, Scale: c.Scale, Margin: c.Margin}
	if c.Socket != nil {
		q.Socket = c.Socket(device)
	}
	v := &Verdict{Mode: m.Name, Config: m.Configs[config], Device: device}
	limit := q.late()
	start := time.Now()
	p, err := spawn(c.Command, q)
	if err != nil {
		return nil, err
	}
	defer p.end()
	allowed := q.startLimit()
	message, ok, late := p.next(allowed)
	for ok && message.Kind == KindReady { // the duration begins
		allowed = scaled(v.Config.Duration, c.Scale) + limit + message.Late
		message, ok, late = p.next(allowed)
	}
	v.HostSec = time.Since(start).Seconds()
	switch {
	case late:
		v.Outcome, v.Text = Hang, fmt.Sprintf("nothing was heard within %v", allowed.Round(time.Millisecond))
	case !ok:
		v.Outcome, v.Text = Crash, p.exitState()
	case message.Kind == KindSuccess && !message.Count.any():
		v.Outcome, v.Text, v.Counts = Failure, "nothing was compiled or inferred and no client was killed: the test ended before it began its work (a larger --scale gives it time)", message.Count
	case message.Kind == KindSuccess:
		v.Outcome, v.Counts = Success, message.Count
	default:
		v.Outcome, v.Text, v.Counts = Failure, message.Text, message.Count
	}
	return v, nil
}
