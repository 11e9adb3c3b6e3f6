package dsp

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// linked assembles text at address 0x10000.
func linked(t *testing.T, text string) *Program {
	t.Helper()
	pk := require.V(asm.Assemble(text, 0x10000))(t)
	words := require.V(hexagon.EncodeAll(nil, pk))(t)
	return &Program{Base: 0x10000, Code: hexagon.Bytes(words)}
}

// runText runs code on a state and a memory at scratchBase.
func runText(t *testing.T, text string, st *Registers, memory []byte) error {
	t.Helper()
	p := linked(t, text)
	space := new(mem.Space)
	require.NoError(t, space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: memory}))
	st.PC = p.Base
	_, err := testCore(t).RunThread(p, space, st, p.Base+uint32(len(p.Code)), Options{Functional: true})
	return err
}

// TestRtt checks the dot products by a register pair, which no emulator has, against their definition: the low word of
// the pair weighs the low vector of the result.
func TestRtt(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, c := range []struct {
		text        string
		signed, acc bool
	}{
		{"v1:0.w = vrmpy(v2.b,r5:4.ub)", true, false}, {"v1:0.w += vrmpy(v2.b,r5:4.ub)", true, true},
		{"v1:0.uw = vrmpy(v2.ub,r5:4.ub)", false, false}, {"v1:0.uw += vrmpy(v2.ub,r5:4.ub)", false, true},
	} {
		st := randomState(r)
		old, w := st.V, [2]uint32{st.R[4], st.R[5]}
		require.NoError(t, runText(t, c.text, &st, make([]byte, 128)))
		for half := range 2 {
			for i := range 32 {
				var want uint32
				if c.acc {
					want = binary.LittleEndian.Uint32(old[half][4*i:])
				}
				for k := range 4 {
					x := uint32(old[2][4*i+k])
					if c.signed {
						x = uint32(int32(int8(x)))
					}
					want += x * (w[half] >> (8 * k) & 0xff)
				}
				if got := binary.LittleEndian.Uint32(st.V[half][4*i:]); got != want {
					t.Fatalf("%s: v%d word %d is %#x, want %#x", c.text, half, i, got, want)
				}
			}
		}
	}
}

// TestRegion checks that scatters and gathers drop elements outside their region, and bytes of a clear predicate.
func TestRegion(t *testing.T) {
	var st Registers
	offsets := []uint32{0, 4, 60, 61, 64, 1 << 20, ^uint32(3), 8}
	for i := range 32 {
		off := uint32(1 << 16)
		if i < len(offsets) {
			off = offsets[i]
		}
		binary.LittleEndian.PutUint32(st.V[1][4*i:], off)
		binary.LittleEndian.PutUint32(st.V[2][4*i:], 0x01010101*uint32(i+1))
	}
	for i := range st.Q[0] {
		st.Q[0][i] = 1
	}
	copy(st.Q[0][4*7:], []byte{0, 1, 0, 1})
	st.R[0], st.R[1], st.M[0] = scratchBase, scratchBase+128, 63
	memory, want := make([]byte, 256), make([]byte, 256)
	require.NoError(t, runText(t, "{ if (q0) vscatter(r0,m0,v1.w).w = v2 }", &st, memory))
	copy(want, []byte{1, 1, 1, 1, 2, 2, 2, 2, 0, 8, 0, 8})
	copy(want[60:], []byte{3, 3, 3, 3})
	if !bytes.Equal(memory, want) {
		t.Errorf("scatter left\n%v, want\n%v", memory, want)
	}
	for i := range memory[128:] {
		memory[128+i], want[128+i] = 0xee, 0xee
	}
	require.NoError(t, runText(t, "{ if (q0) vtmp.w = vgather(r0,m0,v1.w).w ; vmem(r1+#0) = vtmp.new }", &st, memory))
	copy(want[128:], []byte{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3})
	copy(want[128+4*7:], []byte{0xee, 8, 0xee, 8})
	if !bytes.Equal(memory, want) {
		t.Errorf("gather left\n%v, want\n%v", memory[128:], want[128:])
	}
	if err := runText(t, "{ vtmp.w = vgather(r0,m0,v1.w).w }", &st, memory); err != nil || !bytes.Equal(memory, want) {
		t.Errorf("a gather without a store: error %v, or it wrote", err)
	}
	st.M[0] = 1 << 24
	require.ErrorContains(t, runText(t, "{ vscatter(r0,m0,v1.w).w = v2 }", &st, memory), "not mapped", "an element outside of memory")
}

// TestScatterSums: sums go to the multiple of the element's size below the address, one after another, within the element.
func TestScatterSums(t *testing.T) {
	for _, c := range []struct {
		text        string
		n           int
		offset, add []uint32
		want        []byte
	}{
		{"{ vscatter(r0,m0,v1.h).h += v2 }", 2, []uint32{0, 3, 2, 5, 63, 64}, []uint32{0xffff, 1, 0x100, 0x203, 7, 9}, []byte{0xff, 0xff, 1, 1, 3, 2, 62: 7, 63: 0}},
		{"{ vscatter(r0,m0,v1.h).h += v2 }", 2, []uint32{0, 1}, []uint32{0xffff, 2}, []byte{1, 0}},
		{"{ vscatter(r0,m0,v1.w).w += v2 }", 4, []uint32{1, 6, 7, 15, 61}, []uint32{0x1ff, 0xffffffff, 3, 5, 8}, []byte{0xff, 1, 0, 0, 2, 0, 0, 0, 12: 5, 60: 8}},
		{"{ vscatter(r0,m0,v5:4.w).h += v2 }", 2, []uint32{1, 2, 7, 8}, []uint32{1, 2, 3, 4}, []byte{1, 0, 2, 0, 0, 0, 3, 0, 4}},
	} {
		var st Registers
		for i := range 128 / c.n {
			off, add := uint32(0x7ff0), uint32(0) // outside of the region
			if i < len(c.offset) {
				off, add = c.offset[i], c.add[i]
			}
			if c.n == 4 {
				binary.LittleEndian.PutUint32(st.V[1][4*i:], off)
				binary.LittleEndian.PutUint32(st.V[2][4*i:], add)
				continue
			}
			binary.LittleEndian.PutUint16(st.V[1][2*i:], uint16(off))
			binary.LittleEndian.PutUint16(st.V[2][2*i:], uint16(add))
			binary.LittleEndian.PutUint32(st.V[4+i%2][4*(i/2):], off) // even elements in the low vector
		}
		st.R[0], st.M[0] = scratchBase, 63
		memory, want := make([]byte, 256), make([]byte, 256)
		copy(want, c.want)
		require.NoError(t, runText(t, c.text, &st, memory))
		if !bytes.Equal(memory, want) {
			t.Errorf("%s left\n%v, want\n%v", c.text, memory[:64], want[:64])
		}
	}
}

// TestTmpCur checks cases that QEMU 7.2 leaves open: a load that does not run leaves the register, and with it every
// reader, unchanged; a .new store of a .tmp load stores the loaded vector.
func TestTmpCur(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	type vector = [128]byte
	for _, c := range []struct {
		text   string
		v0, v1 string // which vector they hold afterwards: old 0, old 1 or the loaded one
		stored bool
	}{
		{"{ if (p0) v0.cur = vmem(r0+#0) ; v1 = v0 }", "old0", "old0", false},
		{"{ if (!p0) v0.cur = vmem(r0+#0) ; v1 = v0 }", "load", "load", false},
		{"{ if (p0) v0.tmp = vmem(r0+#0) ; v1 = v0 }", "old0", "old0", false},
		{"{ if (!p0) v0.tmp = vmem(r0+#0) ; v1 = v0 }", "old0", "load", false},
		{"{ v0.tmp = vmem(r0+#0) ; vmem(r0+#1) = v0.new }", "old0", "old1", true},
		{"{ v0.tmp = vmem(r0+#0) }", "old0", "old1", false},
		{"{ v0.cur = vmem(r0+#0) }", "load", "old1", false},
		{"{ v0.tmp = vmem(r0+#0) ; v1:0.h += vmpy(v4.ub,r1.b) }", "load", "old1", false}, // r1 = 0
	} {
		st := randomState(r)
		st.P, st.R[0], st.R[1] = [4]byte{}, scratchBase, 0
		memory := make([]byte, 256)
		r.Read(memory)
		is := map[string]vector{"old0": st.V[0], "old1": st.V[1], "load": vector(memory[:128])}
		rest := vector(memory[128:])
		if c.stored {
			rest = is["load"]
		}
		if err := runText(t, c.text, &st, memory); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if st.V[0] != is[c.v0] || st.V[1] != is[c.v1] || vector(memory[128:]) != rest {
			t.Errorf("%s: wrong result", c.text)
		}
	}
}

// TestHistogramAlone: a histogram has nothing to count without a .tmp load.
func TestHistogramAlone(t *testing.T) {
	var st Registers
	require.ErrorContains(t, runText(t, "{ vhist }", &st, make([]byte, 128)), ".tmp load")
}

// TestScatterTime checks the clock of the scatter/gather unit: a thread continues at once, a release waits until the
// last element is visible, and a full queue stops the thread. All offsets are zero, which is a conflict; a region too
// small for any element has none.
func TestScatterTime(t *testing.T) {
	for conflict, region := range []uint32{0, 255} {
		testScatterTime(t, conflict, region)
	}
}

func testScatterTime(t *testing.T, conflict int, region uint32) {
	s := testSpec(t)
	s.AloneInterval = s.IssueInterval // times count packets
	core := require.V(newCold(s))(t)
	rate := elementRates[conflict]
	run := func(n int, then string, st *State) *sim.Report {
		p := linked(t, "{ m0 = r1 }\n"+strings.Repeat("{ vscatter(r0,m0,v1.h).h = v2 }\n", n)+then+"{ jumpr r31 }")
		space := new(mem.Space)
		require.NoError(t, space.Map(mem.Segment{Name: "vtcm", Base: uint64(s.VTCMBase), Data: make([]byte, 4096)}))
		job := Job{Entry: p.Base, Threads: 1, Args: [][]uint32{{s.VTCMBase, region}}}
		warm := job
		warm.Region = 1
		return require.V(core.Run(p, space, []Job{job, warm}, Options{State: st}))(t)
	}
	cycles := func(n int, then string) int64 { return run(n, then, nil).Regions[1].Cycles }
	period := int64(s.IssueInterval)
	busy := rate.busy * period
	up := func(x int64) int64 { return (x + period - 1) / period * period }
	st := require.V(core.NewState(flat{}))(t)
	if took := [3]int64{run(40, "", st).Cycles, run(40, "", st).Cycles, run(40, "", st).Cycles}; took[1] != took[2] || took[1] > took[0] {
		t.Errorf("runs of %d cycles", took) // the unit is idle when a run begins
	}
	if d := cycles(2, "") - cycles(1, ""); d != period {
		t.Errorf("a second scatter costs %d cycles, want %d", d, period)
	}
	wait := up(rate.scatter*period-period) + period
	require.Same(t, wait, cycles(1, "{ vmem(r0+#0):scatter_release }\n")-cycles(1, ""), "a release costs", "cycles")
	if d := cycles(1, "{ v3 = vmem(r0+#0) }\n") - cycles(1, ""); d != wait-int64(s.VectorLoadCycles) {
		t.Errorf("a load behind a scatter costs %d cycles, want %d", d, wait-int64(s.VectorLoadCycles))
	}
	// The same load in a block that has no scatter, behind a jump that the first job has taken, too.
	late := up(max(0, (rate.scatter-2)*period-int64(s.VectorLoadCycles))) + period
	if d := cycles(1, "{ jump 1f }\n1:\n{ v3 = vmem(r0+#0) }\n") - cycles(1, "{ jump 1f }\n1:\n"); d != late {
		t.Errorf("a load in the block behind a scatter costs %d cycles, want %d", d, late)
	}
	require.Same(t, up((39-elementDepth)*busy), cycles(40, "")-cycles(1, ""), "39 more scatters cost", "cycles")
	require.Same(t, up(busy), cycles(40, "")-cycles(39, ""), "in a long row a scatter costs", "cycles")
}
