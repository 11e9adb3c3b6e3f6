package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/sim/trace"
)

// counted keeps the counters of a trace.
type counted struct {
	trace.Writer
	list []string
}

func (c *counted) Counter(_, name string, atFs int64, v float64) {
	if strings.HasSuffix(name, "(GB/s)") {
		c.list = append(c.list, fmt.Sprint(atFs/1e9, " ", v))
	}
}

// TestSystemCacheEnd: the end of an execution, a few nanoseconds with more requests than data, is no bandwidth.
func TestSystemCacheEnd(t *testing.T) {
	w := &counted{}
	p := &phoneTrace{writer: w, until: sim.Never}
	us := sim.Microsecond
	for _, u := range []platform.SystemCacheUse{
		{From: 50 * us, To: 100 * us, Bytes: 50_000}, {From: 100 * us, To: 100*us + us/10, Bytes: 50_000}, // a tenth of a microsecond at 500 GB/s
		{From: 300 * us, To: 350 * us, Bytes: 100_000},
	} {
		u.Engine, u.Lookups = soc.EngineGPU, 1
		p.systemCache(&u)
	}
	if got, want := strings.Join(w.list, "\n"), "50 1\n100 0\n300 2"; got != want {
		t.Errorf("drawn\n%s\nwant\n%s", got, want)
	}
}
