package testvectors

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Summary counts the cases of a suite.
type Summary struct {
	Passed, Failed, Unsupported int
	// ByOperation counts the passed cases that contain an operation.
	ByOperation map[nn.OperationType]int
}

// RunCase executes a case on a device. declined is the reason why the device
// declines an operation of the case; then nothing runs. A malformed case fails
// on every device, one that must fail passes when its model is invalid.
func RunCase(d hal.Device, c *vectors.Case, functional bool) (declined string, err error) {
	return RunCaseOf(nil, d, c, functional)
}

// RunCaseOf is RunCase for models with operations of a table.
func RunCaseOf(operations *opspec.Table, d hal.Device, c *vectors.Case, functional bool) (declined string, err error) {
	valid, err := check(operations, c)
	if err != nil || !valid {
		return "", err
	}
	if declined, err = declines(d, c.Model); declined != "" {
		return declined, nil
	}
	if err == nil {
		err = execute(d, c, functional)
	}
	if !c.ExpectFailure {
		return "", err
	}
	if err == nil {
		return "", errors.New("no error, one was expected")
	}
	return "", nil
}

// ErrMalformed is inside the error of a case that states no model, an invalid
// one or values that do not fit it.
var ErrMalformed = errors.New("malformed case")

// check checks a case itself. valid is false without an error when a case that must fail has an invalid model.
func check(operations *opspec.Table, c *vectors.Case) (valid bool, err error) {
	if c.Model == nil {
		return false, fmt.Errorf("%w: %w", ErrMalformed, c.Malformed)
	}
	if err := validate.ModelOf(operations, c.Model); err != nil {
		if c.ExpectFailure {
			return false, nil
		}
		return false, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	for k, list := range [2][]vectors.Value{c.Inputs, c.Outputs} {
		what, operands := [2]string{"input", "output"}[k], [2][]uint32{c.Model.Main.Inputs, c.Model.Main.Outputs}[k]
		if len(list) != len(operands) {
			return false, fmt.Errorf("%w: %d %ss have %d values", ErrMalformed, len(operands), what, len(list))
		}
		for i := range list {
			v := &list[i]
			want := int64(v.Type.ElementBytes())
			if !v.Type.IsScalar() {
				want *= nn.Elements(v.Dimensions)
			}
			if omitted := k == 0 && len(v.Data) == 0; int64(len(v.Data)) != want && !omitted && !c.ExpectFailure {
				return false, fmt.Errorf("%w: %s %d has %d bytes, %v %v has %d", ErrMalformed, what, i, len(v.Data), v.Type, v.Dimensions, want)
			}
		}
	}
	return true, nil
}

// declines is the first reason of a device not to run a model, "" when it runs
// all of it.
func declines(d hal.Device, m *nn.Model) (string, error) {
	answers, err := d.SupportedOperations(m)
	if err != nil {
		return "", fmt.Errorf("supported operations: %w", err)
	}
	if len(answers) != len(m.Main.Operations) {
		return "", fmt.Errorf("supported operations: %d answers for %d operations", len(answers), len(m.Main.Operations))
	}
	for i, a := range answers {
		if !a.OK {
			return fmt.Sprintf("operation %d: %s", i, a.Reason), nil
		}
	}
	return "", nil
}

func execute(d hal.Device, c *vectors.Case, functional bool) error {
	p, err := d.PrepareModel(c.Model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}
	r := request(c, functional)
	result, err := hal.Execute(p, r)
	if err != nil {
		return fmt.Errorf("execute: %w", err)
	}
	if c.ExpectFailure {
		return nil
	}
	if err := checkShapes(c, result, hal.StatusNone); err != nil {
		return err
	}
	return Check(c, result.OutputDimensions, r.Outputs)
}

// request is the request of a case with an output buffer for each expected one.
func request(c *vectors.Case, functional bool) *hal.Buffers {
	r := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: functional}}
	for _, v := range c.Inputs {
		r.Inputs, r.InputDimensions = append(r.Inputs, v.Data), append(r.InputDimensions, v.Dimensions)
	}
	for _, v := range c.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, len(v.Data)))
	}
	return r
}

// checkShapes checks that a result has the shape of each output. An execution that succeeds may leave out all of them
// where the model states them, and calls no buffer too small.
func checkShapes(c *vectors.Case, r *hal.Result, status hal.Status) error {
	if i := slices.Index(r.Insufficient, true); i >= 0 && status == hal.StatusNone {
		return fmt.Errorf("output %d: %v, with a buffer that is called too small", i, status)
	}
	g := &c.Model.Main
	open := func(x uint32) bool { return !g.Operands[x].Known() }
	if len(r.OutputDimensions) == 0 && status == hal.StatusNone && !slices.ContainsFunc(g.Outputs, open) {
		return nil
	}
	if len(r.OutputDimensions) != len(c.Outputs) {
		return fmt.Errorf("the device reports shapes of %d outputs, the model has %d", len(r.OutputDimensions), len(c.Outputs))
	}
	for i := range c.Outputs {
		if r.OutputDimensions[i] == nil && !c.Outputs[i].Type.IsScalar() {
			return fmt.Errorf("output %d: the device does not tell its shape", i)
		}
	}
	return nil
}

// T is the part of *testing.T that a suite uses; it keeps package testing out of the command line.
type T interface {
	Helper()
	Skip(args ...any)
	Error(args ...any)
	Errorf(format string, args ...any)
}

// AsSpecified keeps the cases that a specification states and leaves out those which
// are the same with an operation before each input, or with constants as inputs.
func AsSpecified(c *vectors.Case) bool { return !strings.Contains(c.Name, "_all_") }

// Run runs the corpus on a device: every case whose operations the device
// declares supported must pass. filter picks cases, nil all.
func Run(t T, d hal.Device, filter func(*vectors.Case) bool) Summary {
	t.Helper()
	return run(t, d, filter, false)
}

// RunFunctional is Run without the timing model, which takes a simulated device a third of the processor's time.
func RunFunctional(t T, d hal.Device, filter func(*vectors.Case) bool) Summary {
	t.Helper()
	return run(t, d, filter, true)
}

func run(t T, d hal.Device, filter func(*vectors.Case) bool, functional bool) Summary {
	t.Helper()
	s := Summary{ByOperation: map[nn.OperationType]int{}}
	for f := range Corpus() {
		for _, c := range f.Cases {
			if filter != nil && !filter(c) {
				continue
			}
			declined, err := RunCase(d, c, functional)
			switch {
			case err != nil:
				s.Failed++
				t.Errorf("%s: %s: %s: %v", d.Name(), f.Spec, c.Name, err)
			case declined != "":
				s.Unsupported++
			default:
				s.Passed++
				seen := map[nn.OperationType]bool{}
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
