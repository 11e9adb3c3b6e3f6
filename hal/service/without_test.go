//go:build linux

package service_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// TestLeftOut: a client gives a driver without bursts and fences both.
func TestLeftOut(t *testing.T) {
	d, stop := require.V2(service.Loopback(driver.New()))(t)
	defer stop()
	service.LeaveOut(d)
	ran := 0
	for _, c := range conformance.Checks() {
		if !c.EachDevice || c.InProcess || !strings.ContainsAny(c.Rows[0][:1], "AE") {
			continue
		}
		o := c.RunOn(d)
		require.Check(t, o.Err == nil, "%s: %v", c.Name, o.Err)
		if strings.Contains(c.Name, "burst") || strings.Contains(c.Name, "fence") {
			if ran++; o.Skipped != "" {
				t.Errorf("%s: skipped: %s", c.Name, o.Skipped)
			}
		}
	}
	require.Check(t, ran >= 7, "%d checks of bursts and fences", ran)
}

// TestUnusedModelsGo: a client that prepares models one after the other has quota for the next, though
// nothing collects garbage in between.
func TestUnusedModelsGo(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	d, stop := require.V2(service.Loopback(driver.New()))(t)
	defer stop()
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 2, 3)
	b.Output(b.Add(x, x, builder.NoActivation), "y")
	m := require.V(b.Model("sum"))(t)
	for i := range 600 { // a client may have 256
		require.NoError(t, require.Err(d.PrepareModel(m, hal.PrepareOptions{})), "model", i)
	}
}
