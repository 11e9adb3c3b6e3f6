package measure

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// Pace are the flags of how invocations follow one another.
type Pace struct {
	session.Pace
	CSV string // file of the samples of a run over a duration, or of operations
}

// Add adds the flags of invocations.
func (p *Pace) Add(fl *pflag.FlagSet) {
	fl.IntVar(&p.Invocations, "invocations", session.DefaultInvocations, "invocations that are measured; the latency is their mean")
	fl.Float64Var(&p.IntervalUS, "interval-us", 0, "simulated time from the start of an invocation to the next, without a warm-up (default: back to back, after a warm-up)")
	fl.BoolVar(&p.Cold, "cold", false, "make the machine cold before each invocation")
	fl.BoolVar(&p.Burst, "burst", false, "execute through burst objects")
}

// AddDuration adds the flags of a run of simulated minutes.
func (p *Pace) AddDuration(fl *pflag.FlagSet) {
	fl.Var((*duration)(&p.Duration), "duration", "run for a simulated time, such as 10m, and report how latency, clocks, power and temperature change")
	fl.StringVar(&p.CSV, "csv", "", "write a row per operation and device to this file; with --duration its samples")
	cli.MarkFile(fl, "csv")
}

// Check refuses values that no run can have.
func (p *Pace) Check() error {
	switch err := p.Pace.Check(); {
	case p.Invocations == 0: // the session's default, which is not what was asked for
		return cli.Usage(fmt.Errorf("--invocations 0, want 1 to %d", session.MaxInvocations))
	case p.Cold && p.IntervalUS > 0:
		return cli.Usage(fmt.Errorf("--interval-us does nothing with --cold"))
	case err != nil:
		return cli.Usage(fmt.Errorf("--%w", err))
	}
	return nil
}

// duration is the flag of a span of simulated time, 0 when it is not given.
type duration time.Duration

// String implements pflag.Value.
func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (d *duration) Type() string { return "duration" }

// Set implements pflag.Value.
func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil || v < time.Millisecond || v > session.MaxDuration {
		return fmt.Errorf("want %v to %v", time.Millisecond, session.MaxDuration)
	}
	*d = duration(v)
	return nil
}

// ConcurrentInvocations is the default of --invocations for each network. All of them are simulated: beside others, no
// two are the same.
const ConcurrentInvocations = 5
