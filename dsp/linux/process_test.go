package linux

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/sim"
)

// execCopies runs so many copies of a program, the i-th with i arguments, and returns their report and the first one's
// exit code.
func execCopies(t *testing.T, core *coldCore, n int, text string) (*sim.Report, int) {
	t.Helper()
	b := executable(t, text)
	var ps []*Process
	for range n {
		im := require.V(LoadELF(b))(t)
		ps = append(ps, &Process{Image: im, Args: make([]string, len(ps)), Stdout: io.Discard, Stderr: io.Discard})
	}
	rep := require.V(core.Exec(ps, dsp.Options{}))(t)
	return rep, ps[0].Status
}

// counter is one of a report.
func counter(rep *sim.Report, name string) (n int64) {
	for _, c := range rep.Counters {
		if c.Name == name {
			n += c.Value
		}
	}
	return n
}

const exitZero = "\n{ r6 = #94 ; r0 = #0 }\n trap0(#1)\n\t.bss\n\t.p2align 12\nbuf: .space 65536\n"

// TestCopiesShareCodeAlone: every copy of a program loads its data into the caches, the code is loaded once.
func TestCopiesShareCodeAlone(t *testing.T) {
	const lines = 64
	core := testCore(t)
	s := core.Spec()
	for _, c := range []struct{ name, load, counter string }{
		{"vectors", "loop0(1f,r1)\n1: { v0 = vmem(r0++#1) }:endloop0", "l2_read_miss"},
		{"stored vectors", "loop0(1f,r1)\n1: { vmem(r0++#1) = v0 }:endloop0", "l2_write_miss"},
		{"stored words", "loop0(1f,r1)\n1: { memw(r0++m0) = r3 }:endloop0", "l2_write_miss"},
		{"words", "loop0(1f,r1)\n1: { r3 = memw(r0++m0) }:endloop0", "l1d_read_miss"},
		{"l2fetch", "{ l2fetch(r0,r2) ; r1 = ##20000 }\n loop0(1f,r1)\n1: { r3 = memw(r0+#0) ; r1 = add(r1,#1) }:endloop0\n { v0 = vmem(r0+#0) }", "l2_fill"},
	} {
		text := fmt.Sprintf("_start: { r0 = ##buf ; r2 = #%d ; r1 = #%d }\n { m0 = r2 }\n { r2 = ##%#x }\n%s\n", s.L2.LineBytes, lines, s.L2.LineBytes<<16|s.L2.LineBytes<<8|lines, c.load) + exitZero
		one, _ := execCopies(t, core, 1, text)
		for n := 2; n <= s.Contexts; n++ {
			rep, _ := execCopies(t, core, n, text)
			got, want := counter(rep, c.counter), lines*int64(n)
			if c.counter != "l1d_read_miss" {
				want += counter(one, c.counter) - lines // of the code
			}
			if got != want {
				t.Errorf("%d copies, %s: %s %d, want %d", n, c.name, c.counter, got, want)
			}
			if code := counter(rep, "l1i_read_miss"); code != counter(one, "l1i_read_miss") {
				t.Errorf("%d copies, %s: %d lines of code miss, of one copy %d", n, c.name, code, counter(one, "l1i_read_miss"))
			}
		}
	}
}

// TestCopiesInL1D lets copies load a word one after another: each misses it once,
// and its own argc.
func TestCopiesInL1D(t *testing.T) {
	core := testCore(t)
	for n := 1; n <= core.Spec().Threads; n++ {
		rep, _ := execCopies(t, core, n, "_start: { r4 = memw(r29+#0) ; r0 = ##buf }\n { r4 = mpyi(r4,#1000) }\n loop0(1f,r4)\n1: nop\n { nop }:endloop0\n"+
			strings.Repeat("{ r1 = memw(r0+#0) }\n", 3)+exitZero)
		if got, want := counter(rep, "l1d_read_miss"), 2*int64(n); got != want {
			t.Errorf("%d copies: %d misses, want %d", n, got, want)
		}
	}
}

// TestProcessVTCM: a program finds VTCM at its place, with the time of VTCM, and may provide its initial contents.
func TestProcessVTCM(t *testing.T) {
	core := testCore(t)
	s := core.Spec()
	stream := func(where string) string {
		return "_start: { r0 = ##" + where + " }\n loop0(1f,#400)\n1: { v0 = vmem(r0+#0) ; vmem(r0++#1) = v1 }:endloop0\n" + exitZero
	}
	there, _ := execCopies(t, core, 1, stream(fmt.Sprint(s.VTCMBase)))
	if w := there.Stalls[sim.StallDRAM] + there.Stalls[sim.StallL2]; w != 0 || counter(there, "l2_write") != 0 {
		t.Errorf("VTCM: waits %v", there.Stalls)
	}
	if here, _ := execCopies(t, core, 1, stream("buf")); here.Stalls[sim.StallDRAM] == 0 {
		t.Errorf("memory: waits %v", here.Stalls)
	}
	last := fmt.Sprintf("_start: { r1 = ##%d }\n { memw(r1+#0) = #41 }\n { r0 = memw(r1+#0) ; r6 = #94 }\n trap0(#1)\n", s.VTCMBase+s.VTCMBytes-4)
	if _, status := execCopies(t, core, 1, last); status != 41 {
		t.Errorf("the last word of VTCM: %d", status)
	}
	own := object.Image{Entry: codeBase, Segments: []object.Segment{
		codeSegment(t, codeBase, fmt.Sprintf("{ r1 = ##%d }\n { r0 = memw(r1+#4) ; r6 = #94 }\n trap0(#1)\n", s.VTCMBase)),
		{Addr: s.VTCMBase, Data: []byte{4: 42, 7: 0}, Write: true},
	}}
	b := require.V(own.ELF())(t)
	im := require.V(LoadELF(b))(t)
	p := &Process{Image: im, Stdout: io.Discard, Stderr: io.Discard}
	if _, err := core.Exec([]*Process{p}, dsp.Options{}); err != nil || p.Status != 42 {
		t.Errorf("a segment in VTCM: status %d, %v", p.Status, err)
	}
}

// TestProcessMemoryCalls requests memory in odd ways. Every case exits with 0.
func TestProcessMemoryCalls(t *testing.T) {
	const (
		brk  = "{ r6 = #214 }\n trap0(#1)\n"
		mmap = "{ r0 = #0 ; r6 = #222 ; r2 = #3 ; r4 = #-1 }\n { r3 = #0x22 ; r5 = #0 }\n trap0(#1)\n"
	)
	for _, c := range []struct{ name, text string }{
		{"pages of brk that come again are zero", "{ r0 = #0 }\n" + brk + "{ r10 = r0 ; r0 = add(r0,##0x20000) }\n" + brk +
			"{ r1 = #7 }\n{ memw(r10+##0x1fffc) = r1 }\n{ r0 = r10 }\n" + brk + "{ r0 = add(r10,##0x20000) }\n" + brk + "{ r0 = memw(r10+##0x1fffc) }\n"},
		{"the page that brk keeps is kept", "{ r0 = #0 }\n" + brk + "{ r10 = r0 ; r0 = add(r0,##0x20000) }\n" + brk +
			"{ memw(r10+#64) = #7 }\n{ r0 = add(r10,#32) }\n" + brk + "{ r0 = memw(r10+#64) }\n{ r0 = add(r0,#-7) }\n"},
		{"brk out of its range changes nothing", "{ r0 = #0 }\n" + brk + "{ r10 = r0 ; r0 = #-4 }\n" + brk + "{ r0 = sub(r0,r10) }\n"},
		{"two mappings do not meet", "{ r1 = ##0x10001 }\n" + mmap + "{ r10 = r0 ; r1 = #1 }\n" + mmap + "{ r0 = sub(r0,r10) }\n{ r0 = add(r0,##-0x20000) }\n"},
		{"a mapping of nothing is invalid", "{ r1 = #0 }\n" + mmap + "{ r0 = add(r0,#22) }\n"},
		{"a mapping that is too large", "{ r1 = #-1 }\n" + mmap + "{ r0 = add(r0,#12) }\n"},
		{"a mapping larger than what is left", "{ r1 = ##0x10000 }\n" + mmap + "{ r1 = ##0x10000000 }\n" + mmap + "{ r0 = add(r0,#12) }\n"},
	} {
		if _, status := execCopies(t, testCore(t), 1, "_start:\n"+c.text+"{ r6 = #94 }\n trap0(#1)\n"); status != 0 {
			t.Errorf("%s: status %d", c.name, status)
		}
	}
}
