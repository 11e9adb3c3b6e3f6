package plan

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestCold: a tensor is in L2 from its use until so much has passed that with it three quarters of L2 are full.
func TestCold(t *testing.T) {
	dense := func(n int) *layout.Tensor {
		return &layout.Tensor{Shape: layout.Shape{N: 1, H: 1, W: 1, C: n}, Dense: true}
	}
	a, b, c := dense(100), dense(200), dense(300)
	l2 := cacheState{size: 1000, touched: map[*layout.Tensor]int{}}
	at := func(x *layout.Tensor, passed, touched int) {
		t.Helper()
		if l2.passed != passed || l2.touched[x] != touched {
			t.Errorf("%d bytes have passed, the tensor was used at %d; want %d and %d", l2.passed, l2.touched[x], passed, touched)
		}
	}
	if !l2.cold(a) {
		t.Error("a tensor that nobody has used is in L2")
	}
	l2.pass(&step.Step{Reads: []*layout.Tensor{a}, Writes: []*layout.Tensor{b}}, 2, 50)
	at(a, 350, 175) // read again by the second of two jobs
	at(b, 350, 1)
	l2.pass(&step.Step{Reads: []*layout.Tensor{b}, Writes: []*layout.Tensor{c}}, 0, 0)
	at(b, 650, 350) // which is in L2 already
	at(c, 650, 350)
	for flow, cold := range map[int]bool{0: false, 150: false, 151: true} { // 650 - 350 + 300 and what flows
		if l2.flow = flow; l2.cold(c) != cold {
			t.Errorf("cold %v with %d bytes that flow", !cold, flow)
		}
	}
	l2.hot = map[*layout.Tensor]bool{c: true}
	if l2.cold(c) || !l2.cold(dense(1)) {
		t.Error("what flows is cold, or another tensor is not")
	}
	l2.flow, l2.hot = 0, nil
	l2.passGroup([]*step.Step{{Reads: []*layout.Tensor{a}, Writes: []*layout.Tensor{b}}}, 40, 5)
	at(a, 695, 650)
	at(b, 695, 650)
}

// fetching is a planner of a core, with user DMA or not.
func fetching(t *testing.T, dma bool) *planner {
	c := require.V(soc.Load("pixel4"))(t)
	s := require.V(dsp.FromSoC(c, sim.FastSingleAnswer))(t)
	s.VTCMBytes = 40 << 10
	if s.DMA = nil; dma {
		s.DMA = &dsp.DMASpec{}
	}
	o := NewObject(&s, &hvx.Cache{})
	return &planner{Object: o, vtcm: newVTCM(&s), made: map[*layout.Tensor]int{}, l2: cacheState{size: s.L2.Bytes, touched: map[*layout.Tensor]int{}}}
}

// TestFetches: fetch jobs copy every range to its planned address in VTCM, each byte once; fetched data of a step
// stays until its last job has run, and constants that are requested again keep their address.
func TestFetches(t *testing.T) {
	for _, dma := range []bool{false, true} {
		r := rand.New(rand.NewPCG(15, 16))
		l := fetching(t, dma)
		type want struct {
			fetchRange
			batch int // by its number
		}
		var list []want
		for range 40 {
			s := &step.Step{Name: "x"}
			var own []fetchRange
			for range 1 + r.IntN(2) {
				n := 1 + r.IntN(12<<10)
				src := l.Constant(make([]byte, layout.RoundUp(n, fetchUnit)))
				dst := l.Fetch(s, src, n)
				x := fetchRange{src, dst, uint32(layout.RoundUp(n, fetchUnit))}
				if again := l.Fetch(s, src, n); !dma && again != dst {
					t.Fatalf("fetched to %#x, again to %#x", dst, again)
				} else if dma {
					x.dst = again
				}
				if x.dst < l.vtcm.base || x.dst+x.bytes > l.vtcm.base+l.vtcm.size {
					t.Fatalf("%#x is not in VTCM", x.dst)
				}
				if !dma { // of one step, at least all that one batch after the other keeps
					own = append(own, x)
				}
				list = append(list, want{x, len(l.vtcm.batches) - 1})
			}
			for i := range own {
				for _, y := range own[:i] {
					if overlap(own[i], y) && own[i].src != y.src && list[len(list)-1].batch == list[len(list)-2].batch {
						t.Fatalf("%+v and %+v of a batch share bytes", own[i], y)
					}
				}
			}
			l.AddJob(s, &hvx.Linked{}, [][]uint32{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}).PrefetchArg = r.IntN(2)
			if r.IntN(4) == 0 {
				l.Seal()
			}
		}
		l.finishFetches()
		brought := map[int]map[fetchRange]int{} // units by batch
		note := func(batch int, src, dst, bytes uint32) {
			if brought[batch] == nil {
				brought[batch] = map[fetchRange]int{}
			}
			for at := uint32(0); at < bytes; at += fetchUnit {
				brought[batch][fetchRange{src + at, dst + at, fetchUnit}]++
			}
		}
		chains := 0
		for i, b := range l.vtcm.batches {
			job := l.jobs[b.job]
			if job.Name != "fetch" || len(job.Args) == 0 || len(job.Args) > l.Threads {
				t.Fatalf("job %d, %q, has %d threads", b.job, job.Name, len(job.Args))
			}
			if dma {
				starts := job.Args
				if job.Args[0][0] == 0 { // a job before it starts the chains
					starts = nil
					last := -1 // whose bytes kernels still read until the next job begins
					if i > 0 {
						last = l.vtcm.batches[i-1].job
					}
				search:
					for j := b.job - 1; j > last; j-- {
						for _, a := range l.jobs[j].Args {
							if at := l.jobs[j].PrefetchArg; at > 0 && a[at+1] == hvx.DMAChainBox {
								starts = append(starts, a[at:at+1])
							}
						}
						if starts != nil {
							break search
						}
					}
				}
				for _, a := range starts {
					for at := a[0]; at != 0; {
						d := l.dmaDescriptors[at-dmaChainBase:][:16]
						word := func(k int) uint32 { return binary.LittleEndian.Uint32(d[4*k:]) }
						if word(1)&bypassSource == 0 || word(1)&^bypassSource > maxDescriptorBytes {
							t.Fatalf("a descriptor of %#x", word(1))
						}
						note(i, word(2), word(3), word(1)&^bypassSource)
						at, chains = word(0), chains+1
					}
				}
				continue
			}
			for _, a := range job.Args {
				for k := range a[1] {
					src, _ := l.Word(a[0] + 12*k)
					dst, _ := l.Word(a[0] + 12*k + 4)
					units, _ := l.Word(a[0] + 12*k + 8)
					note(i, src, dst, units*fetchUnit)
				}
			}
		}
		for _, w := range list {
			for at := uint32(0); at < w.bytes; at += fetchUnit {
				if n := brought[w.batch][fetchRange{w.src + at, w.dst + at, fetchUnit}]; n != 1 {
					t.Fatalf("DMA %v: batch %d brings unit %d of %+v %d times", dma, w.batch, at/fetchUnit, w.fetchRange, n)
				}
			}
		}
		if n := len(l.vtcm.batches); n < 10 || dma && (chains < n || len(l.dmaDescriptors) != 16*chains) {
			t.Errorf("DMA %v: %d fetches, %d descriptors of %d bytes", dma, n, chains, len(l.dmaDescriptors))
		}
	}
}

// TestDMAChain: a range longer than a descriptor counts is a chain of them.
func TestDMAChain(t *testing.T) {
	for _, n := range []uint32{fetchUnit, maxDescriptorBytes, maxDescriptorBytes + fetchUnit, 3 * maxDescriptorBytes} {
		l := &planner{dmaDescriptors: make([]byte, 32)}
		at, sum, links := l.dmaChain(fetchRange{0x1000, 0x5000, n}), uint32(0), 0
		for ; at != 0; links++ {
			d := l.dmaDescriptors[at-dmaChainBase:][:16]
			word := func(k int) uint32 { return binary.LittleEndian.Uint32(d[4*k:]) }
			if bytes := word(1) &^ bypassSource; word(2) != 0x1000+sum || word(3) != 0x5000+sum || bytes == 0 || bytes > maxDescriptorBytes || word(1) == bytes {
				t.Fatalf("%d bytes: %x behind %d", n, d, sum)
			} else {
				sum += bytes
			}
			at = word(0)
		}
		if want := layout.CeilDiv(int(n), maxDescriptorBytes); sum != n || links != want || len(l.dmaDescriptors) != 32+16*want {
			t.Errorf("%d bytes: %d in %d descriptors", n, sum, links)
		}
	}
}

// rowsOf is work that notes which rows are launched, but for trials.
type rowsOf struct {
	s    *step.Step
	note func(s *step.Step, r step.Rows)
}

func (w *rowsOf) Launch(l *step.Launcher, r step.Rows) {
	if !l.IsTrial {
		w.note(w.s, r)
	}
	k := &hvx.Linked{Packets: make([]hexagon.Packet, 1), Loops: []hvx.Loop{{Slots: 100}}}
	l.Launch(k, [][]uint32{{0, 0, 0, 0}, {0, 0, 0, 0}}).PrefetchArg = 1
}

// TestBands: rows of steps are launched once each, in order, when the rows that they need have been: of tensors that L2
// holds at once, of others in bands.
func TestBands(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	divided, whole := 0, 0
	for range 60 {
		l := fetching(t, false)
		c := require.V(soc.Load("pixel4"))(t)
		s := require.V(dsp.FromSoC(c, sim.FastSingleAnswer))(t)
		list := &step.List{Object: l.Object}
		side := 32 << r.IntN(3)
		tensor := func(h int) *layout.Tensor {
			x := &layout.Tensor{Name: "x", Shape: layout.Shape{N: 1, H: h, W: side, C: 128}, Pitch: 128}
			list.Tensors = append(list.Tensors, x)
			return x
		}
		h := side
		x := tensor(h)
		x.External = true
		done := map[*layout.Tensor]int{x: h} // rows, in order
		launches := map[*step.Step]int{}
		note := func(s *step.Step, rows step.Rows) {
			launches[s]++
			in, out := s.Reads[0], s.Writes[0]
			if rows.From != done[out] || rows.To <= rows.From {
				t.Fatalf("rows %d to %d of %d behind %d", rows.From, rows.To, out.Shape.H, done[out])
			}
			if need := min(s.Rows.Needs(rows.To), in.Shape.H); done[in] < need {
				t.Fatalf("rows %d to %d need %d, there are %d", rows.From, rows.To, need, done[in])
			}
			done[out] = rows.To
		}
		for i := range 2 + r.IntN(4) {
			d := step.RowDependence{Stride: 1 + r.IntN(2), Above: r.IntN(2), Reach: 1 + r.IntN(3)}
			d.Count = max(1, h/d.Stride)
			y := tensor(d.Count)
			w := &rowsOf{note: note}
			n := step.NewRows(i, "x", []*layout.Tensor{x}, []*layout.Tensor{y}, d, w)
			w.s = n
			list.Steps = append(list.Steps, n)
			x, h = y, d.Count
		}
		p := require.V(newPlanner(list, &s))(t)
		for _, n := range list.Steps {
			if done[n.Writes[0]] != n.Writes[0].Shape.H {
				t.Fatalf("%d of %d rows are launched", done[n.Writes[0]], n.Writes[0].Shape.H)
			}
			if launches[n] > 1 {
				divided++
			} else {
				whole++
			}
		}
		for i, a := range list.Tensors {
			if a.Addr < layout.ArenaBase || a.Addr+uint32(a.Bytes()) > layout.ArenaBase+p.arena {
				t.Fatalf("%d bytes at %#x of %d", a.Bytes(), a.Addr, p.arena)
			}
			if i > 0 { // a step reads one and writes the other
				if b := list.Tensors[i-1]; a.Addr < b.Addr+uint32(b.Bytes()) && b.Addr < a.Addr+uint32(a.Bytes()) {
					t.Fatalf("%#x and %#x share bytes", a.Addr, b.Addr)
				}
			}
		}
	}
	if divided < 20 || whole < 20 {
		t.Errorf("%d steps in bands, %d at once", divided, whole)
	}
}
