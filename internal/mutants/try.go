package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Outcome is what became of a fault.
type Outcome string

// The outcomes. A fault that is out of memory or time counts as found.
const (
	Found    Outcome = "found"
	Survived Outcome = "survived"
	Known    Outcome = "known" // survived and listed
	unfit    Outcome = ""      // it does not compile
)

// Result is a fault with its outcome.
type Result struct {
	Fault
	Outcome Outcome `json:"outcome"`
	By      string  `json:"by,omitempty"`     // package whose tests found it
	Reason  string  `json:"reason,omitempty"` // of a known survivor
	Seconds float64 `json:"seconds"`
}

// options are how faults are tried.
type options struct {
	limit   time.Duration // of the tests of one package
	stages  int           // 0: all
	reasons map[string]string
}

// try plants faults until each area has its share of n results.
func try(samples [][]Fault, n, workers int, o *options) ([]Result, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var (
		mu      sync.Mutex
		results []Result
		failed  error
		wg      sync.WaitGroup
	)
	next := make(chan []Fault)
	for w := range workers {
		wg.Go(func() {
			for quota := range next {
				// quota[0] is to be tried; those behind it stand in when it does not compile.
				for i := range quota {
					r, err := one(&quota[i], filepath.Join(dir, fmt.Sprint(w)), o)
					mu.Lock()
					if err != nil {
						failed = errors.Join(failed, err)
					}
					if err == nil && r.Outcome != unfit {
						results = append(results, r)
						fmt.Fprintf(os.Stderr, "%d %s %.0fs %s:%d %s\n", len(results), r.Outcome, r.Seconds, r.File, r.Line, r.Key())
					}
					mu.Unlock()
					if err != nil || r.Outcome != unfit {
						break
					}
				}
			}
		})
	}
	// A fault and its stand-ins: every k-th of the list.
	for i := range n {
		list := samples[i%len(samples)]
		each := (n + len(samples) - 1) / len(samples)
		var quota []Fault
		for j := i / len(samples); j < len(list); j += each {
			quota = append(quota, list[j])
		}
		next <- quota
	}
	close(next)
	wg.Wait()
	return results, failed
}

// one plants a fault and runs the tests.
func one(f *Fault, dir string, o *options) (Result, error) {
	start := time.Now()
	r := Result{Fault: *f}
	src, err := f.apply()
	if err != nil {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	abs, err := filepath.Abs(f.File)
	if err != nil {
		return r, err
	}
	changed, overlay := filepath.Join(dir, "fault.go"), filepath.Join(dir, "overlay.json")
	b, err := json.Marshal(map[string]map[string]string{"Replace": {abs: changed}})
	if err != nil {
		return r, err
	}
	if err := errors.Join(os.WriteFile(changed, src, 0o644), os.WriteFile(overlay, b, 0o644)); err != nil {
		return r, err
	}
	if exec.Command("go", "build", "-overlay", overlay, "./"+f.Package).Run() != nil {
		return r, nil
	}
	r.Outcome = Survived
	for i, stage := range stagesOf(f) {
		if o.stages > 0 && i >= o.stages {
			break
		}
		found, by, err := test(stage, overlay, o.limit)
		if err != nil {
			return r, err
		}
		if found {
			r.Outcome, r.By = Found, by
			break
		}
	}
	if reason, ok := o.reasons[f.Key()]; ok && r.Outcome == Survived {
		r.Outcome, r.Reason = Known, reason
	}
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// stagesOf are the tests of the fault's package, of its neighbours in the driver it is of, then those of its area.
func stagesOf(f *Fault) [][]string {
	stages := [][]string{{"./" + f.Package}}
	if dir := strings.Split(f.Package, "/"); f.Area == "hal/driver" {
		switch dir[min(2, len(dir)-1)] {
		case "dsp", "gpu", "npu":
			stages = append(stages, []string{"./" + strings.Join(dir[:3], "/") + "/..."})
		default: // what all drivers share
			stages = append(stages, []string{"./hal/driver/..."})
		}
	}
	for _, a := range areas {
		if a.name == f.Area {
			stages = append(stages, a.stages...)
		}
	}
	return stages
}

// memoryKiB is the address space that tests with a fault may take.
const memoryKiB = 24 << 20

// test reports whether a test of some packages fails, and of which.
func test(patterns []string, overlay string, limit time.Duration) (bool, string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*limit)
	defer cancel()
	args := []string{"-c", fmt.Sprintf("ulimit -v %d; exec go \"$@\"", memoryKiB), "go", "test", "-vet=off", "-failfast", "-timeout", limit.String(), "-overlay", overlay}
	out, err := exec.CommandContext(ctx, "sh", append(args, patterns...)...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return false, "", fmt.Errorf("mutants: go test: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "FAIL\t"); ok {
			return true, strings.Fields(name)[0], nil
		}
	}
	return err != nil, "", nil
}
