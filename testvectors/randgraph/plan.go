package randgraph

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
)

// Options steer a run.
type Options struct {
	Seed  uint64
	Count int
	// Operations picks operations by name, nil all.
	Operations *regexp.Regexp
	// Declared draws only operations and types that the device supports in some form of a few that are tried.
	Declared bool
	// Table is the operations to draw; nil is Standard.
	Table *Table
	// Exact also requires integer, boolean and quantized results to be equal.
	Exact bool
	// Float judges by the equivalent float32 model on the reference CPU, where
	// there is one, as CTS does; else the reference in the model's own types is
	// the judge.
	Float bool
	// Self is set for the reference CPU, which cannot judge itself: cases without an equivalent float32 model are not
	// run.
	Self bool
	// Functional skips the timing model.
	Functional bool
	// Workers is the number of cases in flight; 0 is GOMAXPROCS.
	Workers int
	// Progress is called with the number of finished steps of a phase, from one
	// goroutine at a time.
	Progress func(phase string, done, total int)
}

// Coverage counts the outcomes of a variant, as an operation of any case.
type Coverage struct {
	Variant                             Variant
	Generated, Ran, Passed, Unsupported int
}

// Report is the outcome of a run; it depends only on device and options.
type Report struct {
	Cases, Passed, Failed, Unsupported int
	// Unjudged counts cases that have no judge; see Options.Self.
	Unjudged   int
	Undeclared int        // operations and types that are not drawn; see Options.Declared
	Coverage   []Coverage // in the order of Variants
	Failures   []Failure  // in the order of the cases
}

// Failure is a case that failed.
type Failure struct {
	Index int
	// Name and Variants are of the case as drawn, Err is its error.
	Name     string
	Variants []Variant
	Err      error
	// Small is the smallest case found that fails the same way, with SmallErr.
	// It is nil when an earlier failure has the same operations and kind.
	Small    *Case
	SmallErr error
}

// Kind is the kind of the failure.
func (f *Failure) Kind() Kind { return kindOf(f.Err) }

// maxShrunk bounds how many failures of a run are shrunk.
const maxShrunk = 24

// Run draws cases, runs them on a device and on the reference CPU, compares the results and shrinks failures.
func Run(d hal.Device, o Options) (*Report, error) {
	if o.Self && !o.Float {
		return nil, errors.New("randgraph: the reference is no judge of itself; Float judges by the equivalent float32 model")
	}
	table := o.Table
	if table == nil {
		table = Standard()
	}
	gen, err := table.generator(o.Seed, o.Operations)
	if err != nil {
		return nil, err
	}
	undeclared := 0
	if o.Declared {
		if undeclared = gen.declared(d); len(gen.variants) == 0 {
			return nil, fmt.Errorf("randgraph: %s declares none of the %d operations and types to draw", d.Name(), undeclared)
		}
	}
	gen.unusual = true
	type outcome struct { // without the case, which can be drawn again
		name      string
		variants  []Variant
		supported bool
		unjudged  bool
		err       error
	}
	accepts := func(m *nn.Model) bool {
		ok, err := supports(d, m)
		return ok && err == nil
	}
	outcomes := make([]outcome, o.Count)
	o.parallel("cases", o.Count, func(i int) {
		c, err := gen.Case(i, accepts)
		if err != nil {
			outcomes[i] = outcome{err: fail(Invalid, "%w", err)}
			return
		}
		if o.Self && equivalent(c) == nil {
			outcomes[i] = outcome{name: c.Name, variants: c.Variants, unjudged: true}
			return
		}
		s, err := judge(d, c, o)
		outcomes[i] = outcome{name: c.Name, variants: c.Variants, supported: s, err: err}
	})

	r := &Report{Cases: o.Count, Undeclared: undeclared}
	cov := map[string]*Coverage{}
	for _, v := range gen.variants {
		r.Coverage = append(r.Coverage, Coverage{Variant: v})
	}
	for i := range r.Coverage {
		cov[r.Coverage[i].Variant.String()] = &r.Coverage[i]
	}
	for i := range outcomes {
		x := &outcomes[i]
		switch {
		case x.err != nil:
			r.Failed++
			r.Failures = append(r.Failures, Failure{Index: i, Name: x.name, Variants: x.variants, Err: x.err})
		case x.unjudged:
			r.Unjudged++
		case !x.supported:
			r.Unsupported++
		default:
			r.Passed++
		}
		for _, v := range x.variants {
			c := cov[v.String()]
			c.Generated++
			switch {
			case x.err != nil && kindOf(x.err) == Invalid:
			case x.unjudged:
			case !x.supported:
				c.Unsupported++
			case x.err == nil:
				c.Ran++
				c.Passed++
			default:
				c.Ran++
			}
		}
	}
	r.shrink(d, o, func(i int) (*Case, error) { return gen.Case(i, accepts) })
	return r, nil
}

// shrink shrinks the first failure of each group; draw draws a case again.
func (r *Report) shrink(d hal.Device, o Options, draw func(i int) (*Case, error)) {
	var picked []int
	seen := map[string]bool{}
	for i := range r.Failures {
		f := &r.Failures[i]
		if f.Variants == nil || len(picked) == maxShrunk {
			continue
		}
		if g := group(f.Variants, f.Err); !seen[g] {
			seen[g] = true
			picked = append(picked, i)
		}
	}
	o.parallel("failures", len(picked), func(k int) {
		f := &r.Failures[picked[k]]
		if c, err := draw(f.Index); err == nil {
			f.Small, f.SmallErr = shrink(d, c, f.Err, o)
		}
	})
	seen = map[string]bool{}
	for _, i := range picked {
		f := &r.Failures[i]
		if f.Small == nil {
			continue
		}
		if g := culprit(f.Small, f.SmallErr); seen[g] {
			f.Small, f.SmallErr = nil, nil // the same in another graph
		} else {
			seen[g] = true
		}
	}
}

// group names failures that are probably one.
func group(variants []Variant, err error) string {
	s := kindOf(err).String()
	for _, v := range variants {
		s += " " + v.String()
	}
	return s
}

// culprit names shrunk failures that are probably one: by the operation with the wrong result, as far as it is known.
func culprit(c *Case, err error) string {
	var d *compare.Difference
	if g := &c.Model.Main; errors.As(err, &d) && d.Output < len(g.Outputs) {
		for i := range g.Operations {
			if slices.Contains(g.Operations[i].Outputs, g.Outputs[d.Output]) {
				return kindOf(err).String() + " " + c.Variants[i].String()
			}
		}
	}
	return group(c.Variants, err)
}

// parallel calls f for 0 to n-1 on several goroutines.
func (o *Options) parallel(phase string, n int, f func(i int)) {
	workers := o.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				f(i)
				if o.Progress != nil {
					mu.Lock()
					done++
					o.Progress(phase, done, n)
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
