package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// FuzzRun executes arbitrary words as a program, functional and timed: every
// outcome but a panic, a hang or different registers is fine.
func FuzzRun(f *testing.F) {
	for _, text := range []string{
		gemmText,
		"\tr0 = #50\ntop:\n\t{ r0 = add(r0,#-1) ; p0 = cmp.gt(r0,#1) }\n\t{ if (p0) jump:t top }\n\tjumpr r31\n",
		"\t{ r0 = r1 ; r1 = r0 }\n\tl2fetch(r0,r3:2)\n\tdcfetch(r0+#0)\n\tv0 = vmemu(r0+#0)\n\tjumpr r31\n",
		"\t{ v0.tmp = vmem(r0+#0) ; v3:2.w = vadd(v1:0.w,v3:2.w) }\n\t{ v4.h = vasr(v2.w,v3.w,r2):rnd:sat ; vmem(r0+#1) = v4.new }\n\tjumpr r31\n",
		"\tmemw(r0+#4) = r8\n\tmemw(r0+#0) = r4\n\tdmstart(r0)\n\tdmlink(r0,r2)\n\tr5 = dmpoll\n\tr5 = dmpause\n\tdmresume(r5)\n\tr6 = dmwait\n\tjumpr r31\n",
		"\tm0 = r1\n\t{ vtmp.h = vgather(r0,m0,v0.h).h ; vmem(r2+#0) = vtmp.new }\n\tif (q0) vscatter(r0,m0,v1.h).h = v2\n" +
			"\t{ v1.tmp = vmem(r0+#0) ; vhist(q1) }\n\t{ if (p0) v0.tmp = vmem(r0+#0) ; v1:0.h += vmpy(v4.ub,r0.b) }\n\tjumpr r31\n",
		"\t{ z = vmem(r0+#0) ; r1 = #100 }\n\t{ v4.tmp = vmem(r0+#1) ; v3:0.w += vrmpyz(v4.b,r1.b++) }\n\t{ if (p0) z = vmem(r0++#1) ; v7:4.w = vrmpyz(v0.b,r1.ub) }\n\tjumpr r31\n",
	} {
		f.Add([]byte(assemble(f, codeBase, text).Code))
	}
	core := require.V(newCold(presetSpec(f, "sd888")))(f)
	f.Fuzz(func(t *testing.T, code []byte) {
		code = code[:len(code)&^3]
		if len(code) > 4096 {
			return
		}
		var end [2]Registers
		var failed [2]bool
		for i := range end {
			space := new(mem.Space)
			require.NoError(t, space.Map(mem.Segment{Name: "d", Base: 0x100000, Data: make([]byte, 1<<16)}))
			st := &end[i]
			for r := range st.R {
				st.R[r] = 0x108000 + uint32(r)*128
			}
			st.R[31] = ReturnAddress
			st.PC = codeBase
			rep, err := core.RunThread(&Program{Base: codeBase, Code: code}, space, st, codeBase+uint32(len(code)),
				Options{Functional: i == 0, MaxPackets: 2000})
			failed[i] = err != nil
			if err == nil && rep.Stalls.Total() != rep.Cycles {
				t.Errorf("stalls %d, cycles %d", rep.Stalls.Total(), rep.Cycles)
			}
		}
		// DMA is seen in progress in a timed run and has ended in a functional one.
		for i := 3; i < len(code); i += 4 {
			if code[i] == 0xa6 || code[i] == 0xa8 {
				return
			}
		}
		if end[0] != end[1] || failed[0] != failed[1] {
			t.Error("functional and timed runs differ")
		}
	})
}
