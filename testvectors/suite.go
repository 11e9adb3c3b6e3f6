package testvectors

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/importer/vectors"
)

// Summary counts the cases of a suite.
type Summary struct {
	Passed, Failed, Unsupported int
	// ByOperation counts the passed cases that contain an operation.
	ByOperation [nn.OperationCount]int
}

// RunCase executes a case on a device. supported is false when the device
// declines an operation of the case; then nothing runs.
func RunCase(d hal.Device, c *vectors.Case, functional bool) (supported bool, err error) {
	if c.Model == nil {
		return false, nil
	}
	answers, err := d.SupportedOperations(c.Model)
	if err != nil {
		if c.ExpectFailure {
			return true, nil
		}
		return false, err
	}
	for _, a := range answers {
		if !a.OK {
			return false, nil
		}
	}
	err = execute(d, c, functional)
	if c.ExpectFailure {
		if err == nil {
			return true, fmt.Errorf("no error, one was expected")
		}
		return true, nil
	}
	return true, err
}

func execute(d hal.Device, c *vectors.Case, functional bool) error {
	p, err := d.PrepareModel(c.Model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	r := &hal.Request{Functional: functional}
	for _, v := range c.Inputs {
		r.Inputs = append(r.Inputs, v.Data)
	}
	for _, v := range c.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, len(v.Data)))
	}
	result, err := p.Execute(r)
	if err != nil {
		return fmt.Errorf("execute: %w", err)
	}
	if c.ExpectFailure {
		return nil
	}
	return Check(c, result.OutputDimensions, r.Outputs)
}

// T is what a suite needs of *testing.T; it keeps package testing out of the
// command line.
type T interface {
	Helper()
	Skip(args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
}

// Run runs the corpus on a device: every case whose operations the device
// declares supported must pass. filter picks cases, nil all. It skips when the
// corpus is absent.
func Run(t T, d hal.Device, filter func(*vectors.Case) bool) Summary {
	t.Helper()
	files := Files()
	if len(files) == 0 {
		t.Skip("skipped: needs shared data")
	}
	var s Summary
	for _, path := range files {
		f, err := vectors.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range f.Cases {
			if filter != nil && !filter(c) {
				continue
			}
			supported, err := RunCase(d, c, false)
			switch {
			case err != nil:
				s.Failed++
				t.Errorf("%s: %s: %s: %v", d.Name(), f.Spec, c.Name, err)
			case !supported:
				s.Unsupported++
			default:
				s.Passed++
				seen := [nn.OperationCount]bool{}
				for _, op := range c.Model.Main.Operations {
					if op.Type.Valid() && !seen[op.Type] {
						seen[op.Type] = true
						s.ByOperation[op.Type]++
					}
				}
			}
		}
	}
	return s
}
