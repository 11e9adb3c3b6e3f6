package dsp

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestLimitOfPackets: the limit ends a timed run at the packet where it ends a functional one, in whatever block of an
// endless loop.
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

// TestStoreBursts: a single thread costs the same cycles and counts the same events as one that is timed access by
// access, as a recorder requires. The stores walk through lines of DRAM and VTCM, forwards, backwards, in pairs, in
// several blocks and mixed with loads.
func TestStoreBursts(t *testing.T) {
	spec := testSpec(t)
	r := rand.New(rand.NewSource(12))
	bodies := []string{
		"memb(r0+#%d) = r2", "memh(r0+#%d) = r2", "memw(r0+#%d) = r2", "memd(r0+#%d) = r3:2", "r5 = memw(r0+#%d)", "r6 = memub(r1+#%d)",
		"memw(r1+#%d) = r2", "memw(r0+#%d) += r2", "vmem(r7+#0) = v0", "v1 = vmem(r7+#0)", "r0 = add(r0,#8)", "r7 = add(r7,#64)", "if (p0) memw(r0+#%d) = r2",
		"memw(r0+#%d) = r2 ; memw(r0+#4) = r3", "jump", "nop }\n{ nop }\n{ nop }\n{ nop",
	}
	for i := range 300 {
		spec.IssueInterval, spec.L2.HitCycles = 1+i%2, 12+i%5*5
		c := require.V(newCold(spec))(t)

		text := "{ r4 = #200 ; p0 = cmp.eq(r2,r2) }\n{ loop0(1f,r4) }\n1:\n"
		n := 1 + r.Intn(16)
		for k := range n {
			s := bodies[r.Intn(len(bodies))]
			if r.Intn(2) == 0 {
				s = bodies[r.Intn(4)]
			}
			if s == "jump" {
				text += fmt.Sprintf("{ jump l%d }\nl%d:\n", k, k)
				s = "nop"
			}
			if strings.Contains(s, "%d") {
				s = fmt.Sprintf(s, 8*r.Intn(1<<r.Intn(5)))
			}
			if text += "{ " + s + " }"; k == n-1 {
				text += ":endloop0"
			}
			text += "\n"
		}
		text += "{ jumpr r31 }\n"
		p := assemble(t, codeBase, text)
		space := new(mem.Space)
		for _, s := range []mem.Segment{{Name: "dram", Base: outBase, Data: make([]byte, 1<<16)}, {Name: "vtcm", Base: VTCMBase, Data: make([]byte, 1<<16)}} {
			require.NoError(t, space.Map(s))
		}
		base := []uint32{outBase, outBase + 1<<12, VTCMBase}
		args := []uint32{base[r.Intn(3)], base[r.Intn(2)] + 1024, 7, 9, 0, 0, 0, base[r.Intn(3)]}
		var got [2]string
		for k, rec := range []*Recorder{nil, {Lo: codeBase, Hi: codeBase + 4, Max: 1}} {
			rep, err := c.Run(p, space, []Job{{Entry: codeBase, Threads: 1, Args: [][]uint32{args}}}, Options{Record: rec})
			if err != nil {
				t.Fatalf("program %d: %v\n%s", i, err, text)
			}
			got[k] = fmt.Sprintf("%+v", *rep)
		}
		if got[0] != got[1] {
			t.Fatalf("program %d\n%salone            %.600s\naccess by access %.600s", i, text, got[0], got[1])
		}
	}
}

// TestWaysOut: a block left to another successor than the time before costs the cycles that a recorder sees.
func TestWaysOut(t *testing.T) {
	c := testCore(t)
	p := assemble(t, codeBase, "{ r4 = #50 ; r0 = pc }\n{ r8 = r0 ; r11 = #1 }\nagain:\n{ loop0(1f,#3) }\n1:\n{ r7 = memw(r8+#0) }\n{ jump more }\nmore:\n{ r8 = mpyi(r0,r11) }:endloop0\n{ r10 = add(r8,#1) }\n"+
		"{ p0 = cmp.gt(r4,#1) ; r4 = add(r4,#-1) }\n{ if (p0) jump:t again }\n{ jumpr r31 }\n")
	var got [2]string
	for k, rec := range []*Recorder{nil, {Lo: codeBase, Hi: codeBase + 4, Max: 1}} {
		rep := require.V(c.Run(p, new(mem.Space), []Job{{Entry: codeBase, Threads: 1}}, Options{Record: rec}))(t)
		got[k] = fmt.Sprintf("%+v", *rep)
	}
	if got[0] != got[1] {
		t.Errorf("alone    %.600s\nrecorded %.600s", got[0], got[1])
	}
}
