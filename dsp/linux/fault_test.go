package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
)

// executable assembles a program.
func executable(t testing.TB, text string) []byte {
	t.Helper()
	o := require.V(asm.AssembleObject(text, asm.Options{Base: codeBase}))(t)
	b := require.V(o.ELF())(t)
	return b
}

// fragment is code that no assembler would make: words as they are.
func fragment(words ...uint32) string {
	var b strings.Builder
	b.WriteString("_start:\n nop\n")
	for _, w := range words {
		b.WriteString(" .word " + hex(w) + "\n")
	}
	return b.String()
}

func hex(w uint32) string {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], w)
	const digits = "0123456789abcdef"
	s := []byte("0x")
	for _, c := range b {
		s = append(s, digits[c>>4], digits[c&15])
	}
	return string(s)
}

// joined packs single-instruction texts into one packet without a check.
func joined(t testing.TB, insts ...string) []uint32 {
	t.Helper()
	var out []uint32
	for i, text := range insts {
		pk := require.V(asm.Assemble(text, 0))(t)
		w := require.V(pk[0].Encode(nil))(t)
		for k := range w {
			w[k] = w[k]&^0xc000 | 0x4000
		}
		if i == len(insts)-1 {
			w[len(w)-1] |= 0xc000
		}
		out = append(out, w...)
	}
	return out
}

const end = "{ r6 = #93 ; r0 = #0 }\n trap0(#1)\n"

// TestFaults runs programs that break a rule: each is an error that names the packet and the rule, with its kind.
func TestFaults(t *testing.T) {
	more := func(w []uint32) []uint32 { // without the mark of the last word
		w[len(w)-1] = w[len(w)-1]&^0xc000 | 0x4000
		return w
	}
	for _, c := range []struct {
		name, text string
		at         uint32 // behind codeBase
		kind       dsp.FaultKind
		want       string
	}{
		{"two vector stores", fragment(joined(t, "vmem(r0+#0) = v0", "vmem(r1+#0) = v1")...), 4, dsp.FaultIllegal, "memory slot 0"},
		{"two vector loads", fragment(joined(t, "v0 = vmem(r0+#0)", "v1 = vmem(r1+#0)")...), 4, dsp.FaultIllegal, "two vector loads"},
		{"three stores", fragment(joined(t, "memw(r0+#0) = r1", "memw(r0+#4) = r1", "memw(r0+#8) = r1")...), 4, dsp.FaultIllegal, "stores"},
		{"three loads", fragment(joined(t, "r0 = memw(r0+#0)", "r1 = memw(r0+#4)", "r2 = memw(r0+#8)")...), 4, dsp.FaultIllegal, "slot"},
		{"memop and store", fragment(joined(t, "memw(r0+#0) += r1", "memw(r0+#4) = r1")...), 4, dsp.FaultIllegal, "read-modify-write"},
		{"vector pipes", fragment(joined(t, "v1:0.h = vmpy(v2.ub,r3.b)", "v5:4.h = vmpy(v2.ub,r3.b)")...), 4, dsp.FaultIllegal, "pipes"},
		{"slots", fragment(joined(t, "r0 = mpyi(r1,r2)", "r3 = mpyi(r1,r2)", "r4 = mpyi(r1,r2)")...), 4, dsp.FaultIllegal, "slot"},
		{"double definition", fragment(joined(t, "r0 = add(r1,r2)", "r0 = sub(r1,r2)")...), 4, dsp.FaultIllegal, "written twice"},
		{"solo", fragment(joined(t, "trap0(#1)", "r0 = r1")...), 4, dsp.FaultIllegal, "alone"},
		{"new without producer", fragment(0xa1a0c400 | 0x2<<8), 4, dsp.FaultIllegal, ".new"},
		{"new predicate without producer", fragment(joined(t, "{ p0 = cmp.eq(r1,r2) ; if (p0.new) r3 = add(r4,r5) }")[1] | 0xc000), 4, dsp.FaultIllegal, "not made in the packet"},
		{"unknown word", fragment(0xffffffff), 4, dsp.FaultIllegal, "no known instruction"},
		{"five words", fragment(more(joined(t, "nop", "nop", "nop", "nop", "nop"))...), 4, dsp.FaultIllegal, "four words"},
		{"no end", fragment(more(joined(t, "nop", "nop"))...), 4, dsp.FaultIllegal, "code ends inside a packet"},
		{"extender at the end", fragment(0x0000c000), 4, dsp.FaultIllegal, "extender"},
		{"reserved duplex", fragment(0xe0002000), 4, dsp.FaultIllegal, "duplex"},
		{"branch that ends a loop", fragment(joined(t, "nop", "jump #0x40")[0]&^0xc000|0x8000, joined(t, "jump #0x40")[0]|0xc000), 4, dsp.FaultIllegal, "ends a hardware loop"},

		{"jump out", "_start: { r0 = ##0x12345678 }\n jumpr r0\n", 8, dsp.FaultJump, "jump to 0x12345678, which is outside the program"},
		{"jump to data", "_start: jump there\n nop\n .data\nthere: nop_here: .word 0\n", 0, dsp.FaultJump, "jump to 0x20000, which is outside"},
		{"odd jump", "_start: { r0 = ##_start+2 }\n jumpr r0\n", 8, dsp.FaultJump, "jump to 0x10002, which is not a multiple of 4"},
		{"into a packet", "_start: { r0 = r1 ; v0 = v1 ; r5 = r6 }\n { r7 = ##_start+4 }\n jumpr r7\n", 16, dsp.FaultJump, "jump to 0x10004, which is in the middle of packet 0x10000"},
		{"into a packet that comes later", "_start: jump p+4\np: { r1 = add(r2,r3) ; r2 = add(r3,r4) ; r3 = add(r4,r5) }\n jump p\n", 4, dsp.FaultJump, "entered by a jump into the middle"},
		{"runs off the end", "_start: nop\n", 0, dsp.FaultJump, "code runs on to 0x10004, which is outside the program"},
		{"a loop to nowhere", "_start: { r1 = #64 }\n { sa0 = r1 ; r2 = #5 }\n { lc0 = r2 }\n nop\n { nop }:endloop0\n" + end, 20, dsp.FaultJump, "jump to 0x40, which is outside"},

		{"load nowhere", "_start: { r0 = #8 }\n nop\n{ r1 = memw(r0+#0) }\n" + end, 8, dsp.FaultMemory, "4 bytes at 0x8 are not mapped"},
		{"store nowhere", "_start: { r0 = ##0x50000000 }\n{ memd(r0+#0) = r3:2 }\n" + end, 8, dsp.FaultMemory, "not mapped"},
		{"vector nowhere", "_start: { r0 = #0 }\n{ v0 = vmem(r0+#0) }\n" + end, 4, dsp.FaultMemory, "128 bytes"},
		{"store to code", "_start: { r0 = ##_start }\n{ memw(r0+#0) = r1 }\n" + end, 8, dsp.FaultMemory, "read-only"},
		{"store to constants", "_start: { r0 = ##k }\n{ memw(r0+#0) = r1 }\n" + end + ".section .rodata\nk: .word 1\n", 8, dsp.FaultMemory, "read-only"},
		{"past the page of data", "_start: { r0 = ##k+0xfffc }\n{ r1 = memw(r0+#0) }\n{ r2 = memw(r0+#4) }\n" + end + ".data\n.p2align 16\nk: .word 1\n", 12, dsp.FaultMemory, "not mapped"},
		{"misaligned load", "_start: { r0 = ##k+2 }\n{ r1 = memw(r0+#0) }\n" + end + ".data\nk: .word 1,2\n", 8, dsp.FaultAlign, "multiple of 4"},
		{"misaligned store", "_start: { r0 = ##k+1 }\n{ memh(r0+#0) = r1 }\n" + end + ".data\nk: .word 1,2\n", 8, dsp.FaultAlign, "multiple of 2"},

		{"writev", "_start: { r6 = #66 }\n trap0(#1)\n", 4, dsp.FaultCall, "system call writev (66) is not supported"},
		{"openat", "_start: { r6 = #56 }\n trap0(#1)\n", 4, dsp.FaultCall, "openat (56)"},
		{"unknown call", "_start: { r6 = ##9999 }\n trap0(#1)\n", 8, dsp.FaultCall, "of unknown number (9999)"},
		{"mmap of a file", "_start: { r6 = ##222 ; r1 = #8 }\n{ r3 = #2 }\n trap0(#1)\n", 12, dsp.FaultCall, "mmap (222) of a file"},
		{"endless", "_start: jump _start\n", 0, dsp.FaultLimit, "packet limit"},
	} {
		for _, functional := range []bool{false, true} {
			im := require.V(LoadELF(executable(t, c.text)))(t, c.name)
			p := &Process{Image: im, Args: []string{"p"}, Stdout: io.Discard, Stderr: io.Discard}
			_, err := testCore(t).Exec([]*Process{p}, dsp.Options{Functional: functional, MaxPackets: 10000})
			var e *dsp.Error
			if !errors.As(err, &e) {
				t.Errorf("%s: %v, want a fault", c.name, err)
				continue
			}
			if e.Kind != c.kind || !strings.Contains(e.Rule, c.want) || e.Packet != codeBase+c.at {
				t.Errorf("%s: kind %d, packet %#x: %s; want kind %d, packet %#x: %s", c.name, e.Kind, e.Packet, e.Rule, c.kind, codeBase+c.at, c.want)
			}
		}
	}
}

// TestCallNames: the first and the last number of each run in Linux's asm-generic/unistd.h, some between, and their neighbours.
func TestCallNames(t *testing.T) {
	const none = "of unknown number"
	for n, want := range map[uint32]string{
		0: "io_setup", 4: "io_getevents", 17: "getcwd", 25: "fcntl64", 29: "ioctl", 48: "faccessat", 56: "openat", 62: "llseek", 66: "writev", 79: "fstatat64",
		93: "exit", 98: "futex", 113: "clock_gettime", 124: "sched_yield", 129: "kill", 139: "rt_sigreturn", 160: "uname", 172: "getpid", 178: "gettid", 198: "socket",
		214: "brk", 220: "clone", 222: "mmap", 233: "madvise", 243: "recvmmsg", 244: none, 259: none, 260: "wait4", 261: "prlimit64", 278: "getrandom", 291: "statx",
		294: "kexec_file_load", 295: none, 402: none, 403: "clock_gettime64", 407: "clock_nanosleep_time64", 414: "ppoll_time64", 415: none, 421: none,
		422: "futex_time64", 424: "pidfd_send_signal", 435: "clone3", 439: "faccessat2", 440: none, 1 << 31: none,
	} {
		require.Same(t, want, callName(n), "system call", n)
	}
}

// TestProcessStack checks the initial stack of a program.
func TestProcessStack(t *testing.T) {
	text := `_start:
	{ r16 = r29 }
	{ r6 = #64 ; r0 = #1 }
	{ r1 = r16 ; r2 = sub(##0xb0800000,r16) }
	trap0(#1)
	{ r6 = #93 ; r0 = #42 }
	trap0(#1)
`
	im := require.V(LoadELF(executable(t, text)))(t)
	var out bytes.Buffer
	p := &Process{Image: im, Args: []string{"prog", "first", ""}, Env: []string{"A=b"}, Stdout: &out, Stderr: io.Discard}
	require.V(testCore(t).Exec([]*Process{p}, dsp.Options{}))(t)
	words := hexagon.Words(out.Bytes())
	sp := stackBase + stackBytes - uint32(out.Len())
	out.WriteByte(0)
	str := func(addr uint32) string {
		if addr-sp >= uint32(out.Len()) {
			t.Fatalf("string at %#x, stack at %#x", addr, sp)
		}
		b := out.Bytes()[addr-sp:]
		return string(b[:bytes.IndexByte(b, 0)])
	}
	if words[0] != 3 || str(words[1]) != "prog" || str(words[2]) != "first" || str(words[3]) != "" || words[4] != 0 {
		t.Errorf("argc and argv: %x", words[:5])
	}
	if str(words[5]) != "A=b" || words[6] != 0 {
		t.Errorf("environment: %x", words[5:7])
	}
	aux := map[uint32]uint32{}
	for w := words[7:]; w[0] != auxNull; w = w[2:] {
		aux[w[0]] = w[1]
	}
	if str(aux[auxRandom])[:16] != stackRandom || str(aux[auxFileName]) != "prog" {
		t.Errorf("auxiliary vector: %x", aux)
	}
	want := map[uint32]uint32{
		auxPageBytes: pageBytes, auxBase: 0, auxFlags: 0, auxEntry: im.Entry, auxUID: 0, auxEUID: 0, auxGID: 0, auxEGID: 0, auxHardware: 0,
		auxClockTick: clockTicks, auxSecure: 0, auxRandom: aux[auxRandom], auxFileName: aux[auxFileName],
	}
	if im.headers != 0 {
		want[auxHeaders], want[auxHeaderBytes], want[auxHeaderCount] = im.headers, im.headerBytes, im.headerCount
	}
	if !maps.Equal(aux, want) {
		t.Errorf("auxiliary vector: %x, want %x", aux, want)
	}
	require.Same(t, 42, p.Status, "status")
}

// TestArgumentsThatFit: the strings may use half of the stack, the words that point to them a quarter more.
func TestArgumentsThatFit(t *testing.T) {
	im := require.V(LoadELF(executable(t, "_start:\n\t{ r6 = #93 ; r0 = #0 }\n\ttrap0(#1)\n")))(t)
	many := func(n int) []string { return make([]string, n) } // a byte and a word each
	const words = 64                                          // of argc, environment and auxiliary vector, at most
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"p", strings.Repeat("x", stackBytes/2-64)}, ""},
		{[]string{"p", strings.Repeat("x", stackBytes/2)}, "arguments and environment of more than"},
		{many(3*stackBytes/4/5 - words), ""},
		{many(3*stackBytes/4/5 + words), "arguments do not fit the stack"},
	} {
		_, err := testCore(t).Exec([]*Process{{Image: im, Args: c.args, Stdout: io.Discard, Stderr: io.Discard}}, dsp.Options{})
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%d arguments: %v", len(c.args), err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%d arguments: %v, want %q", len(c.args), err, c.want)
		}
	}
}

// countUp is a program that counts up a word of memory from 7 and exits with it.
func countUp(t *testing.T, rounds int) []byte {
	return executable(t, fmt.Sprintf(`_start:
	{ r0 = ##n ; r2 = #0 }
	loop0(1f,#%d)
1:	{ r1 = memw(r0+#0) }
	{ r1 = add(r1,#1) ; memw(r0+#0) = r1.new }:endloop0
	{ r6 = #93 ; r0 = memw(r0+#0) }
	trap0(#1)
	.data
n:	.word 7
`, rounds))
}

// TestProcesses runs a program on all threads: each has its own memory.
func TestProcesses(t *testing.T) {
	b := countUp(t, 100)
	core := testCore(t)
	var ps []*Process
	for range core.Spec().Threads {
		im := require.V(LoadELF(b))(t)
		ps = append(ps, &Process{Image: im, Stdout: io.Discard, Stderr: io.Discard})
	}
	rec := &dsp.Recorder{Lo: codeBase + 12, Hi: codeBase + 24, Skip: 50, Max: 4}
	rep := require.V(core.Exec(ps, dsp.Options{Record: rec}))(t)
	for i, p := range ps {
		require.Same(t, 107, p.Status, "thread", i)
	}
	count := map[int]int{}
	for _, e := range rec.Events {
		count[e.Thread]++
		if e.Addr < rec.Lo || e.Addr >= rec.Hi || e.Issue < 0 || e.Issue >= rep.Cycles {
			t.Errorf("event %+v", e)
		}
	}
	for i := range ps {
		if count[i] != rec.Max {
			t.Errorf("%d packets of thread %d recorded, want %d", count[i], i, rec.Max)
		}
	}
}

// TestRecorder checks that the record of a straight run adds up to its cycles.
func TestRecorder(t *testing.T) {
	im, err := LoadELF(executable(t, `_start:
	{ r0 = ##x ; r2 = ##0x01010101 }
	{ v0 = vmem(r0+#0) }
	{ v1.w += vrmpy(v0.ub,r2.b) }
	{ v1 = vror(v1,r2) }
	{ v2 = v1 ; r3 = memw(r0+#0) }
	{ r4 = add(r3,#1) ; r0 = #5 }
	jump 1f
	nop
1:	{ r6 = #93 }
	trap0(#1)
	.data
	.p2align 7
x:	.space 128
`))
	require.NoError(t, err)
	rec := &dsp.Recorder{Lo: codeBase, Hi: codeBase + 1<<10, Max: 100}
	core := testCore(t)
	rep := require.V(core.Exec([]*Process{{Image: im, Stdout: io.Discard, Stderr: io.Discard}}, dsp.Options{Record: rec}))(t)
	now, operands, memory := int64(0), 0, 0
	for i, e := range rec.Events {
		now += e.Fetch + e.Vectors + e.Operand
		if e.Issue != now {
			t.Errorf("packet %d at %#x issued in cycle %d, want %d", i, e.Addr, e.Issue, now)
		}
		now += int64(core.Spec().AloneInterval) + e.Branch
		for _, w := range e.Waits {
			now += w.Cycles
			memory++
		}
		if e.Operand > 0 {
			operands++
			if e.Register == "" {
				t.Errorf("packet at %#x waits for no register", e.Addr)
			}
		}
	}
	if now != rep.Cycles || operands == 0 || memory == 0 {
		t.Errorf("packets end in cycle %d, the run in %d; %d operand and %d memory waits", now, rep.Cycles, operands, memory)
	}
}

// TestExecAccounts: the cycles of programs have reasons that add up, for the run and for all threads, and no launch.
func TestExecAccounts(t *testing.T) {
	im, err := LoadELF(executable(t, "_start:\n loop0(1f,#50)\n1: { r1 = memw(r29++#4) }\n{ r2 = add(r1,r2) }:endloop0\n{ r6 = #94 ; r0 = #0 }\n trap0(#1)\n"))
	require.NoError(t, err)
	core := testCore(t)
	for n := 1; n <= core.Spec().Threads; n++ {
		var ps []*Process
		for range n {
			ps = append(ps, &Process{Image: im, Stdout: io.Discard, Stderr: io.Discard})
		}
		rep := require.V(core.Exec(ps, dsp.Options{}))(t)
		g := &rep.Regions[0]
		if want := int64(max(n, core.Spec().Contexts)) * rep.Cycles; rep.Stalls.Total() != rep.Cycles || g.Threads.Total() != want || rep.Cycles == 0 {
			t.Errorf("%d threads: %d cycles have reasons of %d, those of all threads %d, want %d", n, rep.Cycles, rep.Stalls.Total(), g.Threads.Total(), want)
		}
		if first := rep.Stalls[sim.StallLaunch]; first >= int64(core.Spec().Threads) {
			t.Errorf("%d threads: %d cycles of launch", n, first)
		}
	}
}

// TestRecorderSkips: the record with limits is a part of the one without: from the execution of its first packet after
// those to skip, up to the limit.
func TestRecorderSkips(t *testing.T) {
	im := countUp(t, 20)
	core := testCore(t)
	record := func(skip int64, most int) []dsp.PacketEvent {
		image := require.V(LoadELF(im))(t)
		rec := &dsp.Recorder{Lo: codeBase + 12, Hi: codeBase + 24, Skip: skip, Max: most}
		require.V(core.Exec([]*Process{{Image: image, Stdout: io.Discard, Stderr: io.Discard}}, dsp.Options{Record: rec}))(t)
		return rec.Events
	}
	all := record(0, 1000)
	var first []int // events of the packet at Lo
	for i := range all {
		if all[i].Addr == codeBase+12 {
			first = append(first, i)
		}
	}
	if len(first) != 20 {
		t.Fatalf("%d rounds of %d events, want 20", len(first), len(all))
	}
	for _, skip := range []int64{0, 1, 7, 19, 20} {
		for _, most := range []int{1, 2, 5, 1000} {
			want := all[len(all):]
			if skip < 20 {
				want = all[first[skip]:]
			}
			want = want[:min(most, len(want))]
			if got := record(skip, most); !slices.EqualFunc(got, want, func(a, b dsp.PacketEvent) bool { return a.Addr == b.Addr && a.Issue == b.Issue }) {
				t.Errorf("skip %d, keep %d: %v, want %v", skip, most, got, want)
			}
		}
	}
}
