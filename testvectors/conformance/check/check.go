// Package check has the parts common to the checks of package conformance: the check, its models and its drivers.
package check

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

// Check proves rows of the table of obligations.
type Check struct {
	Name string   // the rule, in a few words
	Rows []string // ids of the table
	Run  func(t *T)
	// EachDevice runs the check on every device; otherwise it needs none.
	EachDevice bool
	// InProcess means that a device behind a process boundary has nothing to check.
	InProcess bool
}

// T collects the findings of a check.
type T struct {
	Device  hal.Device // nil unless the check is for each device
	errs    []error
	skipped string
	parent  *T // of the check, for one on another device
}

// On is the same check on another device.
func (t *T) On(d hal.Device) *T {
	if t.parent != nil {
		t = t.parent
	}
	return &T{Device: d, parent: t}
}

// stop ends a check.
type stop struct{}

// Errorf records a failure.
func (t *T) Errorf(format string, args ...any) {
	if t.parent != nil {
		t = t.parent
	}
	t.errs = append(t.errs, fmt.Errorf(format, args...))
}

// Check records a failure unless a condition holds.
func (t *T) Check(ok bool, format string, args ...any) {
	if !ok {
		t.Errorf(format, args...)
	}
}

// Fatalf records a failure and ends the check.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stop{})
}

// Skipf ends a check that does not concern the device.
func (t *T) Skipf(format string, args ...any) {
	if t.parent != nil {
		t = t.parent
	}
	t.skipped = fmt.Sprintf(format, args...)
	panic(stop{})
}

// Status checks the status of an error.
func (t *T) Status(what string, err error, want ...hal.Status) {
	if got := hal.StatusOf(err); !slices.Contains(want, got) {
		t.Errorf("%s: status %v, want %v: %v", what, got, want, err)
	}
}

// OK ends the check unless err is nil.
func (t *T) OK(what string, err error) {
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// Equal checks a value.
func Equal[V comparable](t *T, what string, got, want V) {
	t.Check(got == want, "%s: %v, want %v", what, got, want)
}

// Same compares bytes.
func (t *T) Same(what string, got, want []byte) {
	t.Check(bytes.Equal(got, want), "%s: output %v, want %v", what, got, want)
}

// Outcome is the finding of a check on a device.
type Outcome struct {
	Err     error
	Skipped string // why it does not concern the device
}

// RunOn runs the check on a device, nil for one that needs none.
func (c *Check) RunOn(d hal.Device) (o Outcome) {
	t := &T{Device: d}
	defer func() {
		switch v := recover().(type) {
		case nil, stop:
		default:
			_, file, line, _ := runtime.Caller(2)
			t.Errorf("panic: %v (%s:%d)", v, file, line)
		}
		o = Outcome{errors.Join(t.errs...), t.skipped}
	}()
	c.Run(t)
	return o
}

// InDriver ends a check of a driver's results, whatever path leads to it.
func (t *T) InDriver() {
	if _, remote := t.Device.(*service.Device); remote {
		t.Skipf("checked in the process of the driver")
	}
}

// V is the value of a call without an error, or the end of the check: e := check.V(f())(t, "what it is").
func V[X any](x X, err error) func(*T, string) X {
	return func(t *T, what string) X {
		t.OK(what, err)
		return x
	}
}

// V2 is V for two values.
func V2[X, Y any](x X, y Y, err error) func(*T, string) (X, Y) {
	return func(t *T, what string) (X, Y) {
		t.OK(what, err)
		return x, y
	}
}

// Err is the error of a call whose value is not needed.
func Err[X any](_ X, err error) error { return err }
