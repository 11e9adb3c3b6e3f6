package dspdriver

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
)

// The listing shows every packet with its operation and cycle.
func TestListing(t *testing.T) {
	m, _ := smallNetwork()
	p := require.V(device(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	var b strings.Builder
	require.NoError(t, p.WriteListing(&b))
	for _, want := range []string{"operation 0 CONV_2D", " threads, estimated ", "vrmpy", ":endloop0", "; 0 @"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in the listing:\n%.2000s", want, b.String())
		}
	}
	n := 0
	for _, k := range allKernels(p) {
		n += len(k.Packets)
	}
	if got := strings.Count(b.String(), " @"); got < n {
		t.Errorf("%d lines with a cycle for %d packets", got, n)
	}
	if testing.Verbose() {
		t.Log("\n" + b.String())
	}
}
