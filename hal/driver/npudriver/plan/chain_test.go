package plan

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

var update = flag.Bool("update", false, "write the files in testdata")

// chain is a list of random convolutions, depthwise ones, tables and sums with an earlier map, between the copies of an
// input and of two outputs.
func chain(r *rand.Rand, s *npu.Spec, n int) *step.List {
	l := &step.List{}
	side, depth := 8+r.IntN(24), 16*(1+r.IntN(4))
	size := side * side * depth
	value := func() layout.Ref {
		l.Values = append(l.Values, layout.Value{Bytes: layout.Align(size), First: -1})
		return layout.Ref{Value: len(l.Values) - 1, FeatureMap: layout.Dense(0, side, side, depth, 1, true)}
	}
	client := func(list *[]layout.Buffer) layout.Ref {
		*list = append(*list, layout.Buffer{Region: layout.RegionIO, Addr: l.IO, Bytes: size})
		ref := layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(l.IO, 1, 1, size, 1, false)}
		ref.Region, l.IO = layout.RegionIO, l.IO+layout.Align(size)
		return ref
	}
	move := func(from, to layout.Ref) {
		for _, m := range []*layout.Ref{&from, &to} {
			if m.Value != layout.Placed {
				m.FeatureMap = layout.Dense(0, 1, 1, size, 1, false)
			}
		}
		l.Steps = append(l.Steps, step.Step{Op: -1, Kernel: kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Copy}, IFM: from, OFM: to}})
	}
	maps := []layout.Ref{value()}
	move(client(&l.Inputs), maps[0])
	for i := range n {
		k := kernel.Kernel{IFM: maps[len(maps)-1], OFM: value()}
		k.Lo, k.Hi = -128, 127
		switch kind := r.IntN(4); {
		case kind == 0 && len(maps) > 1:
			k.Kind, k.Mode, k.Global, k.Scale, k.Shift, k.OPAScale = kernel.Elementwise, ethosu.EltAdd, true, 1<<30, 31, 1
			k.ScaleMode = 1
			second := maps[r.IntN(len(maps)-1)]
			k.IFM2 = &second
		case kind == 1:
			k.Kind, k.Mode, k.Global, k.Scale, k.Table = kernel.Pool, ethosu.PoolAverage, true, 1, make([]byte, 256)
			for j := range k.Table {
				k.Table[j] = byte(r.IntN(256))
			}
		default:
			k.Kind, k.KH, k.KW = kernel.Conv, 3, 3
			if kind == 3 {
				k.KH, k.KW = 1, 1
			}
			k.Top, k.Left, k.Bottom, k.Right = k.KH/2, k.KW/2, k.KH/2, k.KW/2
			w := &kernel.Weights{Form: kernel.PerOutput, Signed: true, Outputs: depth, Taps: k.KH * k.KW, Inputs: depth, Channels: depth}
			if r.IntN(3) == 0 {
				k.Kind, w.Form = kernel.Depthwise, kernel.PerTap
				w.Filter = make([]byte, w.Taps*depth)
			} else {
				w.Filter = make([]byte, w.Taps*depth*depth)
			}
			for j := range w.Filter {
				w.Filter[j] = byte(r.IntN(256))
			}
			for range depth {
				w.Records = append(w.Records, ethosu.ScaleRecord{Bias: int64(r.IntN(1000) - 500), Scale: 1 << 30, Shift: uint8(36 + r.IntN(4))})
			}
			w.Bits = w.Entropy()
			k.Weights = w
		}
		k.Defaults()
		k.Block = cost.ChooseBlock(s, &k)
		l.Steps = append(l.Steps, step.Step{Op: i, Kernel: k})
		maps = append(maps, k.OFM)
	}
	move(maps[len(maps)-1], client(&l.Outputs))
	move(maps[len(maps)/2], client(&l.Outputs))
	return l
}

// execute runs a program on inputs of a seed, from word enter on where the regions of an earlier execution are given, and
// returns the outputs. The core refuses commands that touch what others in flight write.
func execute(t *testing.T, c *npu.Core, p *Program, seed uint64, r *npu.Regions, enter int) [][]byte {
	if r[0] == nil {
		r[0] = p.Consts
		for i := 1; i < len(r); i++ {
			r[i] = bytes.Repeat([]byte{0x55}, p.Region(i))
		}
	}
	random := rand.New(rand.NewPCG(seed, 1))
	for _, b := range p.Inputs {
		in := r[b.Region][b.Addr:][:b.Bytes]
		for i := range in {
			in[i] = byte(random.IntN(256))
		}
	}
	require.V(c.Run(&p.Code, r, npu.Options{Functional: true, Enter: enter}))(t)
	var outputs [][]byte
	for _, b := range p.Outputs {
		outputs = append(outputs, bytes.Clone(r[b.Region][b.Addr:][:b.Bytes]))
	}
	return outputs
}

// TestChains: programs of random lists compute the same however much memory is on chip: with buffers of weights, spilled
// maps, cascades, maps in bricks, parameters that stay on chip, and none of these. testdata/chains.txt has what is decided
// for each, and for lists that are planned alone.
func TestChains(t *testing.T) {
	const executed, planned = 5, 14 // lists
	seen := map[string]int{}
	var text strings.Builder
	for _, name := range []string{"pixel4", "ethos-u65-512", "ethos-u55-64"} {
		config := require.V(soc.Load(name))(t)
		s := require.V(npu.FromSoC(config, sim.FastSingleAnswer))(t)
		c := require.V(npu.New(s))(t)
		for seed := range uint64(planned) {
			l := chain(rand.New(rand.NewPCG(seed, 2)), &s, 3+int(seed)%7)
			fmt.Fprintf(&text, "\n%s, seed %d:", name, seed)
			var want [2][][]byte
			for _, target := range []struct {
				onChip int
				keeps  bool
			}{{1 << 24, false}, {1 << 24, true}, {l.Values[0].Bytes * 3, true}, {l.Values[0].Bytes * 2, false}, {l.Values[0].Bytes * 5 / 4, false}, {0, false}} {
				to := Own(&s, target.onChip)
				to.KeepsParameters = target.keeps
				p := require.V(New(to, l))(t)
				fmt.Fprintf(&text, " %.0f %08x", p.Cycles, checksum(p))
				if n := p.Sizes[layout.RegionArena]; n > target.onChip {
					t.Fatalf("%s: %d bytes on chip, there are %d", name, n, target.onChip)
				}
				for i, m := range p.Code.Marks[1:] {
					if before := p.Code.Marks[i]; m.Word < before.Word || m.ID == before.ID && m.Operation == before.Operation {
						t.Fatalf("%s: mark %+v behind %+v", name, m, before)
					}
				}
				regions := &npu.Regions{}
				for run := range want {
					if seed >= executed {
						break
					}
					enter := 0
					if run > 0 {
						enter = p.Enter
					}
					got := execute(t, c, p, seed+uint64(run), regions, enter)
					if want[run] == nil {
						want[run] = got
					}
					for i := range got {
						if !bytes.Equal(got[i], want[run][i]) {
							t.Fatalf("%s, seed %d: output %d of run %d differs with %d bytes on chip, parameters kept: %v", name, seed, i, run, target.onChip, target.keeps)
						}
					}
				}
				if seed < executed && bytes.Equal(want[0][0], want[1][0]) {
					t.Fatalf("%s, seed %d: the output does not depend on the input", name, seed)
				}
				count := func(what string, there bool) {
					if there {
						seen[what]++
					}
				}
				cascades, bricks, buffered := false, false, false
				for i := range p.Steps.Steps {
					x := &p.Steps.Steps[i]
					cascades, bricks = cascades || x.Cascade.ID > 0, bricks || x.Kernel.OFM.StrideC > 0
					buffered = buffered || x.Kernel.Weights != nil && !p.direct[i] && p.Enter == 0
				}
				count("cascades", cascades)
				count("bricks", bricks)
				count("spilled", p.Sizes[layout.RegionSpill] > 0)
				count("parameters kept", p.Enter > 0)
				count("weights buffered", buffered)
			}
		}
	}
	for _, what := range []string{"cascades", "bricks", "spilled", "parameters kept", "weights buffered"} {
		if seen[what] < 2 {
			t.Errorf("no program with %s: %v", what, seen)
		}
	}
	recorded(t, text.String())
}

// recorded holds a text against testdata/chains.txt, or with -update writes it.
func recorded(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join("testdata", "chains.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	had := strings.Split(string(require.File(t, file)), "\n")
	for i, line := range strings.Split(text, "\n") {
		if i >= len(had) || had[i] != line {
			t.Errorf("%s\nhas %s\nnow %s", file, had[min(i, len(had)-1)], line)
		}
	}
}

// checksum returns a checksum of all that is decided in a program.
func checksum(p *Program) uint32 {
	h := crc32.NewIEEE()
	fmt.Fprintln(h, p.Estimates, p.Code.Commands, p.Code.Marks, p.Enter, p.Sizes, p.Inputs, p.Outputs, p.EncodedWeights, p.offChip, p.direct)
	h.Write(p.Consts)
	return h.Sum32()
}
