// Package conformance proves the obligations of the NNAPI HAL and runtime row by row: rows.txt lists
// them with their ids, a check.Check proves some of them on every device or once, and a row
// with neither check nor reason fails a test. docs/CONFORMANCE.md is generated from both;
// nnsoc conformance runs the checks of a row.
//
// The rows are of ten sections: A the HAL's interfaces, B capabilities, C the runtime, D utilities, E the vendor test
// suite, F the ML Test Suite, G types and versions, H the behaviour of other drivers, I traps, J the life of a driver.
// Checks of them are in packages by subject: driver (the HAL's requirements of one), app (an app's view of the
// runtime), model (requirements of models, operations and tools), mlts; those of traps are here.
package conformance

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/testvectors/conformance/app"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/conformance/driver"
	"github.com/nnsoc/nnsoc/testvectors/conformance/mlts"
	"github.com/nnsoc/nnsoc/testvectors/conformance/model"
)

// groups are the checks in the order of the table.
func groups() [][]check.Check {
	return [][]check.Check{
		driver.StatusChecks(), driver.DeviceChecks(), driver.ExtensionChecks(), driver.PreparedChecks(), driver.BurstChecks(),
		driver.CacheChecks(), driver.FencedChecks(), driver.MemoryChecks(), driver.CapabilityChecks(), model.UtilityChecks(),
		model.VTSChecks(), model.MutationChecks(), driver.LifecycleChecks(), model.EditChecks(), driver.ServiceChecks(),
		app.RuntimeChecks(), model.RuleChecks(), app.Checks(), app.RuleChecks(), driver.RuleChecks(), model.Checks(),
		model.OperationChecks(), app.ExecutionChecks(), app.PlanChecks(), app.PropertyChecks(), mlts.Checks(), mlts.RuleChecks(),
		trapChecks(),
	}
}

// Checks lists all checks.
func Checks() []check.Check { return slices.Concat(groups()...) }

// Row is one obligation.
type Row struct {
	ID    string
	Title string
	// NotApplicable is why nothing can prove it here; empty when checks do.
	NotApplicable string
}

//go:embed rows.txt
var rowsText string

// Rows lists the obligations: id, title, and after a third tab why one does not apply.
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

// Reporter is the part of *testing.T that Run uses; it keeps package testing out of the command line.
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
