package platform

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestInFlight: a request is in flight in spans that have a part of it, not in those that end where it begins or begin
// where it ends.
func TestInFlight(t *testing.T) {
	r := request{from: 10, to: 20}
	for span, want := range map[[2]int64]bool{{0, 10}: false, {0, 11}: true, {12, 13}: true, {19, 30}: true, {20, 30}: false, {0, 30}: true} {
		require.Same(t, want, r.in(sim.Time(span[0]), sim.Time(span[1])), span)
	}
}
