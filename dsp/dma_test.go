package dsp

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/coretest"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/power"
)

// dmaSpec is a machine with DMA.
func dmaSpec(t testing.TB) Spec {
	return microSpec(t, "sd888")
}

const dmaData = 0x100000

// dmaMemory is 1 MB of random data with space for descriptors at its start, and VTCM.
func dmaMemory(t testing.TB, s Spec) (space *mem.Space, data, vtcm []byte) {
	t.Helper()
	data, vtcm = make([]byte, 1<<20), make([]byte, s.VTCMBytes)
	rand.New(rand.NewSource(7)).Read(data[4096:])
	space = new(mem.Space)
	for _, g := range []mem.Segment{{Name: "data", Base: dmaData, Data: data}, {Name: "vtcm", Base: uint64(s.VTCMBase), Data: vtcm},
		{Name: "rom", Base: 0x800000, Data: make([]byte, 4096), ReadOnly: true}} {
		require.NoError(t, space.Map(g))
	}
	return space, data, vtcm
}

func words(data []byte, off int, w ...uint32) {
	for i, x := range w {
		binary.LittleEndian.PutUint32(data[off+4*i:], x)
	}
}

func dmaRun(s Spec, space *mem.Space, p *Program, o Options, args ...[]uint32) (*sim.Report, error) {
	c, err := newCold(s)
	if err != nil {
		return nil, err
	}
	return c.Run(p, space, []Job{{Name: "dma", Entry: codeBase, Threads: len(args), Args: args}}, o)
}

// TestDMACopies: a chain of a line and a box, appended to while it runs, moves the same bytes in both modes.
func TestDMACopies(t *testing.T) {
	s := dmaSpec(t)
	p := assemble(t, codeBase, "\tdmstart(r0)\n\tdmlink(r1,r2)\n\tr3 = dmpoll\n\tr4 = dmwait\n\tmemw(r5+#0) = r3\n\tmemw(r5+#4) = r4\n\tjumpr r31\n")
	for _, functional := range []bool{true, false} {
		space, data, vtcm := dmaMemory(t, s)
		words(data, 0, dmaData+32, 3000, dmaData+8192+5, s.VTCMBase+3)
		words(data, 32, 0, 1<<24, dmaData+16384, s.VTCMBase+8192, 0, 70<<16|100, 256<<16|300, 0)
		words(data, 64, 0, 1<<29|256, dmaData+65536, s.VTCMBase+65536)
		from := bytes.Clone(data)
		rep := require.V(dmaRun(s, space, p, Options{Functional: functional}, []uint32{dmaData, dmaData + 32, dmaData + 64, 0, 0, dmaData + 2048}))(t)
		if !bytes.Equal(vtcm[3:3003], from[8192+5:][:3000]) {
			t.Errorf("functional %v: the line differs", functional)
		}
		for row := range 70 {
			if !bytes.Equal(vtcm[8192+256*row:][:100], from[16384+300*row:][:100]) {
				t.Errorf("functional %v: row %d differs", functional, row)
			}
			if vtcm[8192+256*row+100] != 0 {
				t.Errorf("functional %v: row %d is too long", functional, row)
			}
		}
		if !bytes.Equal(vtcm[65536:][:256], from[65536:][:256]) {
			t.Errorf("functional %v: the linked line differs", functional)
		}
		for _, d := range []int{0, 32, 64} {
			if data[d+7]>>7 == 0 {
				t.Errorf("functional %v: descriptor %d is not done", functional, d)
			}
		}
		poll, wait := binary.LittleEndian.Uint32(data[2048:]), binary.LittleEndian.Uint32(data[2052:])
		want := uint32(dmaData | dmaRunning)
		if functional {
			want = 0
		}
		if poll != want || wait != 0 {
			t.Errorf("functional %v: dmpoll %#x, want %#x; dmwait %#x", functional, poll, want, wait)
		}
		if !functional && rep.Stalls[sim.StallDMA] == 0 {
			t.Error("dmwait waits for nothing")
		}
		if rep.Stalls.Total() != rep.Cycles {
			t.Errorf("stalls %v do not add up to %d", rep.Stalls, rep.Cycles)
		}
	}
}

// TestDMAPoll: a thread may also poll the done bit in memory, and work of a thread that has ended continues.
func TestDMAPoll(t *testing.T) {
	s := dmaSpec(t)
	poll := assemble(t, codeBase, "\tdmstart(r0)\nagain:\n\tr1 = memw(r0+#4)\n\tp0 = cmp.gt(r1,#-1)\n\t{ if (p0) jump:t again }\n\tjumpr r31\n")
	space, data, vtcm := dmaMemory(t, s)
	words(data, 0, 0, 100000, dmaData+8192, s.VTCMBase)
	require.V(dmaRun(s, space, poll, Options{MaxPackets: 1 << 20}, []uint32{dmaData}))(t)
	if !bytes.Equal(vtcm[:100000], data[8192:][:100000]) {
		t.Error("bytes differ")
	}
	leave := assemble(t, codeBase, "\tdmstart(r0)\n\tjumpr r31\n")
	space, data, vtcm = dmaMemory(t, s)
	words(data, 0, 0, 100000, dmaData+8192, s.VTCMBase)
	rep := require.V(dmaRun(s, space, leave, Options{}, []uint32{dmaData}))(t)
	if !bytes.Equal(vtcm[:100000], data[8192:][:100000]) || rep.Stalls[sim.StallDMA] == 0 || rep.Stalls.Total() != rep.Cycles {
		t.Errorf("DMA of a thread that has ended: stalls %v, %d cycles", rep.Stalls, rep.Cycles)
	}
}

// dmaQueueOfOne is dmaSpec with an engine that has one descriptor in work.
func dmaQueueOfOne(t testing.TB) Spec {
	s := dmaSpec(t)
	d := *s.DMA
	d.Queue = 1
	s.DMA = &d
	return s
}

// TestDMAPause: dmresume continues the transfers that dmpause stopped.
func TestDMAPause(t *testing.T) {
	s := dmaQueueOfOne(t)
	p := assemble(t, codeBase, "\tdmstart(r0)\n\tr1 = dmpause\n\tr2 = memw(r4+#0)\n\tmemw(r3+#0) = r1\n\tmemw(r3+#4) = r2\n\tdmresume(r1)\n\tr5 = dmwait\n\tjumpr r31\n")
	space, data, vtcm := dmaMemory(t, s)
	words(data, 0, dmaData+16, 4096, dmaData+8192, s.VTCMBase)
	words(data, 16, 0, 4096, dmaData+16384, s.VTCMBase+4096)
	require.V(dmaRun(s, space, p, Options{}, []uint32{dmaData, 0, 0, dmaData + 2048, s.VTCMBase + 4096}))(t)
	if at := binary.LittleEndian.Uint32(data[2048:]); at != dmaData+16 {
		t.Errorf("dmpause answers %#x", at)
	}
	if early := binary.LittleEndian.Uint32(data[2052:]); early != 0 {
		t.Error("the second descriptor ran while paused")
	}
	if !bytes.Equal(vtcm[:4096], data[8192:][:4096]) || !bytes.Equal(vtcm[4096:][:4096], data[16384:][:4096]) {
		t.Error("bytes differ")
	}
}

// TestDMALinkBehind: linking to a descriptor that the engine has already read, with the one behind it, changes nothing.
func TestDMALinkBehind(t *testing.T) {
	s := dmaQueueOfOne(t)
	p := assemble(t, codeBase, "\tdmstart(r0)\n\tdmlink(r0,r1)\n\tr2 = dmwait\n\tjumpr r31\n")
	space, data, vtcm := dmaMemory(t, s)
	for i, next := range []uint32{dmaData + 16, 0, 0} {
		words(data, 16*i, next, 4096, dmaData+8192, s.VTCMBase+4096*uint32(i))
	}
	require.V(dmaRun(s, space, p, Options{}, []uint32{dmaData, dmaData + 32}))(t)
	if from := data[8192:][:4096]; !bytes.Equal(vtcm[:8192], append(bytes.Clone(from), from...)) || bytes.Equal(vtcm[8192:][:4096], from) {
		t.Error("a link behind a descriptor that was read takes the place of its own")
	}
}

// TestDMAEnergy: a burst is an access of each of the memories that it moves between, the one behind L2 draws its own, also
// when the thread that began the copy has ended.
func TestDMAEnergy(t *testing.T) {
	s := dmaSpec(t)
	c, e := require.V(New(s))(t), s.Energy.PJ
	volts := (s.VoltageV / s.Energy.ReferenceV) * (s.VoltageV / s.Energy.ReferenceV)
	leave := assemble(t, codeBase, "\tdmstart(r0)\n\tjumpr r31\n")
	run := func(n uint32, pj float64) float64 {
		space, data, _ := dmaMemory(t, s)
		words(data, 0, 0, n, dmaData+8192, s.VTCMBase)
		m := &coretest.Flat{PJ: pj}
		job := Job{Entry: codeBase, Threads: 1, Args: [][]uint32{{dmaData}}}
		rep := require.V(c.Run(leave, space, []Job{job}, Options{State: require.V(c.NewState(m))(t)}))(t)
		return rep.EnergyPJ - power.StaticPJ(s.Energy.StaticMW, rep.Time) - pj*float64(m.Reads+m.Writes)
	}
	const n = 1 << 15
	want := n / float64(s.DMA.BurstBytes) * (e["l2"] + e["vtcm"]) * volts
	for _, pj := range []float64{0, 1e3} {
		if got := run(2*n, pj) - run(n, pj); !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%d bytes draw %g pJ beside %g by an access of DRAM, want %g", n, got, pj, want)
		}
	}
}

// TestDMAErrors: each mistake in a descriptor is named, with the packet that started it; a core without DMA reports so.
func TestDMAErrors(t *testing.T) {
	s := dmaSpec(t)
	p := assemble(t, codeBase, "\tdmstart(r0)\n\tr1 = dmwait\n\tjumpr r31\n")
	for _, c := range []struct {
		name string
		at   uint32
		w    []uint32
		want string
	}{
		{"descriptor outside", 0x10, nil, "DMA descriptor at 0x10: not in writable memory"},
		{"descriptor read only", 0x800000, nil, "not in writable memory"},
		{"source", dmaData, []uint32{0, 64, 0x40, s.VTCMBase}, "source of 64 bytes at 0x40 is not mapped"},
		{"destination", dmaData, []uint32{0, 64, dmaData, 0x40}, "destination of 64 bytes at 0x40 is not writable"},
		{"destination read only", dmaData, []uint32{0, 64, dmaData, 0x800000}, "not writable memory"},
		{"end of VTCM", dmaData, []uint32{0, 64, dmaData, s.VTCMBase + s.VTCMBytes - 63}, "not writable memory"},
		{"kind", dmaData, []uint32{0, 2<<24 | 64, dmaData, s.VTCMBase}, "unknown kind 2"},
		{"compression", dmaData, []uint32{0, 1<<27 | 64, dmaData, s.VTCMBase}, "compression"},
		{"box alignment", dmaData + 16, []uint32{0, 1 << 24, dmaData, s.VTCMBase}, "aligned to 32"},
		{"padding", dmaData, []uint32{0, 1 << 24, dmaData, s.VTCMBase, 1 << 28}, "padding mode 1"},
		{"offset", dmaData, []uint32{0, 1 << 24, dmaData, s.VTCMBase, 0, 1<<16 | 8, 8<<16 | 8, 1}, "offsets"},
		{"stride", dmaData, []uint32{0, 1 << 24, dmaData, s.VTCMBase, 0, 2<<16 | 16, 16<<16 | 8, 0}, "strides of 8 and 16"},
		{"box leaves", dmaData, []uint32{0, 1 << 24, dmaData, s.VTCMBase, 0, 0x7000<<16 | 4, 0x8000<<16 | 0x8000, 0}, "is not"},
		{"endless", dmaData, []uint32{dmaData, 64, dmaData + 4096, s.VTCMBase}, "the chain does not end"},
		{"second", dmaData, []uint32{0x20, 64, dmaData + 4096, s.VTCMBase}, "DMA descriptor at 0x20"},
	} {
		for _, functional := range []bool{true, false} {
			space, data, _ := dmaMemory(t, s)
			if c.at >= dmaData && c.at < dmaData+64 {
				words(data, int(c.at-dmaData), c.w...)
			}
			_, err := dmaRun(s, space, p, Options{Functional: functional, MaxPackets: 100_000}, []uint32{c.at})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "packet 0x") {
				t.Errorf("%s, functional %v: %v, want %q", c.name, functional, err, c.want)
			}
		}
	}
	twice := assemble(t, codeBase, "\tdmstart(r0)\n\tdmstart(r0)\n\tjumpr r31\n")
	space, data, _ := dmaMemory(t, s)
	words(data, 0, 0, 4096, dmaData+8192, s.VTCMBase)
	require.ErrorContains(t, require.Err(dmaRun(s, space, twice, Options{}, []uint32{dmaData})), "while the engine runs", "dmstart twice")
	s.DMA = nil
	if _, err := dmaRun(s, space, p, Options{}, []uint32{dmaData}); err == nil || !strings.Contains(err.Error(), "dmstart") || !strings.Contains(err.Error(), "no user DMA") {
		t.Errorf("core without DMA: %v", err)
	}
}
