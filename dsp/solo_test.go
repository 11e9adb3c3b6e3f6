package dsp

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestLimitOfPackets: the limit ends a timed run at the packet where it ends a
// functional one, in whatever block of a program that goes round for ever.
func TestLimitOfPackets(t *testing.T) {
	c := testCore(t)
	p := assemble(t, codeBase, "again:\n{ r1 = add(r1,#1) }\n{ p0 = tstbit(r1,#1) }\n{ if (p0) jump:t more }\n{ r2 = add(r2,#1) ; r3 = r2 }\n{ jump again }\nmore:\n{ r4 = r1 }\n{ jump again }\n")
	for limit := int64(1); limit < 100; limit++ {
		var got [2]string
		for i, functional := range []bool{true, false} {
			_, err := c.Run(p, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{Functional: functional, MaxPackets: limit})
			got[i] = fmt.Sprint(err)
		}
		if got[0] != got[1] || got[0] == "<nil>" {
			t.Errorf("limit %d: functional %s, timed %s", limit, got[0], got[1])
		}
	}
}
