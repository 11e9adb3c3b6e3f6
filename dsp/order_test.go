package dsp

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	native "github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestStoreBeforeLoad: the memory operations of a packet happen in the order of
// their slots, so a load in slot 0 sees what a store in slot 1 wrote.
func TestStoreBeforeLoad(t *testing.T) {
	for _, c := range []struct {
		text string
		swap bool // the store is in slot 1
		want uint32
	}{
		{"{ r2 = memw(r0+#0) ; memw(r0+#0) = r1 }", false, 5},
		{"{ r2 = memw(r0+#0) ; memw(r0+#0) = r1 }", true, 7},
		{"{ r2 = memw(r0+#0) ; memb(r0+#1) = r1 }", true, 0x705},
		{"{ memw(r0+#0) = r1 ; memw(r0+#0) = r3 }\n{ r2 = memw(r0+#0) }", false, 9},
	} {
		data := make([]byte, 256)
		binary.LittleEndian.PutUint32(data, 5)
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "data", Base: 0x10000, Data: data}))
		packets := require.V(asm.Assemble(c.text+"\n{ jumpr r31 }", 0x1000))(t)
		words := require.V(hexagon.EncodeAll(nil, packets))(t)
		if parse := uint32(0xc000); c.swap { // the words, but for their parse bits
			a, b := words[0], words[1]
			words[0], words[1] = b&^parse|a&parse, a&^parse|b&parse
		}
		p := &Program{Base: 0x1000, Code: hexagon.Bytes(words)}
		st := &Registers{PC: p.Base}
		st.R[0], st.R[1], st.R[3], st.R[31] = 0x10000, 7, 9, ReturnAddress
		require.V(testCore(t).RunThread(p, space, st, ReturnAddress, Options{}))(t, c.text)
		if st.R[2] != c.want {
			t.Errorf("%s: r2 = %#x, want %#x", c.text, st.R[2], c.want)
		}
	}
}

// TestOldValues: the order of a packet's words does not affect its registers. All but .new operands are read as they
// were before the packet, among them the registers that a form uses or changes implicitly. Every order of the words
// leaves the value in r2.
func TestOldValues(t *testing.T) {
	const base, old = 0x1000, 33
	for _, c := range []struct {
		packet, then string
		want         uint32
	}{
		{"{ c5:4 = r1:0 ; if (p0) r2 = r3 }", "", 3}, {"{ c5:4 = r1:0 ; if (p1) r2 = r3 }", "", 3},
		{"{ c5:4 = r1:0 ; if (p2) r2 = r3 }", "", 3}, {"{ c5:4 = r1:0 ; if (p3) r2 = r3 }", "", 3},
		{"{ p3:0 = r0 ; if (p0) r2 = r3 }", "", 3}, {"{ p3:0 = r0 ; if (p1) r2 = r3 }", "", 3},
		{"{ p3:0 = r0 ; if (p2) r2 = r3 }", "", 3}, {"{ p3:0 = r0 ; if (p3) r2 = r3 }", "", 3},
		{"{ r3:2 = c5:4 ; p0 = cmp.eq(r0,r3) }", "", ^uint32(0)}, {"{ r3:2 = c5:4 ; p3 = cmp.eq(r0,r3) }", "", ^uint32(0)},
		{"{ r2 = p3:0 ; p1 = cmp.eq(r0,r3) }", "", ^uint32(0)}, {"{ r2 = p3:0 ; p2 = cmp.eq(r0,r3) }", "", ^uint32(0)},
		{"{ r2 = p3:0 ; p1 = cmp.eq(r0,r3) }", "{ r2 = p3:0 }", 0xffff00ff},
		{"{ p0 = cmp.eq(r0,r0) ; p0 = cmp.eq(r0,r3) }", "{ r2 = p0 }", 0}, {"{ p0 = cmp.eq(r0,r0) ; p0 = cmp.eq(r3,r3) }", "{ r2 = p0 }", 0xff},
		{"{ p0 = cmp.eq(r0,r0) ; p0 = cmp.eq(r0,r3) ; p0 = cmp.eq(r3,r3) }", "{ r2 = p0 }", 0},
		{"{ p3 = sp1loop0(1f,#2) ; if (p3) r2 = r3 }", "1: { nop } :endloop0", 3},
		{"{ p3 = sp2loop0(1f,r3) ; if (p3) r2 = r3 }", "1: { nop } :endloop0", 3},
		{"{ p3 = sp3loop0(1f,#2) ; if (p3) r2 = r3 }", "1: { nop } :endloop0", 3},
		{"{ p3 = sp1loop0(1f,#1) }", "1: { nop } :endloop0\n{ r2 = p3 }", 0xff}, // set at the end of this pass
		{"{ p3 = sp2loop0(1f,#1) }", "1: { nop } :endloop0\n{ r2 = p3 }", 0}, {"{ p3 = sp2loop0(1f,#2) }", "1: { nop } :endloop0\n{ r2 = p3 }", 0xff},
		{"{ p3 = sp3loop0(1f,#2) }", "1: { nop } :endloop0\n{ r2 = p3 }", 0}, {"{ p3 = sp3loop0(1f,#3) }", "1: { nop } :endloop0\n{ r2 = p3 }", 0xff},
		{"{ r2 = usr ; r4 = add(r5,r5):sat }", "", 0}, {"{ r2 = usr ; r4 = add(r5,r5):sat }", "{ r2 = usr }", 1},
		{"{ r2 = usr ; r4 = sath(r5) }", "", 0}, {"{ r2 = usr ; r4 = sath(r5) }", "{ r2 = usr }", 1},
		{"{ r3:2 = c9:8 ; r4 = add(r5,r5):sat }", "", 0},
		{"{ r2 = usr ; r4 = sfadd(r6,r7) }", "", 0}, {"{ r2 = usr ; r4 = sfadd(r6,r7) }", "{ r2 = usr }", 1 << 5},
		{"{ r3:2 = c9:8 ; r4 = sfadd(r6,r7) }", "", 0},
		{"{ r2 = usr ; r4 = add(r2,r5):sat }", "", 0}, {"{ r2 = usr ; r4 = sfadd(r2,r7) }", "", 0}, {"{ r3:2 = c9:8 ; r4 = sfadd(r3,r7) }", "", 0}, {"{ r3:2 = c9:8 ; r4 = add(r3,r5):sat }", "", 0},
		{"{ usr = r8 ; r2 = sfadd(r6,r7) }", "", 0x3f800000}, // not rounded up, as r8 has it
		{"{ call 1f ; r2 = r31 }", "1:", old},
		{"{ allocframe(#8) ; r2 = r29 }", "", scratchBase + 512}, {"{ allocframe(#8) ; r2 = r30 }", "", old}, {"{ allocframe(#8) ; r31 = r3 }", "{ r2 = memw(r30+#4) }", old},
		{"{ r31:30 = deallocframe(r9):raw ; r2 = r29 }", "", scratchBase + 512}, {"{ r31:30 = deallocframe(r9):raw }", "{ r2 = r29 }", scratchBase + 8},
		{"{ r11:10 = decbin(r1:0,r13:12) ; if (p0) r2 = r3 }", "", 3},
		{"{ r3:2 = add(r5:4,r1:0) ; r5:4 = add(r3:2,r1:0) }", "{ r2 = r3 }", 0x7fffffff}, {"{ r3:2 = add(r5:4,r1:0) ; r5:4 = add(r3:2,r1:0) }", "{ r2 = r5 }", 3},
		{"{ gp = r3 ; r2 = memw(gp+#0) }", "", 0x11}, {"{ cs0 = r3 ; r10 = memw(r14++#-4:circ(m0)) }", "{ r2 = sub(r14,r9) }", 4},
		{"{ cs1 = r9 }", "{ r2 = cs1 }", scratchBase},
		{"{ m1 = r3 ; r10 = memw(r9++m1) }", "{ r2 = r9 }", scratchBase + 16},
	} {
		packets, err := asm.Assemble(c.packet+"\n"+c.then+"\n{ nop }", base)
		if err != nil {
			t.Errorf("%s: %v", c.packet, err)
			continue
		}
		words := require.V(hexagon.EncodeAll(nil, packets))(t)
		for _, order := range orders(int(packets[0].N)) {
			program := append([]uint32(nil), words...)
			for at, from := range order { // all but the parse bits
				program[at] = words[from]&^(3<<14) | words[at]&(3<<14)
			}
			memory := make([]byte, 1024)
			binary.LittleEndian.PutUint32(memory, 0x11)
			space := new(mem.Space)
			require.NoError(t, space.Map(mem.Segment{Name: "data", Base: scratchBase, Data: memory}))
			p := &Program{Base: base, Code: hexagon.Bytes(program)}
			st := &Registers{PC: base, P: [4]byte{255, 255, 255, 255}, M: [2]uint32{8, 16}, CS: [2]uint32{scratchBase}, GP: scratchBase}
			copy(st.R[:], []uint32{0, 0, 2, 3, 4, 0x7fffffff, 0x3f800000, 0x30800000, 3 << 22, scratchBase}) // 1 and 2^-30
			st.R[14], st.R[29], st.R[30], st.R[31] = scratchBase, scratchBase+512, old, old
			if _, err := testCore(t).RunThread(p, space, st, base+uint32(len(p.Code)), Options{Functional: true}); err != nil {
				t.Errorf("%s in the order %d: %v", c.packet, order, err)
			} else if st.R[2] != c.want {
				t.Errorf("%s in the order %d, then %s: r2 = %#x, want %#x", c.packet, order, c.then, st.R[2], c.want)
			}
		}
	}
}

// TestTickets: threads begin in the order in which the core issues them, those with the same cycle by number.
func TestTickets(t *testing.T) {
	for _, c := range []struct {
		width, threads int
		want           string // threads by ticket
	}{{4, 4, "[0 1 2 3]"}, {2, 4, "[0 2 1 3]"}, {1, 4, "[0 1 2 3]"}, {1, 3, "[0 1 2]"}, {2, 3, "[0 2 1]"}} {
		spec := testSpec(t)
		spec.IssueInterval, spec.IssueWidth, spec.Threads = 1, c.width, 4
		core := require.V(newCold(spec))(t)
		p := assemble(t, codeBase, "{ r2 = memw(r0+#0) }\n{ r3 = addasl(r0,r2,#2) ; r2 = add(r2,#1) }\n{ memw(r3+#4) = r1 }\n{ memw(r0+#0) = r2 }\n{ jumpr r31 }\n")
		data, space := make([]byte, 256), new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "dram", Base: outBase, Data: data}))
		args, got := make([][]uint32, c.threads), make([]uint32, c.threads)
		for i := range args {
			args[i] = []uint32{outBase, uint32(i)}
		}
		require.V(core.Run(p, space, []Job{{Entry: codeBase, Threads: c.threads, Args: args}}, Options{}))(t)
		for i := range got {
			got[i] = binary.LittleEndian.Uint32(data[4*i+4:])
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%d of %d threads at a time: %v, want %s", c.width, c.threads, got, c.want)
		}
	}
}

// TestRegistersOfJobs: a job finds no control register as the one before left it.
func TestRegistersOfJobs(t *testing.T) {
	p := assemble(t, codeBase, "{ r2 = m0 }\n{ r3 = usr }\n{ memw(r0+#0) = r2 ; memw(r0+#4) = r3 }\n{ m0 = r1 }\n{ r4 = add(r1,r1):sat }\n{ jumpr r31 }\n")
	data, space := make([]byte, 8), new(mem.Space)
	require.NoError(t, space.Map(mem.Segment{Name: "dram", Base: outBase, Data: data}))
	job := Job{Entry: codeBase, Threads: 1, Args: [][]uint32{{outBase, 0x7fffffff}}}
	require.V(testCore(t).Run(p, space, []Job{job, job}, Options{}))(t)
	if binary.LittleEndian.Uint64(data) != 0 {
		t.Errorf("m0 and usr: %x", data)
	}
}

// TestExchangedPairs: pairs of vectors that are read and written in a circle are copied whole.
func TestExchangedPairs(t *testing.T) {
	var st Registers
	for v := range 6 {
		for i := range 32 {
			binary.LittleEndian.PutUint32(st.V[v][4*i:], uint32((v+1)*1000+i))
		}
	}
	require.NoError(t, runText(t, "{ v1:0.w = vadd(v3:2.w,v5:4.w) ; v3:2.w = vsub(v1:0.w,v5:4.w) }", &st, make([]byte, 128)))
	for i := range 32 {
		want := [4]int32{8000 + 2*int32(i), 10000 + 2*int32(i), 1000 - 5000, 2000 - 6000}
		for v, w := range want {
			if got := int32(binary.LittleEndian.Uint32(st.V[v][4*i:])); got != w {
				t.Fatalf("word %d of v%d is %d, want %d", i, v, got, w)
			}
		}
	}
}

// TestJumpsOnRegisters: the jumps that look at a register, around zero.
func TestJumpsOnRegisters(t *testing.T) {
	for _, c := range []struct {
		condition string
		taken     [3]bool // for -1, 0 and 1
	}{
		{">=#0", [3]bool{false, true, true}}, {"<=#0", [3]bool{true, true, false}},
		{"==#0", [3]bool{false, true, false}}, {"!=#0", [3]bool{true, false, true}},
	} {
		for i, taken := range c.taken {
			for _, hint := range []string{"nt", "t"} {
				st := Registers{R: [32]uint32{uint32(i - 1), 7}}
				require.NoError(t, runText(t, "{ if (r0"+c.condition+") jump:"+hint+" 1f }\n{ r1 = #8 }\n1: { nop }", &st, make([]byte, 128)))
				if (st.R[1] == 7) != taken {
					t.Errorf("jump:%s if %d %s: taken %v", hint, i-1, c.condition, !taken)
				}
			}
		}
	}
}

// TestCompoundJumps: a compare with its jump leaves the outcome in its predicate alone and jumps when it is the wanted one; others of
// the packet see the predicate before it. So by handlers of assembly and without.
func TestCompoundJumps(t *testing.T) {
	for _, c := range []struct {
		compare string
		is      [5]bool // for r0 of 2, 3, 4, -2 and -1
	}{
		{"cmp.eq(r0,r1)", [5]bool{1: true}}, {"cmp.gt(r0,r1)", [5]bool{2: true}}, {"cmp.gtu(r0,r1)", [5]bool{2: true, 3: true, 4: true}},
		{"cmp.gt(r1,r0)", [5]bool{0: true, 3: true, 4: true}}, {"cmp.gtu(r1,r0)", [5]bool{0: true}},
		{"cmp.eq(r0,#3)", [5]bool{1: true}}, {"cmp.gt(r0,#3)", [5]bool{2: true}}, {"cmp.gtu(r0,#3)", [5]bool{2: true, 3: true, 4: true}},
		{"cmp.eq(r0,#-1)", [5]bool{4: true}}, {"cmp.gt(r0,#-1)", [5]bool{0: true, 1: true, 2: true}}, {"tstbit(r0,#0)", [5]bool{1: true, 4: true}},
	} {
		for i, is := range c.is {
			for p := range 2 {
				for _, not := range []string{"", "!"} {
					st := Registers{PC: 0x1000, R: [32]uint32{[]uint32{2, 3, 4, ^uint32(1), ^uint32(0)}[i], 3, 7}, P: [4]byte{0x55, 0x55, 0x55, 0x55}}
					want := st.P
					if want[p] = 0; is {
						want[p] = 0xff
					}
					text := fmt.Sprintf("{ p%d = %s ; if (%sp%d.new) jump:t 1f ; if (p%d) r3 = r2 }\n{ r2 = #8 }\n1: { nop }", p, c.compare, not, p, p)
					packets := require.V(asm.AssembleObject(text, asm.Options{Base: 0x1000}))(t).Packets
					if packets[0].Insts[0].Op.Form().Class != hexagon.CJ {
						t.Fatalf("%s has no compound", text)
					}
					program := &Program{Base: 0x1000, Code: hexagon.Bytes(require.V(hexagon.EncodeAll(nil, packets))(t))}
					for _, handlers := range []*native.Handlers{native.Host(), nil} {
						core := *testCore(t)
						core.asm = handlers
						st := st
						_, err := core.RunThread(program, new(mem.Space), &st, program.Base+uint32(len(program.Code)), Options{Functional: true})
						require.NoError(t, err)
						if taken := st.R[2] == 7; taken != (is == (not == "")) || st.P != want || st.R[3] != 7 {
							t.Errorf("%s: for %d taken %v, predicates %x, want %x, r3 = %d", text, int32(st.R[0]), taken, st.P, want, st.R[3])
						}
					}
				}
			}
		}
	}
}

// orders are the permutations of the numbers below n.
func orders(n int) (all [][]int) {
	if n == 0 {
		return [][]int{nil}
	}
	for _, rest := range orders(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(rest), at, n-1))
		}
	}
	return all
}

// TestZeroedLines: dczeroa clears the 32 bytes around an address, and no others.
func TestZeroedLines(t *testing.T) {
	s := dmaSpec(t)
	p := assemble(t, codeBase, "\tdczeroa(r0)\n\tjumpr r31\n")
	for _, at := range []int{4096, 4096 + 37, 4096 + 95} {
		for _, functional := range []bool{true, false} {
			space, data, _ := dmaMemory(t, s)
			for i := range data {
				data[i] |= 1
			}
			require.V(dmaRun(s, space, p, Options{Functional: functional}, []uint32{dmaData + uint32(at)}))(t)
			for i, b := range data {
				if (b == 0) != (i/32 == at/32) {
					t.Fatalf("dczeroa at %d: byte %d is %d", at, i, b)
				}
			}
		}
	}
}
