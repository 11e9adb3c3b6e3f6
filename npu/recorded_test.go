package npu

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

var update = flag.Bool("update", false, "write testdata/times.txt and forms.txt")

// recordedFile has register streams of networks that Vela has compiled, without their weights, and the cycles in Vela's
// own table of each of their operations. Per stream a line "stream NETWORK MACHINE", the words in hexadecimal, eight a
// line after "w", and "e WORD CYCLES" for every operation that is one command, at WORD.
const recordedFile = "testdata/vela.txt.gz"

// recorded is a stream with Vela's estimates by the word of the command.
type recorded struct {
	name, machine string
	words         []uint32
	estimate      map[int]int64
}

func readRecorded(t *testing.T) (list []*recorded) {
	t.Helper()
	f := require.V(gzip.NewReader(bytes.NewReader(readFile(t, recordedFile))))(t)
	var text bytes.Buffer
	require.V(text.ReadFrom(f))(t)
	for line := range strings.Lines(text.String()) {
		part := strings.Fields(line)
		if part[0] == "stream" {
			list = append(list, &recorded{name: part[1], machine: part[2], estimate: map[int]int64{}})
			continue
		}
		s := list[len(list)-1]
		switch part[0] {
		case "w":
			for _, p := range part[1:] {
				var w uint32
				require.V(fmt.Sscanf(p, "%x", &w))(t)
				s.words = append(s.words, w)
			}
		case "e":
			var at int
			var cycles int64
			require.V(fmt.Sscan(strings.Join(part[1:], " "), &at, &cycles))(t)
			s.estimate[at] = cycles
		}
	}
	return list
}

// recordedRegions are as large as the streams reach.
func recordedRegions() *Regions {
	return &Regions{make([]byte, 1<<20), make([]byte, 1<<20), make([]byte, 1<<20), make([]byte, 1<<20)}
}

// TestRecordedEstimates: Operations estimates as Vela did.
func TestRecordedEstimates(t *testing.T) {
	compared := 0
	for _, s := range readRecorded(t) {
		list := require.V(mustCore(t, s.machine).Operations(&Program{Commands: s.words}, recordedRegions()))(t)
		for _, x := range list {
			want, ok := s.estimate[x.Word]
			if !ok || x.Code == ethosu.OpDMAStart {
				continue
			}
			compared++
			if got := x.Estimate + x.Exposed; got != want {
				t.Errorf("%s %s: word %d, %s: %d cycles, Vela estimates %d", s.name, s.machine, x.Word, x.Name, got, want)
			}
		}
	}
	if compared < 200 {
		t.Errorf("%d operations compared", compared)
	}
}

// TestRecordedTimes: cycles with their reasons, counters and energy of the streams are those of testdata/times.txt. The
// rules have closed forms in microprogram_test.go; this pins their sum over networks.
func TestRecordedTimes(t *testing.T) {
	var b strings.Builder
	for _, s := range readRecorded(t) {
		r := require.V(mustCore(t, s.machine).Run(&Program{Commands: s.words}, recordedRegions(), Options{TimingOnly: true}))(t)
		fmt.Fprintf(&b, "%s %s\n", s.name, s.machine)
		writeReport(&b, r)
	}
	golden(t, filepath.Join("testdata", "times.txt"), b.String())
}

// writeReport writes the totals of a run in a line.
func writeReport(b *strings.Builder, r *sim.Report) {
	fmt.Fprintf(b, "\t%d cycles, %.6g pJ", r.Cycles, r.EnergyPJ)
	for i := range r.Regions {
		fmt.Fprintf(b, " %d: %d DRAM", r.Regions[i].ID, r.Regions[i].DRAMBytes)
	}
	for reason, n := range r.Stalls {
		if n > 0 {
			fmt.Fprintf(b, " %v %d", sim.Reason(reason), n)
		}
	}
	for _, c := range r.Counters {
		if c.Value > 0 {
			fmt.Fprintf(b, " %s %d", c.Name, c.Value)
		}
	}
	b.WriteByte('\n')
}

// TestFormTimes: convolutions of random forms and an elementwise operation of each mode and type have the times of
// testdata/forms.txt on machines of one and two cores and with an array.
func TestFormTimes(t *testing.T) {
	var b strings.Builder
	for i, machine := range []string{"ethos-u55-32", "ethos-u55-256", "ethos-u65-512", "pixel4", "oblong"} {
		spec := specOf(t, "pixel4")
		if machine == "oblong" { // a grid of 2 by 8 tiles with a fast decoder
			spec.UBlock.H, spec.UBlock.W = 2, 8
			spec.WeightsPerCycle = spec.UBlock.IFM * spec.UBlock.D / 4
		} else {
			spec = specOf(t, machine)
		}
		c := require.V(New(spec))(t)
		r := rand.New(rand.NewPCG(uint64(i), 25))
		for n := range 36 {
			l := random(r)
			switch {
			case n >= 30: // a row
				if l = conv(1, 5+n, 16+8*(n%2), 16, 1, 1); n%3 > 0 {
					l = l.dw()
				}
			case n >= 24: // its windows pool
				if l.depthwise, l.oc = true, l.ic; n%3 == ethosu.PoolReduceSum {
					l.depthwise, l.oc = false, 1
				}
			case n%4 == 2: // accumulators of 40 bits
				l.acc40 = true
			case n < 24 && n%4 == 3: // a column of one brick
				l = conv(8+n, 1, 16, 16, 1, 1)
				l.b16, l.b16in = true, true
			}
			m := newMachine(c.Spec(), 5)
			l.ofm = mapBytes(l.ih, l.iw, l.ic, l.bits/8, l.b16in)
			m.emit(t, l)
			p, regions := m.program(t), &Regions{m.flash, make([]byte, l.ofm+mapBytes(l.oh, l.ow, l.oc, l.out, l.b16))}
			if n >= 24 && n < 30 {
				op := len(p.Commands) - 2 // before STOP
				p.Commands[op] = uint32(n%3)<<16 | uint32(ethosu.OpPool)
			}
			list := require.V(c.Operations(p, regions))(t)
			x := &list[0]
			fmt.Fprintf(&b, "%s %d: %s %dx%dx%d of %dx%dx%d, kernel %v, stride %v, block %v, %d bits: Vela's estimate %d\n",
				machine, n, x.Name, l.oh, l.ow, l.oc, l.ih, l.iw, l.ic, x.Kernel, x.Stride, x.Block, l.bits, x.Estimate)
			for _, level := range []*tape{nil, {}} {
				o := Options{}
				for range c.Spec().Memories {
					if level != nil {
						o.Memories = append(o.Memories, level)
					}
				}
				report := require.V(c.Run(p, regions, o))(t)
				if level != nil {
					fmt.Fprintf(&b, "%d accesses %08x", level.n, level.sum)
				}
				writeReport(&b, report)
			}
		}
		for mode := ethosu.EltMul; mode <= ethosu.EltClz; mode++ {
			for _, size := range []int{1, 2, 4} {
				e := elt{mode: mode, esz: size, osz: size, signed: true, scale: 1, opa: 2, opb: 1, lo: -128, hi: 127, a: make([]int32, 300), b: make([]int32, 300)}
				_, report, err := e.timed(t, c)
				if err != nil {
					continue // the machine has no such form
				}
				fmt.Fprintf(&b, "%s mode %d of %d bytes\n", machine, mode, size)
				writeReport(&b, report)
			}
		}
	}
	golden(t, filepath.Join("testdata", "forms.txt"), b.String())
}

// tape is a memory with a fixed latency that hashes its requests.
type tape struct {
	n   int
	sum uint32
}

func (l *tape) Access(t sim.Time, addr uint64, bytes int, kind mem.Kind) (sim.Time, sim.Reason) {
	l.n++
	l.sum = crc32.Update(l.sum, crc32.IEEETable, fmt.Appendln(nil, t, addr, bytes, kind))
	return t + 80*sim.Nanosecond, sim.StallDRAM
}

func (l *tape) Reset() {}

// golden compares a text with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want := strings.Split(string(readFile(t, file)), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Fatalf("line %d of %s: %q, now %q", i+1, file, slices.Concat(want, make([]string, i+1))[i], line)
		}
	}
}
