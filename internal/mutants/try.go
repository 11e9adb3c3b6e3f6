package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Outcome is the outcome of a fault.
type Outcome string

// The outcomes. A fault that is out of memory or time counts as found.
const (
	Found     Outcome = "found"
	Survived  Outcome = "survived"
	Unreached Outcome = "unreached" // survived, since no test executes it
	Known     Outcome = "known"     // survived and listed
)

// Result is a fault with its outcome.
type Result struct {
	Fault
	Outcome Outcome `json:"outcome"`
	By      string  `json:"by,omitempty"`     // package and test that found it
	Reason  string  `json:"reason,omitempty"` // of a known survivor
	Tests   int     `json:"tests"`            // that reach it
	Seconds float64 `json:"seconds"`
}

// options are how faults are tried.
type options struct {
	own     bool          // only tests of the fault's package
	near    bool          // only tests of its area
	tests   string        // patterns of packages in place of the area's
	longest time.Duration // no test that takes more user CPU than this
	cache   string        // of the go command, "" for one that is removed with the run
	reasons map[string]string
}

// program is a package's tests, built with the faults.
type program struct {
	area, dir, file string
	tests           []*probe
	leftOut         []LeftOut
}

// probe is one test: the user CPU that it takes and the faults that it reaches.
type probe struct {
	name    string
	cpu     time.Duration
	reached []byte
}

// LeftOut is a test that no fault meets.
type LeftOut struct {
	Package string  `json:"package"`
	Test    string  `json:"test"`
	Why     string  `json:"why"`
	Seconds float64 `json:"seconds"` // of user CPU
}

// try plants n faults, each area's share, and runs the tests that reach each, cheapest first.
func try(ctx context.Context, picked []area, samples [][]Fault, n, workers int, o *options) ([]Result, []LeftOut, error) {
	w, err := newWorkspace(ctx, o.cache)
	if err != nil {
		return nil, nil, err
	}
	defer w.remove()
	s, err := newSchema(w, samples, (n+len(samples)-1)/len(samples))
	if err != nil {
		return nil, nil, err
	}
	var (
		programs []*program
		leftOut  []LeftOut
	)
	for _, a := range picked {
		list, err := s.programs(&a, o)
		if err != nil {
			return nil, nil, err
		}
		for _, p := range list {
			leftOut = append(leftOut, p.leftOut...)
		}
		programs = append(programs, list...)
	}
	var (
		mu      sync.Mutex
		results []Result
		wg      sync.WaitGroup
	)
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			for i := range next {
				r := s.one(programs, s.faults[i], i+1, o)
				if ctx.Err() != nil {
					continue
				}
				mu.Lock()
				results = append(results, r)
				fmt.Fprintf(os.Stderr, "%d %s %.0fs %s:%d %s\n", len(results), cmp.Or(r.By, string(r.Outcome)), r.Seconds, r.File, r.Line, r.Key())
				mu.Unlock()
			}
		})
	}
	for i := range s.faults {
		if ctx.Err() == nil {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	return results, leftOut, ctx.Err()
}

// programs builds the tests of an area and runs each by itself with all faults asleep. One that fails so is left out.
func (s *schema) programs(a *area, o *options) ([]*program, error) {
	patterns := a.in
	if !o.near {
		patterns = append(slices.Clone(a.in), a.users...)
	}
	if o.tests != "" {
		patterns = strings.Split(o.tests, ",")
	}
	if o.own {
		patterns = nil
		for _, f := range s.faults {
			if f.Area == a.name && !slices.Contains(patterns, "./"+f.Package) {
				patterns = append(patterns, "./"+f.Package)
			}
		}
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := s.goCommand(append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("mutants: go list: %w", err)
	}
	var programs []*program
	for i, folder := range strings.Fields(string(out)) {
		dir, err := filepath.Rel(root, folder)
		if err != nil {
			return nil, err
		}
		p := &program{area: a.name, dir: dir, file: filepath.Join(s.dir, fmt.Sprintf("%s%d.test", strings.ReplaceAll(a.name, "/", "_"), i))}
		if out, err := s.goCommand("test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", s.overlay, "-o", p.file, folder).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("mutants: tests of %s: %w\n%s", folder, err, out)
		}
		if err := s.probe(p, o.longest); err != nil {
			return nil, err
		}
		programs = append(programs, p)
	}
	return programs, nil
}

// probe measures the tests of a program and notes the faults that each reaches. User CPU counts, since it depends little
// on what else the machine does.
func (s *schema) probe(p *program, longest time.Duration) error {
	list := exec.CommandContext(s.ctx, p.file, "-test.list", ".")
	list.Dir, list.Env = p.dir, s.env
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("mutants: tests of %s: %w", p.dir, err)
	}
	file := filepath.Join(s.dir, "reached")
	var sum time.Duration
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		if err := os.WriteFile(file, make([]byte, len(s.faults)+1), 0o644); err != nil {
			return err
		}
		r := s.run(p, []string{name}, 0, "NNSOC_REACHED="+file, limits{cpu: longest, wall: 10*longest + time.Minute})
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		why := ""
		switch {
		case r.cpu > longest:
			why = fmt.Sprintf("takes more than %v of user CPU", longest)
		case r.failed:
			why = "fails without a fault"
		}
		if why != "" {
			p.leftOut = append(p.leftOut, LeftOut{p.dir, name, why, r.cpu.Seconds()})
			fmt.Fprintf(os.Stderr, "%s %s is left out: it %s\n", p.dir, name, why)
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		sum += r.cpu
		p.tests = append(p.tests, &probe{name, r.cpu, b})
	}
	fmt.Fprintf(os.Stderr, "%s: %d tests, %.1f s of user CPU\n", p.dir, len(p.tests), sum.Seconds())
	return nil
}

// memoryKiB is the limit of the address space of tests with a fault.
const memoryKiB = 24 << 20

// failure is the line that names a test that fails.
var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// limits bound tests: cpu those that compute without end, wall those that wait.
type limits struct{ cpu, wall time.Duration }

// ran is the outcome of some tests.
type ran struct {
	failed bool
	by     string // first test that failed
	cpu    time.Duration
}

// run runs some tests with a fault awake. Beyond a limit they fail.
func (s *schema) run(p *program, tests []string, fault int, environment string, l limits) ran {
	ctx, cancel := context.WithTimeout(s.ctx, l.wall+time.Minute)
	defer cancel()
	seconds := int64(l.cpu/time.Second) + 2 // the system's share as well
	c := exec.CommandContext(ctx, "sh", "-c", fmt.Sprintf("ulimit -v %d; ulimit -t %d; exec \"$@\"", memoryKiB, seconds), "sh",
		p.file, "-test.run", "^("+strings.Join(tests, "|")+")$", "-test.failfast", "-test.timeout", l.wall.String())
	c.Dir, c.Env = p.dir, append(slices.Clip(s.env), fmt.Sprint("NNSOC_PLANTED=", fault), environment)
	out, err := c.CombinedOutput()
	r := ran{failed: err != nil, by: tests[0]}
	if c.ProcessState != nil {
		r.cpu = c.ProcessState.UserTime()
	}
	if m := failure.FindSubmatch(out); m != nil {
		r.by = string(m[1])
	}
	return r
}

// tiers are limits of the user CPU of a test: all tests below the first look before any other does.
var tiers = []time.Duration{0, 200 * time.Millisecond, time.Second, 5 * time.Second, time.Hour}

// one wakes a fault and runs the tests that reach it.
func (s *schema) one(programs []*program, f *Fault, k int, o *options) Result {
	start := time.Now()
	r := Result{Fault: *f, Outcome: Unreached}
	programs = slices.DeleteFunc(slices.Clone(programs), func(p *program) bool { return p.area != f.Area || o.own && p.dir != f.Package })
	if i := slices.IndexFunc(programs, func(p *program) bool { return p.dir == f.Package }); i > 0 {
		programs[0], programs[i] = programs[i], programs[0]
	}
search:
	for i := range tiers[1:] {
		for _, p := range programs {
			var names []string
			var sum time.Duration
			for _, t := range p.tests {
				if t.reached[k] != 0 && (t.cpu > tiers[i] || i == 0) && t.cpu <= tiers[i+1] {
					names = append(names, t.name)
					sum += t.cpu
				}
			}
			if len(names) == 0 {
				continue
			}
			r.Tests += len(names)
			r.Outcome = Survived
			if x := s.run(p, names, k, "NNSOC_REACHED=", limits{cpu: 10*time.Second + 10*sum, wall: time.Minute + 20*sum}); x.failed {
				r.Outcome, r.By = Found, p.dir+" "+x.by
				break search
			}
		}
	}
	if reason, ok := o.reasons[f.Key()]; ok && r.Outcome != Found {
		r.Outcome, r.Reason = Known, reason
	}
	r.Seconds = time.Since(start).Seconds()
	return r
}
