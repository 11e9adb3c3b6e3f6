package dsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Microbenchmarks: programs whose cycles have a closed form in the parameters of the Spec. They run on every preset
// with a DSP, at 1 GHz with a memory of latency flatCycles, so that a cycle is a nanosecond.

const flatCycles = 100

// flat is a memory with a fixed latency.
type flat struct{ latency sim.Time }

func (f flat) Access(t sim.Time, _ uint64, _ int, k mem.Kind) (sim.Time, sim.Reason) {
	if k == mem.Write {
		return t, sim.StallDRAM
	}
	return t + f.latency, sim.StallDRAM
}

func (flat) Reset() {}

// micro is one program. It runs twice as one job; the second time, when code
// and (unless fresh) data are in the caches, is measured, or the first.
type micro struct {
	name    string
	text    string
	threads int // 0: 1
	args    func(thread, job int) []uint32
	first   bool
	want    int64   // cycles
	slack   float64 // accepted relative difference
}

// form writes the closed forms of one machine.
type form struct {
	*Spec
	p int64 // cycles of a slot
}

func newForm(s *Spec, threads int) form {
	return form{s, int64(max(s.IssueInterval, (threads+s.IssueWidth-1)/s.IssueWidth))}
}

// loop is a loopOf with so many slots: packets and stalls.
func (f form) loop(slots int) int64 { return f.p * int64(slots+6) }

// wait is a wait of n cycles up to the thread's next slot.
func (f form) wait(n int) int64 { return (max(0, int64(n)) + f.p - 1) / f.p * f.p }

// vector and scalar are the packets from a result to its use, by operand cycles.
func vector(def, use int) int      { return max(1, (def-use+1)/2) }
func (f form) scalar(d, u int) int { return max(1, (d-u+int(f.p)-1)/int(f.p)) }
func (f form) miss(hidden int) int { return f.L2.HitCycles + flatCycles - hidden }
func (f form) port(bytes int) int64 {
	return int64((bytes + f.L2.BytesPerCycle - 1) / f.L2.BytesPerCycle)
}

// Operand cycles of section 4 of the specification: HVX results are ready in cycle 9; multipliers read their inputs in
// 5 and the accumulator in 7, shifts and permutes in 5, the vector ALU in 7.
const (
	vResult, vMultiply, vAccumulate, vALU, vShift = 9, 5, 7, 7, 5
	rALU, rLoad, rMultiply                        = 3, 4, 4 // scalar results
	rEstimate                                     = 5       // of a reciprocal, and its predicate
	rBase                                         = 3       // address register after a vector access
	rALUUse, rEarlyUse                            = 2, 1    // ALU input; address and multiplier input
)

// loopOf wraps packets in a hardware loop of n passes. The frame is six
// packets: loop setup, two no-ops before and behind that let results arrive,
// and the return.
func loopOf(n int, body string) string {
	return fmt.Sprintf("\t{ loop0(top,#%d) }\n\tnop\n\tnop\ntop:\n%s :endloop0\n\tnop\n\tnop\n\tjumpr r31\n", n, strings.TrimRight(body, "\n"))
}

// chain is a loop of n passes over one instruction whose input the pass before
// made lat packets earlier. The first pass does not wait.
func (f form) chain(name, packet string, n, lat int) micro {
	return micro{name: name, text: loopOf(n, packet+"\n"+packet), want: f.loop(2*n*lat - (lat - 1))}
}

// jumps is a loop of 100 passes, the last of which falls through.
func jumps(hint string) string {
	return "\tr0 = #100\ntop:\n\t{ r0 = add(r0,#-1) ; p0 = cmp.gt(r0,#1) }\n\t{ if (p0) jump:" + hint + " top }\n\tjumpr r31\n"
}

// stream is a loop of n loads that miss, one in two packets: as many are on their way as the vector queue has packets
// for, and the thread ends with the last.
func (f form) stream(n int) int64 {
	ahead := f.VectorQueue / 2
	return f.p*int64(3+2*((n-1)%ahead)) + int64((n-1)/ahead+1)*f.wait(f.miss(f.VectorLoadCycles))
}

const dataAt = 0x100000

func microTable(s *Spec) []micro {
	const n = 100
	f := newForm(s, 1)
	at := func(addr uint32) func(int, int) []uint32 {
		return func(thread, _ int) []uint32 { return []uint32{addr + uint32(thread)*0x8000, 1, 2, 3, 4} }
	}
	fresh := func(_, job int) []uint32 { return []uint32{dataAt + uint32(job)*0x40000, 1, 2, 3, 4} }
	list := []micro{
		// The vector pipes.
		{name: "two vrmpy per packet", text: loopOf(n, "{ v0.w += vrmpy(v1.ub,r0.b) ; v2.w += vrmpy(v3.ub,r0.b) }\n{ nop }"), want: f.loop(2 * n)},
		{name: "multipliers, shifter and permute in one packet", text: loopOf(n,
			"{ v0.w += vrmpy(v1.ub,r0.b) ; v2.w += vrmpy(v3.ub,r0.b) ; v4.w = vasr(v5.w,r0) ; v6.b = vshuff(v7.b) }\n{ nop }"), want: f.loop(2 * n)},
		{name: "both multipliers, then one", text: loopOf(n, "{ v1:0.h = vmpy(v2.ub,r0.b) }\n{ v4.w += vrmpy(v5.ub,r0.b) }"), want: f.loop(2 * n)},
		f.chain("vrmpy into its accumulator", "{ v0.w += vrmpy(v1.ub,r0.b) }", n, vector(vResult, vAccumulate)),
		f.chain("vrmpy of a vrmpy", "{ v0.w = vrmpy(v0.ub,r0.b) }", n, vector(vResult, vMultiply)),
		f.chain("vmpy pair of a vmpy pair", "{ v1:0.h = vmpy(v0.ub,r0.b) }", n, vector(vResult, vMultiply)),
		f.chain("vrmpyz into its accumulators", "{ v3:0.w += vrmpyz(v4.b,r0.b) }", n, vector(vResult, vAccumulate)),
		f.chain("vrmpyz of a vrmpyz", "{ v3:0.w = vrmpyz(v0.b,r0.b) }", n, vector(vResult, vMultiply)),
		{name: "vrmpyz along the window", text: loopOf(n, "{ v3:0.w += vrmpyz(v4.b,r0.b++) }\n{ v3:0.w += vrmpyz(v4.b,r0.b++) }"), want: f.loop(2 * n)},
		f.chain("vector ALU", "{ v0.w = vadd(v0.w,v1.w) }", n, vector(vResult, vALU)),
		f.chain("shift of a shift", "{ v31.w = vasr(v31.w,r0) }", n, vector(vResult, vShift)),
		f.chain("permute of a permute", "{ v0.b = vshuff(v0.b) }", n, vector(vResult, vShift)),
		f.chain("vdelta of a vdelta", "{ v0 = vdelta(v0,v1) }", n, vector(vResult, vShift)),
		{name: "shift of a sum", text: loopOf(n, "{ v0.w = vadd(v0.w,v1.w) }\n{ v0.w = vasr(v0.w,r0) }"),
			want: f.loop(n * (vector(vResult, vShift) + vector(vResult, vALU)))},

		// Scalar results.
		f.chain("scalar ALU", "{ r2 = add(r2,r3) }", n, f.scalar(rALU, rALUUse)),
		f.chain("scalar multiply", "{ r2 = mpyi(r2,r3) }", n, f.scalar(rMultiply, rEarlyUse)),
		{name: "scalar load to ALU", args: at(dataAt), text: loopOf(n, "{ r2 = memw(r0+#0) }\n{ r3 = add(r2,r3) }"), want: f.loop(n * (1 + f.scalar(rLoad, rALUUse)))},
		{name: "scalar load to multiplier", args: at(dataAt), text: loopOf(n, "{ r2 = memw(r0+#0) }\n{ r3 = mpyi(r2,r4) }"), want: f.loop(n * (1 + f.scalar(rLoad, rEarlyUse)))},
		{name: "vector extract to ALU", text: loopOf(n, "{ r2 = vextract(v0,r4) }\n{ r3 = add(r2,r3) }"), want: f.loop(n * (1 + f.scalar(rLoad+s.ExtractCycles, rALUUse)))},

		// Predicates.
		{name: "sfrecipa to mux", text: loopOf(n, "{ r2,p0 = sfrecipa(r3,r4) }\n{ r5 = mux(p0,r6,r7) }"), want: f.loop(n * (1 + f.scalar(rEstimate, rALUUse)))},
		{name: "compare to prefix sum", text: loopOf(n, "{ q3 = vcmp.eq(v0.b,v1.b) }\n{ v2.b = prefixsum(q3) }"), want: f.loop(n * (1 + vector(vResult, vShift)))},
		{name: "compare to the prefix sum of another", text: loopOf(n, "{ q3 = vcmp.eq(v0.b,v1.b) }\n{ v2.b = prefixsum(q2) }"), want: f.loop(2 * n)},

		// Loads.
		{name: "vector load to ALU", args: at(dataAt), text: loopOf(n, "{ v0 = vmem(r0+#0) }\n{ v1.w = vadd(v0.w,v1.w) }"), want: f.loop(n * (1 + vector(vResult, vALU)))},
		{name: "vector load to multiplier", args: at(dataAt), text: loopOf(n, "{ v0 = vmem(r0+#0) }\n{ v1.w += vrmpy(v0.ub,r1.b) }"), want: f.loop(n * (1 + vector(vResult, vMultiply)))},
		{name: ".cur load, used in its packet", args: at(dataAt), text: loopOf(n, "{ v0.cur = vmem(r0+#0) ; v1.w += vrmpy(v0.ub,r1.b) }\n{ nop }"), want: f.loop(2 * n)},
		{name: "window load to vrmpyz", args: at(s.VTCMBase), text: loopOf(n, "{ z = vmem(r0+#0) }\n{ v3:0.w += vrmpyz(v4.b,r1.b) }"), want: f.loop(n * (1 + vector(vResult, vMultiply)))},
		{name: "window load beside a .tmp load", args: at(s.VTCMBase), text: loopOf(n, "{ z = vmem(r0+#0) ; v4.tmp = vmem(r0+#1) ; v3:0.w += vrmpyz(v4.b,r1.b) }\n{ nop }"), want: f.loop(2 * n)},
		{name: "scalar load from L1", args: at(dataAt), text: "\tr1 = memw(r0+#0)\n\tjumpr r31\n", want: 2 * f.p},
		{name: "scalar load from L2", args: at(dataAt), text: "\tr1 = memw(r0+#0)\n\tvmem(r0+#0) = v0\n" + strings.Repeat("\tnop\n", s.StoreLoadPackets) + "\tjumpr r31\n",
			want: f.p*int64(3+s.StoreLoadPackets) + f.wait(s.L2.HitCycles)}, // the store evicted the line from L1D
		{name: "scalar load from DRAM", args: fresh, text: "\tr1 = memw(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(f.miss(0))},
		{name: "barrier behind the store of the job before", args: at(dataAt), text: "\tbarrier\n\tmemw(r0+#0) = r1\n\tjumpr r31\n", want: 3*f.p +
			f.wait(s.L1D.HitCycles+s.L2.HitCycles-(2+s.MispredictSlots)*int(f.p))}, // the return of the job before has a new target
		{name: "scalar load from VTCM", args: at(s.VTCMBase), text: "\tr1 = memw(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(s.VTCMCycles-s.L1D.HitCycles)},
		{name: "vector load from L2", args: at(dataAt), text: "\tv1 = vmem(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(s.L2.HitCycles-s.VectorLoadCycles-2*int(f.p))},
		{name: "vector load from DRAM", args: fresh, text: "\tv1 = vmem(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(f.miss(s.VectorLoadCycles)-2*int(f.p))},
		{name: "vector load from VTCM", args: at(s.VTCMBase), text: "\tv1 = vmem(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(s.VTCMCycles-s.VectorLoadCycles)},
		{name: "unaligned vector over two lines of DRAM", args: func(_, job int) []uint32 { return []uint32{dataAt + 64 + uint32(job)*0x40000} },
			text: "\tv1 = vmemu(r0+#0)\n\tjumpr r31\n", want: 2*f.p + f.wait(int(f.port(128))+f.miss(s.VectorLoadCycles)-2*int(f.p))},

		// Streams of one vector per packet.
		{name: "read L2", args: at(dataAt), text: loopOf(n, "{ v0 = vmem(r0++#1) }\n{ v1 = vmem(r0+#0) }"), want: f.loop(n * (1 + f.scalar(rBase, rEarlyUse)))},
		{name: "read and write VTCM", args: at(s.VTCMBase), text: loopOf(n, "{ v0 = vmem(r0+#0) ; vmem(r0+#1) = v1 }\n{ v0 = vmem(r0+#2) ; vmem(r0+#3) = v1 }"), want: f.loop(2 * n)},
		{name: "write L2", args: at(dataAt), text: loopOf(n, "{ vmem(r0++#1) = v0 }\n{ nop }"), want: f.loop(2 * n)},
		{name: "scalar stores", args: at(dataAt), text: loopOf(n, "{ memw(r0++#4) = r1 }\n{ nop }"), want: f.loop(2 * n)},
		{name: "read DRAM", args: fresh, text: loopOf(n, "{ v0 = vmem(r0++#1) }\n{ nop }"), want: f.stream(n)},
		{name: "read DRAM, then an element", args: fresh, text: "\tv0 = vmem(r0+#0)\n\tr1 = vextract(v0,r2)\n\tjumpr r31\n", want: 3*f.p + f.wait(f.miss(s.VectorLoadCycles)-3*int(f.p))},

		// Branches.
		{name: "hardware loop", text: loopOf(n, "{ r1 = r2 }\n{ nop }"), want: f.loop(2 * n)},
		// The counter that a jump starts with is its hint; the last one falls through. The second time the counter has learned.
		{name: "branch taken as hinted", text: jumps("t"), first: true, want: f.p*int64(2+2*n+s.BranchSlots+2*s.MispredictSlots) + f.wait(f.miss(0))},
		{name: "branch taken against its hint", text: jumps("nt"), first: true, want: f.p*int64(2+2*n+3*s.MispredictSlots) + f.wait(f.miss(0))},
		{name: "branch taken as before", text: jumps("nt"), want: f.p * int64(2+2*n+s.MispredictSlots)},
		{name: "branch not taken", text: "\tp0 = cmp.eq(r0,#77)\n\tnop\n\t{ if (p0) jump:nt end }\nend:\n\tjumpr r31\n", want: 4 * f.p},
	}
	list = append(list, codeFetch(s)...)
	list = append(list, prefetches(s)...)
	list = append(list, storeToLoad(s)...)
	list = append(list, threadScaling(s)...)
	if s.DMA != nil {
		list = append(list, copies(s)...)
	}
	return list
}

// codeFetch runs blocks that each begin in a separate line, too far apart for the next-line prefetch.
func codeFetch(s *Spec) []micro {
	const apart = 4 // lines
	f := newForm(s, 1)
	program := func(blocks int) (text string, cycles int64) {
		var b strings.Builder
		for i := range blocks {
			fmt.Fprintf(&b, "b%d:\n\t{ jump b%d }\n", i, i+1)
			b.WriteString(strings.Repeat("\tnop\n", apart*s.L1I.LineBytes/4-1))
		}
		fmt.Fprintf(&b, "b%d:\n\tjumpr r31\n", blocks)
		return b.String(), f.p * int64(blocks+1)
	}
	// full has blocks that end with their lines: nothing of the next line is waited for.
	full := func(blocks int) (text string, cycles int64) {
		var b strings.Builder
		line := s.L1I.LineBytes / 4
		for i := range blocks {
			fmt.Fprintf(&b, "b%d:\n%s\t{ jump b%d }\n%s", i, strings.Repeat("\tnop\n", line-1), i+1, strings.Repeat("\tnop\n", (apart-1)*line))
		}
		fmt.Fprintf(&b, "b%d:\n\tjumpr r31\n", blocks)
		return b.String(), f.p * int64(blocks*line+1)
	}
	const few = 32
	lines, straight := full(few)
	many := 2 * s.L1I.Bytes / (apart * s.L1I.LineBytes) // more than L1I keeps, less than L2
	small, short := program(few)
	large, long := program(many)
	cold := f.p * int64(few*s.BranchSlots+s.MispredictSlots) // of jumps, and of the return
	return []micro{
		{name: "instruction cache cold", text: small, first: true, want: short + cold + (few+1)*f.wait(f.miss(0))},
		{name: "whole lines, cold", text: lines, first: true, want: straight + cold + (few+1)*f.wait(f.miss(0))},
		{name: "block of four lines, cold", text: strings.Repeat("\tnop\n", s.L1I.LineBytes-4) + "\tjumpr r31\n", first: true,
			// The second line, prefetched with the first, begins the prefetch of the third a cycle before that is wanted, past the look-up.
			want: f.p*int64(s.L1I.LineBytes-3+s.MispredictSlots) + f.wait(f.miss(0)) + f.wait(f.miss(0)-1-s.L1I.HitCycles)},
		{name: "instruction cache warm", text: small, want: short},
		{name: "instruction cache too small", text: large, slack: 0.01, // few jumps share an entry of the branch target buffer
			want: long + int64(many+1)*f.wait(s.L2.HitCycles)},
	}
}

// prefetches bring data closer before it is requested.
func prefetches(s *Spec) []micro {
	f := newForm(s, 1)
	var list []micro
	// dcfetch, then a load some packets later: it waits for the rest.
	for _, later := range []int{1, 10, flatCycles} {
		ready := f.L1D.HitCycles + f.miss(0)
		list = append(list, micro{name: fmt.Sprintf("load %d packets behind its dcfetch", later),
			args: func(_, job int) []uint32 { return []uint32{dataAt + uint32(job)*0x40000} },
			text: "\tdcfetch(r0+#0)\n" + strings.Repeat("\tnop\n", later-1) + "\tr1 = memw(r0+#0)\n\tjumpr r31\n",
			want: f.p*int64(later+2) + f.wait(ready-later*int(f.p)-f.L1D.HitCycles)})
	}
	for _, n := range []int{0, 1, 20, 255} {
		list = append(list, micro{name: fmt.Sprintf("pause of %d cycles", n), text: fmt.Sprintf("\tpause(#%d)\n\tnop\n\tjumpr r31\n", n), want: 3*f.p + f.wait(n)})
	}
	for _, n := range []int{0, 1, 5} {
		list = append(list, micro{name: fmt.Sprintf("barrier behind %d stores", n), args: func(_, job int) []uint32 { return []uint32{dataAt} },
			text: strings.Repeat("\tmemw(r0+#0) = r1\n", n) + "\tbarrier\n\tjumpr r31\n", want: f.p*int64(n+2) + f.wait(min(n, 1)*(s.L1D.HitCycles+s.L2.HitCycles-int(f.p)))})
	}
	// l2fetch of a stream long before it is read, as a line of rows and as a box with a stride; both shapes of operand.
	const lines = 64
	for _, k := range []struct{ name, text string }{
		{"l2fetch", "\tl2fetch(r0,r3:2)\n"},
		{"l2fetch, shape in one register", "\tl2fetch(r0,r4)\n"},
	} {
		ahead := lines * f.miss(0) // more than one line at a time would need
		list = append(list, micro{name: k.name, args: func(_, job int) []uint32 {
			// 16 rows of 4 lines; for the word form 64 rows of one line
			return []uint32{dataAt + uint32(job)*0x40000, 0, 512<<16 | 16, 512, 128<<16 | 128<<8 | 64, uint32(ahead)}
		}, text: k.text + "\t{ loop0(wait,r5) }\nwait:\n\tnop\n\t{ nop } :endloop0\n" + loopOf(lines, "{ v0 = vmem(r0++#1) }\n{ nop }"),
			want: f.p*int64(2+2*ahead) + f.loop(2*lines)})
	}
	// A box with gaps: 64 rows of one line, three lines apart.
	gaps := lines * f.miss(0)
	list = append(list, micro{name: "l2fetch of a box with gaps", args: func(_, job int) []uint32 {
		return []uint32{dataAt + uint32(job)*0x40000, 0, 128<<16 | lines, 384, 384, uint32(gaps)}
	}, text: "\tl2fetch(r0,r3:2)\n\t{ loop0(wait,r5) }\nwait:\n\tnop\n\t{ nop } :endloop0\n" + loopOf(lines, "{ v0 = vmem(r0+#0) ; r0 = add(r0,r4) }\n{ nop }"),
		want: f.p*int64(2+2*gaps) + f.loop(2*lines)})
	// A stream right after its l2fetch runs at the rate of the lines in flight, and a little faster for those that it
	// requests itself.
	const many = 800
	return append(list, micro{name: "stream behind its l2fetch", slack: 0.11, args: func(_, job int) []uint32 {
		return []uint32{dataAt + uint32(job)*0x40000, 0, 128<<16 | many, 128}
	}, text: "\tl2fetch(r0,r3:2)\n" + loopOf(many, "{ v0 = vmem(r0++#1) }\n{ nop }"), want: many / boxDepth * int64(f.miss(0))})
}

// storeToLoad loads a vector some packets after its store.
func storeToLoad(s *Spec) []micro {
	f := newForm(s, 1)
	var list []micro
	for _, later := range []int{1, 8, s.StoreLoadPackets, s.StoreLoadPackets + 5} {
		text := "\tvmem(r0+#0) = v0\n" + strings.Repeat("\tnop\n", later-1)
		base := f.p * int64(later+2)
		args := func(int, int) []uint32 { return []uint32{dataAt + 128, dataAt + 192, dataAt + 64} }
		behind := 2 * int(f.p) // the thread ends two packets after the load was issued
		across := base + f.wait(max(0, s.StoreLoadPackets-later)*s.IssueInterval+int(f.port(128))+s.L2.HitCycles-s.VectorLoadCycles-behind)
		wait := f.wait((s.StoreLoadPackets-later)*s.IssueInterval - behind)
		list = append(list,
			micro{name: fmt.Sprintf("vector load %d packets behind its store", later), args: args, text: text + "\tv1 = vmem(r0+#0)\n\tjumpr r31\n", want: base + wait},
			micro{name: fmt.Sprintf("vector load of another line %d packets behind a store", later), args: args, text: text + "\tv1 = vmem(r0+#1)\n\tjumpr r31\n", want: base},
			micro{name: fmt.Sprintf("vector load from the stored line on %d packets behind", later), args: args, text: text + "\tv1 = vmemu(r1+#0)\n\tjumpr r31\n", want: across},
			micro{name: fmt.Sprintf("vector load into the stored line %d packets behind", later), args: args, text: text + "\tv1 = vmemu(r2+#0)\n\tjumpr r31\n", want: across},
			micro{name: fmt.Sprintf("scalar load %d packets behind a vector store", later), args: args, text: text + "\tr1 = memw(r0+#96)\n\tjumpr r31\n",
				want: base + f.wait(max(0, s.StoreLoadPackets-later)*s.IssueInterval+s.L2.HitCycles)})
	}
	return list
}

// threadScaling runs one program on more and more threads.
func threadScaling(s *Spec) []micro {
	const n = 1000
	var list []micro
	for k := 1; k <= s.Threads; k++ {
		f := newForm(s, k)
		phase := min(int64(k), f.p) - 1 // of the thread that ends last
		list = append(list, micro{name: fmt.Sprintf("%d threads, scalar", k), threads: k, text: loopOf(n, "{ r1 = add(r1,r2) }\n{ r3 = add(r3,r2) }"), want: f.loop(2*n) + phase})
		if k > s.Contexts {
			continue
		}
		at := func(base, step uint32) func(int, int) []uint32 {
			return func(thread, _ int) []uint32 { return []uint32{base + uint32(thread)*step, 1, 2, 3} }
		}
		stream := loopOf(n, "{ v0 = vmem(r0+#0) }\n{ v1 = vmem(r0+#1) }")
		list = append(list,
			micro{name: fmt.Sprintf("%d threads, two vrmpy per packet", k), threads: k, text: loopOf(n, "{ v0.w += vrmpy(v1.ub,r2.b) ; v2.w += vrmpy(v3.ub,r2.b) }\n{ nop }"), want: f.loop(2*n) + phase},
			micro{name: fmt.Sprintf("%d threads reading VTCM", k), threads: k, args: at(s.VTCMBase, 0x8000), text: stream, want: f.loop(2*n) + phase},
			// L2 has one port: threads wait when together they request more than its bandwidth.
			micro{name: fmt.Sprintf("%d threads reading L2", k), threads: k, args: at(dataAt, 0x8000), text: stream, slack: 0.02, want: max(f.loop(2*n), 2*n*int64(k)*f.port(128))})
	}
	return list
}

// copies move memory to VTCM by DMA: so many bursts are in flight, each for the duration of its read and its write.
func copies(s *Spec) []micro {
	f := newForm(s, 1)
	const bytes = 256 << 10
	copyOf := func(name string, flags uint32, latency int) micro {
		bursts := bytes / s.DMA.BurstBytes
		return micro{name: name, slack: 0.02,
			args: func(_, job int) []uint32 {
				return []uint32{dataAt, 0, flags | bytes, dataAt + 0x10000 + uint32(job)*bytes, s.VTCMBase}
			},
			text: "\tmemw(r0+#0) = r1\n\tmemw(r0+#4) = r2\n\tmemw(r0+#8) = r3\n\tmemw(r0+#12) = r4\n\tdmstart(r0)\n\tr5 = dmwait\n\tjumpr r31\n",
			want: 7*f.p + int64(s.DMA.StartCycles) + int64(max(bursts*s.DMA.IssueCycles, bursts*(latency+1)/s.DMA.Outstanding))}
	}
	return []micro{
		copyOf("DMA from DRAM through L2", 0, f.miss(0)),
		copyOf("DMA from DRAM past L2", dmaBypassSrc, flatCycles),
	}
}

// presetSpec is the DSP of a preset.
func presetSpec(t testing.TB, name string) Spec {
	t.Helper()
	c := require.V(soc.Load(name))(t)
	s := require.V(FromSoC(c, sim.FastSingleAnswer))(t)
	return s
}

// microName is the name of the machines of microSpec.
const microName = "micro"

// microSpec is a preset's DSP at 1 GHz with a flat memory and jobs that start at once.
func microSpec(t testing.TB, preset string) Spec {
	s := presetSpec(t, preset)
	s.ClockHz, s.JobStartCycles, s.BarrierCycles = 1e9, 0, 0
	s.Name, s.MemoryNs = microName, 0
	s.AloneInterval = s.IssueInterval // closed forms count packets; TestAlone has the others
	return s
}

// run returns the cycles of the measured job.
func (m *micro) run(t *testing.T, s Spec) *sim.RegionReport {
	t.Helper()
	c := require.V(newCold(s))(t)
	space := new(mem.Space)
	for _, seg := range []mem.Segment{
		{Name: "data", Base: dataAt, Data: make([]byte, 1<<20)},
		{Name: "vtcm", Base: uint64(s.VTCMBase), Data: make([]byte, s.VTCMBytes)},
	} {
		require.NoError(t, space.Map(seg))
	}
	var jobs []Job
	for j := range 2 {
		job := Job{Region: j, Name: m.name, Entry: codeBase, Threads: max(1, m.threads)}
		for i := range job.Threads {
			if m.args != nil {
				job.Args = append(job.Args, m.args(i, j))
			}
		}
		jobs = append(jobs, job)
	}
	rep := require.V(c.Run(assemble(t, codeBase, m.text), space, jobs, Options{}))(t, m.name)
	for i := range rep.Regions {
		if g := &rep.Regions[i]; g.Stalls.Total() != g.Cycles {
			t.Errorf("%s: stalls add up to %d, cycles %d", m.name, g.Stalls.Total(), g.Cycles)
		}
	}
	if m.first {
		return &rep.Regions[0]
	}
	return &rep.Regions[1]
}

// TestMicrobenchmarks compares every program with its closed form, on each
// preset as it is, and with threads that issue every cycle.
func TestMicrobenchmarks(t *testing.T) {
	for _, preset := range []string{"pixel4", "sd888"} {
		for _, interval := range []int{0, 1} {
			s := microSpec(t, preset)
			if interval > 0 {
				s.IssueInterval, s.AloneInterval = interval, interval
			}
			for _, m := range microTable(&s) {
				got := m.run(t, s)
				if d := float64(got.Cycles - m.want); max(d, -d) > m.slack*float64(m.want) {
					t.Errorf("%s, interval %d: %s: %d cycles, want %d (%v)", preset, s.IssueInterval, m.name, got.Cycles, m.want, got.Stalls)
				}
			}
		}
	}
}

// TestAlone: where each thread of a job has an issue port of its own, packets that need nothing of the one before follow
// after one cycle, others and those of vectors behind vectors after an issue interval.
func TestAlone(t *testing.T) {
	s := microSpec(t, "pixel4")
	s.AloneInterval = 1
	cycles := func(body string, threads, passes int) int64 {
		m := micro{name: body, text: loopOf(passes, body), threads: threads, args: func(thread, _ int) []uint32 {
			return []uint32{dataAt + uint32(thread)*0x8000, 1, 2, 3, 4}
		}}
		return m.run(t, s).Cycles
	}
	for _, c := range []struct {
		body        string
		alone, busy int64 // cycles of a pass, of one or two threads and of three
	}{
		{"{ r1 = add(r2,#1) }\n{ r3 = add(r4,#1) }", 2, 4},
		{"{ r1 = add(r1,#1) }\n{ r3 = add(r4,#1) }", 2, 4},                                          // two cycles apart
		{"{ r1 = add(r2,#1) }\n{ r1 = add(r1,#1) }", 3, 4},                                          // a result at once
		{"{ r1 = memw(r0+#0) }\n{ r2 = add(r1,#1) }", 3, 4},                                         // loads feed the ALU in the next packet,
		{"{ r1 = memw(r0+#0) }\n{ r2 = mpyi(r1,r1) }", 5, 6},                                        // and multipliers in the one behind
		{"{ v0.w = vadd(v1.w,v2.w) }\n{ v3.w = vadd(v4.w,v5.w) }", 4, 4},                            // the vector pipeline
		{"{ v0.w = vadd(v1.w,v2.w) }\n{ r1 = add(r2,#1) }", 2, 4},                                   // a scalar packet behind each
		{"{ v0.w = vadd(v1.w,v2.w) }\n{ v3.w = vadd(v4.w,v5.w) }\n{ r1 = add(r2,#1) }", 4, 6},       // behind the second
		{"{ v0.w = vrmpy(v1.ub,r1.b) }\n{ v3.w = vasr(v0.w,r2) }\n{ r3 = #1 }\n{ r4 = #1 }", 7, 10}, // two packets of latency, four cycles
		{"{ v0 = vmem(r0+#0) ; r1 = add(r1,#1) }\n{ r2 = #1 }\n{ r3 = #1 }", 3, 6},
	} {
		for _, threads := range []int{1, 2, 3} {
			want := c.alone
			if threads > s.IssueWidth {
				want = c.busy
			}
			if got := cycles(c.body, threads, 200) - cycles(c.body, threads, 100); got != 100*want {
				t.Errorf("%d threads: 100 passes of\n%s\nin %d cycles, want %d", threads, c.body, got, 100*want)
			}
		}
	}
}

// TestUnitConflicts: instructions that do not fit one packet are an error that names the rule.
func TestUnitConflicts(t *testing.T) {
	core := testCore(t)
	for _, c := range []struct{ packet, rule string }{
		{"{ v1:0.h = vmpy(v2.ub,r0.b) ; v4.w += vrmpy(v5.ub,r0.b) }", "both multipliers and a third"},
		{"{ v0.w += vrmpy(v1.ub,v2.b) ; v3.w += vrmpy(v4.ub,v5.b) }", "two that take both"},
		{"{ v0.w = vasr(v1.w,r0) ; v2.w = vasr(v3.w,r0) }", "two shifts"},
		{"{ v0.b = vshuff(v1.b) ; v2 = vdelta(v3,v4) }", "two permutes"},
		{"{ v1:0 = vshuff(v1,v0,r0) ; v2.w = vasr(v3.w,r0) }", "a permute of a pair and a shift"},
	} {
		pk, err := asm.Assemble("\t"+c.packet+"\n\tjumpr r31\n", codeBase)
		var w []uint32
		if err == nil {
			w, err = hexagon.EncodeAll(nil, pk)
		}
		if err == nil {
			_, err = core.Run(&Program{Base: codeBase, Code: hexagon.Bytes(w)}, nil, []Job{{Entry: codeBase, Threads: 1}}, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), "vector pipes oversubscribed") || !strings.Contains(err.Error(), "packet 0x") {
			t.Errorf("%s: %s: %v", c.rule, c.packet, err)
		}
	}
}
