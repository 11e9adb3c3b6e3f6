package devices_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Memory of the Hexagon programs.
const (
	dspCode, dspData = 0x10000, 0x1000000
	dspDataBytes     = 8 << 20
)

// dspProgram runs twice, as two jobs, on so many threads.
type dspProgram struct {
	name    string
	threads int // 0: as many as use vectors at once; -1: all
	text    string
	args    [5]uint32 // r0 to r4; r0 moves by apart from thread to thread
	apart   uint32
}

// hexLoop repeats packets n times.
func hexLoop(n int, packets ...string) string {
	return fmt.Sprintf("\t{ loop0(top,#%d) }\n\tnop\n\tnop\ntop:\n\t%s\n\t{ nop } :endloop0\n", n, strings.Join(packets, "\n\t"))
}

const hexReturn = "\tjumpr r31\n"

// cachePasses reads bytes in lines of step bytes twice: once to fill a cache, once
// to see what it has kept.
func cachePasses(load string, step, lines int) string {
	pass := fmt.Sprintf("\tr1 = r0\n\t{ r5 = ##%d }\n\t{ loop0(%%[1]s,r5) }\n\tnop\n\tnop\n%%[1]s:\n\t%s\n\tr1 = add(r1,r4)\n\t{ nop } :endloop0\n", lines, load)
	return fmt.Sprintf("\tr4 = ##%d\n", step) + fmt.Sprintf(pass, "first") + fmt.Sprintf(pass, "second") + hexReturn
}

// dspPrograms make the numbers of a DSP visible. Sizes come from the preset, so
// that every program just fits what it is about.
func dspPrograms(c *soc.Config) []dspProgram {
	d := c.DSP
	const vector = "v0 = vmem(r1+#0)"
	const scalar = "r2 = memw(r1+#0)"
	setBytes := func(x *soc.Cache) int { return x.Bytes() / x.Ways }
	list := []dspProgram{
		{name: "threads", threads: -1, args: [5]uint32{dspData, 1, 2, 3, 4}, text: hexLoop(20, "{ r1 = add(r1,r2) }", "{ r3 = mpyi(r3,r2) }") + hexReturn},
		{name: "vector work", apart: 0x4000, args: [5]uint32{dspData, 1, 2, 3, 4}, text: hexLoop(40,
			"{ v1 = vmem(r0+#0) ; vmem(r0+#1) = v2 }", "{ v2.w += vrmpy(v1.ub,r1.b) ; v3.w = vasr(v2.w,r2) }", "{ v4.b = vshuff(v3.b) }", "{ v5.w = vadd(v4.w,v1.w) }",
			"{ v6 = vmem(r0+#0) }", "{ v7.w = vadd(v6.w,v1.w) }", "{ r3 = vextract(v0,r2) }", "{ r4 = add(r3,r4) }", "{ r3 = memw(r0+#0) }", "{ memw(r0+#4) = r3 }") + hexReturn},
		{name: "store to load", threads: 1, args: [5]uint32{dspData}, text: hexLoop(8, "vmem(r0+#0) = v0", "v1 = vmem(r0+#0)") + hexReturn},
		{name: "extract", threads: 1, text: hexLoop(8, "r2 = vextract(v0,r4)", "r3 = add(r2,r3)") + hexReturn},
		{name: "branches", threads: 1, text: "\tr0 = #20\ntop:\n\t{ r0 = add(r0,#-1) ; p0 = cmp.gt(r0,#1) }\n\t{ if (p0) jump:nt top }\n" + hexReturn},
		{name: "VTCM", threads: 1, args: [5]uint32{dsp.VTCMBase + uint32(d.VTCMKiB)<<10*3/4}, text: hexLoop(4, "r1 = memw(r0+#0)", "r2 = add(r1,r1)") + hexReturn},
		{name: "l1d set", threads: 1, args: [5]uint32{dspData}, text: cachePasses(scalar, 2*setBytes(&d.L1D), d.L1D.Ways)},
		{name: "l1d size", threads: 1, args: [5]uint32{dspData}, text: cachePasses(scalar, d.L1D.LineBytes, d.L1D.Bytes()/d.L1D.LineBytes)},
		{name: "l1d misses", args: [5]uint32{dspData}, apart: 0x1040, text: hexLoop(20, "dcfetch(r0+#0)", "dcfetch(r0+#64)", "dcfetch(r0+#128)", "dcfetch(r0+#192)", "r0 = add(r0,#256)") + hexReturn},
		{name: "l1d port", args: [5]uint32{dspData}, text: hexLoop(40, "{ r5:4 = memd(r0+#0) ; r7:6 = memd(r0+#32) }", "{ r9:8 = memd(r0+#8) ; r11:10 = memd(r0+#40) }") + hexReturn},
		{name: "l2 set", threads: 1, args: [5]uint32{dspData}, text: cachePasses(vector, 2*setBytes(&d.L2), d.L2.Ways)},
		{name: "l2 port", args: [5]uint32{dspData}, text: hexLoop(40, "v0 = vmem(r0+#0)", "v1 = vmem(r0+#1)") + hexReturn},
		{name: "l2 misses", args: [5]uint32{dspData, 0, 128<<16 | 64, 128}, apart: 0x8000, text: "\tl2fetch(r0,r3:2)\n" + hexLoop(64, "{ v0 = vmem(r0++#1) }") + hexReturn},
		{name: "code misses", args: [5]uint32{dspCode + 64}, apart: 8 * 64, text: "\t{ jumpr r0 }\n" + codeLines(d, 64)},
		{name: "code", text: codeLines(d, 12)},
		{name: "code set", threads: 1, text: codeBlocks(2*setBytes(&d.L1I), d.L1I.Ways)},
		{name: "code size", threads: 1, text: codeBlocks(d.L1I.LineBytes, d.L1I.Bytes()/d.L1I.LineBytes-4)},
	}
	if d.DMA != nil {
		const bytes = 16 << 10
		list = append(list,
			dspProgram{name: "DMA", threads: 1, args: [5]uint32{dspData, 0, bytes, dspData + 0x10000, dsp.VTCMBase},
				text: "\tmemw(r0+#0) = r1\n\tmemw(r0+#4) = r2\n\tmemw(r0+#8) = r3\n\tmemw(r0+#12) = r4\n\tdmstart(r0)\n\tr5 = dmwait\n" + hexReturn},
			dspProgram{name: "DMA chain", threads: 1, args: [5]uint32{dspData + 0x1000}, text: "\tdmstart(r0)\n\tr5 = dmwait\n" + hexReturn})
	}
	return append(list,
		dspProgram{name: "l2 size", threads: 1, args: [5]uint32{dspData}, text: cachePasses(vector, d.L2.LineBytes, d.L2.Bytes()/d.L2.LineBytes)})
}

// codeLines runs straight through so many lines of instructions.
func codeLines(d *soc.DSP, lines int) string {
	return strings.Repeat("\t{ nop }\n", lines*d.L1I.LineBytes/4) + hexReturn
}

// codeBlocks visits n addresses so many bytes apart, twice.
func codeBlocks(apart, n int) string {
	var b strings.Builder
	b.WriteString("\tr6 = #2\n")
	for i := range n {
		fmt.Fprintf(&b, "b%d:\n\t{ jump b%d }\n%s", i, i+1, strings.Repeat("\tnop\n", apart/4-1))
	}
	fmt.Fprintf(&b, "b%d:\n\t{ r6 = add(r6,#-1) ; p0 = cmp.gt(r6,#1) }\n\tif (p0) jump:nt b0\n%s", n, hexReturn)
	return b.String()
}

// dspAssembled keeps what has been assembled, by text.
var dspAssembled = map[string][]byte{}

// run adds the report of the program to h.
func (p *dspProgram) run(h io.Writer, c *soc.Config, pref hal.Preference) error {
	spec, err := dsp.FromSoC(c, sim.Preference(pref))
	if err != nil {
		return err
	}
	core, err := dsp.New(spec)
	if err != nil {
		return err
	}
	code, ok := dspAssembled[p.text]
	if !ok {
		packets, err := asm.Assemble(p.text, dspCode)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		words, err := hexagon.EncodeAll(nil, packets)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		code = hexagon.Bytes(words)
		dspAssembled[p.text] = code
	}
	data := make([]byte, dspDataBytes)
	for i := range 8 { // a chain of descriptors, for those programs that start it
		at := 0x1000 + 16*i
		next := uint32(dspData + at + 16)
		if i == 7 {
			next = 0
		}
		for k, w := range []uint32{next, 64, dspData + 0x20000 + uint32(i)*4096, dsp.VTCMBase + uint32(i)*256} {
			binary.LittleEndian.PutUint32(data[at+4*k:], w)
		}
	}
	space := new(mem.Space)
	if err := space.Map(mem.Segment{Name: "data", Base: dspData, Data: data}); err != nil {
		return err
	}
	if spec.VTCMBytes > 0 {
		if err := space.Map(mem.Segment{Name: "vtcm", Base: dsp.VTCMBase, Data: make([]byte, spec.VTCMBytes)}); err != nil {
			return err
		}
	}
	var jobs []dsp.Job
	for j := range 2 {
		job := dsp.Job{Region: j, Name: p.name, Entry: dspCode, Threads: p.threads}
		switch p.threads {
		case 0:
			job.Threads = min(spec.Threads, max(1, spec.Contexts))
		case -1:
			job.Threads = spec.Threads
		}
		for i := range job.Threads {
			args := p.args
			args[0] += uint32(i) * p.apart
			job.Args = append(job.Args, args[:])
		}
		jobs = append(jobs, job)
	}
	memory, _, err := c.NewPath("dsp", 0)
	if err != nil {
		return err
	}
	r, err := core.Run(&dsp.Program{Base: dspCode, Code: code}, space, jobs, dsp.Options{Memory: memory, MaxPackets: 1 << 20})
	if err != nil {
		return refusal{fmt.Errorf("%s: %w", p.name, err)}
	}
	fmt.Fprintf(h, "%+v", r)
	return nil
}
