// Package conformance proves the obligations of the NNAPI HAL and runtime row by row: rows.txt lists
// them with their ids, a Check proves some of them on every device or once, and a row
// with neither check nor reason fails a test. docs/CONFORMANCE.md is generated from both;
// nnsoc conformance runs the checks of a row.
//
// The rows are of ten sections: A the HAL's interfaces, B capabilities, C the runtime, D utilities, E the
// vendor test suite, F the ML Test Suite, G types and versions, H what drivers of others do, I traps, J the life
// of a driver.
package conformance

import (
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
)

// Check proves rows of the table of obligations.
type Check struct {
	Name string   // what holds, in a few words
	Rows []string // ids of the table
	Run  func(t *T)
	// EachDevice runs the check on every device; otherwise it needs none.
	EachDevice bool
	// InProcess says that a device behind a process boundary has nothing to check.
	InProcess bool
}

// groups are the checks in the order of the table.
func groups() [][]Check {
	return [][]Check{
		statusChecks(), deviceChecks(), extensionChecks(), preparedChecks(), burstChecks(), cacheChecks(),
		fencedChecks(), memoryChecks(), capabilityChecks(), utilityChecks(), vtsChecks(), mutationChecks(), lifecycleChecks(),
		editChecks(), serviceChecks(), runtimeChecks(), ruleChecks(), appChecks(), appRuleChecks(), halRuleChecks(), modelRuleChecks(), operationRuleChecks(), executionChecks(), planChecks(), propertyChecks(),
		mltsChecks(), mltsRuleChecks(), trapChecks(),
	}
}

// Checks lists all checks.
func Checks() []Check { return slices.Concat(groups()...) }

// Row is one obligation.
type Row struct {
	ID    string
	Title string
	// NotApplicable says why nothing can prove it here; empty when checks do.
	NotApplicable string
}

//go:embed rows.txt
var rowsText string

// Rows lists the obligations: id, title, and behind a third tab why one does not apply.
func Rows() []Row {
	var list []Row
	for line := range strings.Lines(rowsText) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.SplitN(line, "\t", 3)
		r := Row{ID: f[0]}
		if len(f) > 1 {
			r.Title = f[1]
		}
		if len(f) > 2 {
			r.NotApplicable = f[2]
		}
		list = append(list, r)
	}
	return list
}

// T collects what a check finds.
type T struct {
	Device  hal.Device // nil unless the check is for each device
	errs    []error
	skipped string
	whole   *T // of the check, for one on another device
}

// on is the same check on another device.
func (t *T) on(d hal.Device) *T {
	if t.whole != nil {
		t = t.whole
	}
	return &T{Device: d, whole: t}
}

// stop ends a check.
type stop struct{}

// Errorf records a failure.
func (t *T) Errorf(format string, args ...any) {
	if t.whole != nil {
		t = t.whole
	}
	t.errs = append(t.errs, fmt.Errorf(format, args...))
}

// Fatalf records a failure and ends the check.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stop{})
}

// Skipf ends a check that does not concern the device.
func (t *T) Skipf(format string, args ...any) {
	if t.whole != nil {
		t = t.whole
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
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Outcome is what a check found on a device.
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

// Reporter is what Run needs of *testing.T; it keeps package testing out of the command line.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Summary counts the checks of Run.
type Summary struct {
	Passed, Failed int
	Skipped        []string // the checks that do not concern the device, with the reason
}

// Run runs every check that concerns a device on it: for the test of a driver, in this module
// or in another one.
func Run(t Reporter, d hal.Device) (s Summary) {
	t.Helper()
	for _, c := range Checks() {
		if !c.EachDevice {
			continue
		}
		switch o := c.RunOn(d); {
		case o.Err != nil:
			s.Failed++
			t.Errorf("%s: %s (%s): %v", d.Name(), c.Name, strings.Join(c.Rows, " "), o.Err)
		case o.Skipped != "":
			s.Skipped = append(s.Skipped, c.Name+": "+o.Skipped)
		default:
			s.Passed++
		}
	}
	return s
}

// Unproved lists the rows without a check that are not excused, checks that name a row
// which is not in the table, and rows that are excused though a check names them.
func Unproved() []error {
	proved := map[string]bool{}
	var errs []error
	known := map[string]bool{}
	for _, r := range Rows() {
		if known[r.ID] || r.Title == "" {
			errs = append(errs, fmt.Errorf("row %s is there twice or has no title", r.ID))
		}
		known[r.ID] = true
	}
	for _, c := range Checks() {
		for _, id := range c.Rows {
			if !known[id] {
				errs = append(errs, fmt.Errorf("check %q names row %s, which is not in the table", c.Name, id))
			}
			proved[id] = true
		}
		if len(c.Rows) == 0 {
			errs = append(errs, fmt.Errorf("check %q names no row", c.Name))
		}
	}
	for _, r := range Rows() {
		if proved[r.ID] == (r.NotApplicable != "") {
			errs = append(errs, fmt.Errorf("row %s (%s) needs a check or a reason, not both", r.ID, r.Title))
		}
	}
	return errs
}
