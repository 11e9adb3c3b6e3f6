package testvectors

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn/compare"
)

// Failure is a case that failed.
type Failure struct {
	Spec, Name string
	Operations []string            // types of those of the model; nil of a malformed case
	Err        error               // wraps ErrMalformed when the case itself is at fault
	Difference *compare.Difference // nil when the failure is not a difference of outputs
}

// Declined is a case that the device does not support, and why.
type Declined struct {
	Spec, Name, Reason string
	Operations         []string
}

// Report counts the outcome of cases on a device.
type Report struct {
	Cases, Passed, Failed, Unsupported int
	// Skipped counts variations that the rules leave out.
	Skipped    int
	Failures   []Failure        // in the order of the cases
	Declined   []Declined       // likewise
	Variations []VariationCount // with Plan.Variations
}

// VariationCount is the part of a report that is one variation's.
type VariationCount struct {
	Name                                        string
	Cases, Passed, Failed, Unsupported, Skipped int
}

// Plan is the cases to run, and how.
type Plan struct {
	Device hal.Device
	Files  []*vectors.File
	// Run picks cases by name; nil is all.
	Run *regexp.Regexp
	// variations also runs the variations of each case.
	Variations bool
	// Functional skips the timing model.
	Functional bool
	// Workers is the number of cases in flight; 0 is GOMAXPROCS.
	Workers int
	// Progress is called with the number of finished cases, from one goroutine
	// at a time.
	Progress func(done, total int)
	// Visit is called for each case in order, after all have run.
	Visit func(c *vectors.Case, passed bool)
}

// Execute runs the cases of a plan in parallel. Cases with an operation that the
// device declines count as unsupported, malformed ones as failed. A device that
// panics fails the case.
func (p *Plan) Execute() *Report {
	items, counts := p.items()
	type outcome struct {
		declined string
		err      error
	}
	outcomes := make([]outcome, len(items))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	workers := p.Workers
	if workers < 1 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, len(items)) {
		wg.Go(func() {
			for i := range next {
				outcomes[i].declined, outcomes[i].err = p.one(&items[i])
				if p.Progress != nil {
					mu.Lock()
					done++
					p.Progress(done, len(items))
					mu.Unlock()
				}
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	wg.Wait()

	r := &Report{Cases: len(items), Variations: counts}
	for _, v := range counts {
		r.Skipped += v.Skipped
	}
	for i, o := range outcomes {
		c := items[i].c
		items[i].count(counts, o.declined, o.err)
		if p.Visit != nil {
			p.Visit(c, c.Model != nil && o.declined == "" && o.err == nil)
		}
		switch {
		case o.err != nil:
			r.Failed++
			f := Failure{Spec: items[i].file.Spec, Name: c.Name, Operations: operations(c), Err: o.err}
			errors.As(o.err, &f.Difference)
			r.Failures = append(r.Failures, f)
		case o.declined != "":
			r.Unsupported++
			r.Declined = append(r.Declined, Declined{items[i].file.Spec, c.Name, o.declined, operations(c)})
		default:
			r.Passed++
		}
	}
	return r
}

// item is a case to run; of a variation, base is the case that it was made from.
type item struct {
	file      *vectors.File
	c, base   *vectors.Case
	variation int // index into Variations, -1 of a case as it is
}

// items lists the items to run, and an empty count of each variation.
func (p *Plan) items() (items []item, counts []VariationCount) {
	picked := func(name string) bool { return p.Run == nil || p.Run.MatchString(name) }
	if p.Variations {
		for i := range variations {
			counts = append(counts, VariationCount{Name: variations[i].Name})
		}
	}
	for _, f := range p.Files {
		for _, c := range f.Cases {
			if picked(c.Name) {
				items = append(items, item{f, c, nil, -1})
			}
			valid, err := check(nil, c)
			for k := range counts {
				if !picked(c.Name + "_" + counts[k].Name) {
					continue
				}
				var v *vectors.Case
				made := false
				if valid && err == nil && !c.ExpectFailure {
					v, made = variations[k].Make(c)
				}
				if made {
					items = append(items, item{f, v, c, k})
				} else {
					counts[k].Skipped++
				}
			}
		}
	}
	return items, counts
}

// count adds the outcome of a variation to its count.
func (x *item) count(counts []VariationCount, declined string, err error) {
	if x.variation < 0 {
		return
	}
	n := &counts[x.variation]
	n.Cases++
	switch {
	case err != nil:
		n.Failed++
	case declined != "":
		n.Unsupported++
	default:
		n.Passed++
	}
}

func (p *Plan) one(x *item) (declined string, err error) {
	defer func() {
		if v := recover(); v != nil {
			declined, err = "", fmt.Errorf("panic: %v", v)
		}
	}()
	if x.variation >= 0 {
		return variations[x.variation].Run(p.Device, x.base, x.c, p.Functional)
	}
	return RunCase(p.Device, x.c, p.Functional)
}

func operations(c *vectors.Case) (names []string) {
	if c.Model == nil {
		return nil
	}
	for i := range c.Model.Main.Operations {
		names = append(names, c.Model.Main.Operations[i].Type.String())
	}
	return names
}
