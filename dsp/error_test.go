package dsp

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestErrors checks that broken programs end with the packet and the rule.
func TestErrors(t *testing.T) {
	c := testCore(t)
	for _, k := range []struct {
		name, text, want string
	}{
		{"unmapped", "\tr1 = #0\n\tr0 = memw(r1+#0)\n\tjumpr r31\n", "dsp: packet 0x10004: L2_loadri_io: 4 bytes at 0x0 are not mapped (job j, thread 0)"},
		{"unmapped vector", "\tr1 = ##0x100fc0\n\tv0 = vmemu(r1+#0)\n\tjumpr r31\n", "dsp: packet 0x10008: V6_vL32Ub_ai: 128 bytes at 0x100fc0 are not mapped"},
		{"misaligned", "\tr1 = ##0x100002\n\tr0 = memw(r1+#0)\n\tjumpr r31\n", "address 0x100002 is not a multiple of 4"},
		{"store to code", "\tr1 = ##0x10000\n\tmemw(r1+#0) = r1\n\tjumpr r31\n", "store of 4 bytes to read-only address 0x10000"},
		{"jump outside", "\tr1 = #64\n\tjumpr r1\n", "dsp: packet 0x10004: jump to 0x40, which is outside the program [0x10000,0x10008)"},
		{"falls off the end", "\tr1 = #64\n", "dsp: packet 0x10000: code runs on to 0x10004, which is outside the program"},
		{"endless", "top:\n\tjump top\n", "packet limit reached"},
		{"endless loop", "\t{ loop0(top,#1000) }\ntop:\n\tnop\n\t{ nop } :endloop0\n", "packet limit reached"},
	} {
		for _, functional := range []bool{true, false} {
			p := assemble(t, codeBase, k.text)
			space := new(mem.Space)
			require.NoError(t, space.Map(mem.Segment{Name: "d", Base: 0x100000, Data: make([]byte, 0x1000)}))
			_, err := c.Run(p, space, []Job{{Name: "j", Entry: codeBase, Threads: 1}}, Options{Functional: functional, MaxPackets: 1000})
			require.ErrorContains(t, err, k.want, k.name)
		}
	}
}

func TestBadWords(t *testing.T) {
	c := testCore(t)
	for _, k := range []struct {
		name string
		code []byte
		want string
	}{
		{"duplex", []byte{0, 0, 0, 0x20}, "dsp: packet 0x10000: r0 = memh(r0+#0x0): register written twice"},
		{"unknown", []byte{0xff, 0xff, 0xff, 0xff}, "no known instruction form"},
		{"two multiplies of both units", hexagon.Bytes([]uint32{0x1c006040, 0x1c00e041}), "dsp: packet 0x10000: vector pipes oversubscribed"},
		{"half a packet", []byte{0x00, 0x40, 0x00, 0x7f}, "code ends inside a packet"},
	} {
		_, err := c.Run(&Program{Base: codeBase, Code: k.code}, nil, []Job{{Entry: codeBase, Threads: 1}}, Options{})
		require.ErrorContains(t, err, k.want, k.name)
	}
}

// TestSupervisor checks that every instruction beyond a program's privilege ends with an error that names it.
func TestSupervisor(t *testing.T) {
	c := testCore(t)
	for _, f := range hexagon.Forms() {
		if !f.Has(hexagon.FlagSupervisor) {
			continue
		}
		words := []uint32{0x7f00c000, f.Match | 3<<14} // nop, then the instruction with all operands zero
		_, err := c.Run(&Program{Base: codeBase, Code: hexagon.Bytes(words)}, nil, []Job{{Entry: codeBase, Threads: 1}}, Options{})
		if err == nil || !strings.Contains(err.Error(), "dsp: packet 0x10004: supervisor instruction ") || !strings.Contains(err.Error(), f.Name) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

func TestBadJobs(t *testing.T) {
	s := testSpec(t)
	s.Contexts = 1
	c := require.V(newCold(s))(t)
	p := assemble(t, codeBase, "\tv0 = vxor(v0,v0)\n\tjumpr r31\n")
	for _, k := range []struct {
		name string
		job  Job
		want string
	}{
		{"threads", Job{Name: "j", Entry: codeBase, Threads: 5}, "dsp: job j: 5 threads, the core has 4"},
		{"no thread", Job{Name: "j", Entry: codeBase}, "0 threads"},
		{"arguments", Job{Name: "j", Entry: codeBase, Threads: 1, Args: make([][]uint32, 2)}, "arguments for 2 threads"},
		{"registers", Job{Name: "j", Entry: codeBase, Threads: 1, Args: [][]uint32{make([]uint32, 29)}}, "29 arguments"},
		{"contexts", Job{Name: "j", Entry: codeBase, Threads: 2}, "the 1 vector contexts belong to other threads"},
		{"entry", Job{Name: "j", Entry: codeBase + 2, Threads: 1}, "not a multiple of 4"},
	} {
		require.ErrorContains(t, require.Err(c.Run(p, nil, []Job{k.job}, Options{})), k.want, k.name)
	}
	// The second thread reaches vectors after the first, from the same block.
	p = assemble(t, codeBase, "again:\n\t{ r0 = add(r0,#-1) }\n\t{ p0 = cmp.gt(r0,#0) }\n\t{ if (p0) jump:t again }\n\tjump last\nlast:\n\tv0 = vxor(v0,v0)\n\tjumpr r31\n")
	behind := Job{Name: "j", Entry: codeBase, Threads: 2, Args: [][]uint32{{1}, {50}}}
	for _, functional := range []bool{false, true} {
		_, err := c.Run(p, nil, []Job{behind}, Options{Functional: functional})
		if err == nil || !strings.Contains(err.Error(), "the 1 vector contexts belong to other threads") || !strings.Contains(err.Error(), "thread 1") {
			t.Errorf("vectors behind scalars: %v", err)
		}
	}
	s.Threads = 0
	require.Fails(t, require.Err(newCold(s)), "a machine without threads is accepted")
}

// TestLoadsOfCode: a program may load its own code, and nothing beyond its end.
func TestLoadsOfCode(t *testing.T) {
	for _, c := range []struct {
		load string
		at   uint32
		ok   bool
	}{
		{"memw", 0, true}, {"memw", 8, true}, {"memw", 12, false}, {"memub", 11, true}, {"memub", 12, false}, {"memuh", 10, true},
		{"memd", 0, true}, {"memd", 8, false}, {"vmem", 0, false},
	} {
		to := map[string]string{"memd": "r1:0", "vmem": "v0"}[c.load]
		to = cmp.Or(to, "r0")
		p := assemble(t, codeBase, fmt.Sprintf("\t%s = %s(r0+#0)\n\tnop\n\tjumpr r31\n", to, c.load))
		if len(p.Code) != 12 {
			t.Fatalf("%d bytes of code", len(p.Code))
		}
		_, err := testCore(t).Run(p, nil, []Job{{Name: "j", Entry: codeBase, Threads: 1, Args: [][]uint32{{codeBase + c.at}}}}, Options{})
		if c.ok != (err == nil) {
			t.Errorf("%s at byte %d of 12: %v", c.load, c.at, err)
		}
		if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Kind != FaultMemory) {
			t.Errorf("%s at byte %d of 12: %v, want a fault of memory", c.load, c.at, err)
		}
	}
}

// TestTLBMatch: an entry matches addresses of its page, whose size is 4 KiB times four to the number of trailing zeros of
// its low word, six at most; without its valid bit it matches none.
func TestTLBMatch(t *testing.T) {
	const valid, page = 1 << 31, 0x5555555
	for _, c := range []struct {
		low, high uint32
		va        uint32
		want      byte
	}{
		{1, valid | page, page, 0xff}, {1, page, page, 0}, {1, valid | page, page ^ 1, 0}, {2, valid | page, page ^ 3, 0xff}, {2, valid | page, page ^ 4, 0},
		{1 << 5, valid | page, page ^ 1<<9, 0xff}, {1 << 5, valid | page, page ^ 1<<10, 0},
		{1 << 6, valid | page, page ^ 1<<11, 0xff}, {1 << 6, valid | page, page ^ 1<<12, 0},
		{1 << 7, valid | page, page ^ 1<<11, 0xff}, {1 << 7, valid | page, page ^ 1<<12, 0}, {0, valid | page, page ^ 1<<12, 0},
		{1, valid | page, page | 1<<27, 0xff}, {1, valid | page, page ^ 1<<26, 0},
	} {
		var st Registers
		st.R[0], st.R[1], st.R[2] = c.low, c.high, c.va
		require.NoError(t, runText(t, "p0 = tlbmatch(r1:0,r2)", &st, make([]byte, 128)))
		if st.P[0] != c.want {
			t.Errorf("entry %#x:%#x, address %#x: %#x, want %#x", c.high, c.low, c.va, st.P[0], c.want)
		}
	}
}
