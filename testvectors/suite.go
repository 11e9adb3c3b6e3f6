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

// RunCase executes a case on a device. declined is the reason why the device
// declines an operation of the case; then nothing runs.
func RunCase(d hal.Device, c *vectors.Case, functional bool) (declined string, err error) {
	if c.Model == nil {
		return "the case has an unknown operation", nil
	}
	answers, err := d.SupportedOperations(c.Model)
	if err != nil {
		if c.ExpectFailure {
			return "", nil
		}
		return "", err
	}
	for i, a := range answers {
		if !a.OK {
			return fmt.Sprintf("operation %d: %s", i, a.Reason), nil
		}
	}
	err = execute(d, c, functional)
	if c.ExpectFailure {
		if err == nil {
			return "", fmt.Errorf("no error, one was expected")
		}
		return "", nil
	}
	return "", err
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
			declined, err := RunCase(d, c, false)
			switch {
			case err != nil:
				s.Failed++
				t.Errorf("%s: %s: %s: %v", d.Name(), f.Spec, c.Name, err)
			case declined != "":
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
