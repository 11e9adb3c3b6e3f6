package plan

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestLastCopy: a kernel waits for a copy that writes memory which it uses, or that reads memory which it writes.
func TestLastCopy(t *testing.T) {
	buffer := func(addr int) layout.Buffer { return layout.Buffer{Addr: addr, Bytes: 16} }
	const src, dst, other, weights = 0, 16, 32, 48
	for _, c := range []struct {
		what                     string
		ifm, ifm2, ofm, buffered int
		done, want               int
	}{
		{"reads what is copied", dst, other, other, other, 0, 1},
		{"reads it as the second operand", other, dst, other, other, 0, 1},
		{"has its weights copied", other, other, other, dst, 0, 1},
		{"overwrites the copy", other, other, dst, other, 0, 1},
		{"overwrites what is copied", other, other, src, other, 0, 1},
		{"reads the source", src, src, other, src, 0, 0},
		{"uses other memory", other, other, other, weights, 0, 0},
		{"reads what has been copied", dst, dst, dst, dst, 1, 0},
	} {
		at := func(addr int) layout.Ref { return layout.Ref{FeatureMap: layout.Dense(addr, 1, 1, 16, 1, false)} }
		ifm2 := at(c.ifm2)
		w := &job{Step: step.Step{Kernel: kernel.Kernel{IFM: at(c.ifm), IFM2: &ifm2, OFM: at(c.ofm)}}, weights: buffer(c.buffered), buffered: true}
		e := &emitter{copies: []transfer{{src: buffer(src), dst: buffer(dst)}}, copiesDone: c.done}
		got := e.lastCopy(w)
		require.Check(t, got == c.want, "a kernel that %s waits for %d copies, want %d", c.what, got, c.want)
	}
}
