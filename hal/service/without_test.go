//go:build linux

package service_test

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// TestLeftOut: a client gives a driver without bursts and fences both.
func TestLeftOut(t *testing.T) {
	d, stop, err := service.Loopback(driver.New())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	service.LeaveOut(d)
	ran := 0
	for _, c := range conformance.Checks() {
		if !c.EachDevice || c.InProcess || !strings.ContainsAny(c.Rows[0][:1], "AE") {
			continue
		}
		o := c.RunOn(d)
		if o.Err != nil {
			t.Errorf("%s: %v", c.Name, o.Err)
		}
		if strings.Contains(c.Name, "burst") || strings.Contains(c.Name, "fence") {
			if ran++; o.Skipped != "" {
				t.Errorf("%s: skipped: %s", c.Name, o.Skipped)
			}
		}
	}
	if ran < 7 {
		t.Errorf("%d checks of bursts and fences", ran)
	}
}
