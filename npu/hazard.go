package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// flight is a copy or a kernel that may still be running.
type flight struct {
	index   int            // of the command
	reads   [13]state.Span // tiles of two maps, weights and scales of two cores, a table
	writes  [4]state.Span  // tiles of a map
	nreads  int
	nwrites int
}

func (f *flight) read(s state.Span) {
	if s.Hi > s.Lo {
		f.reads[f.nreads] = s
		f.nreads++
	}
}

func (f *flight) write(s state.Span) {
	if s.Hi > s.Lo {
		f.writes[f.nwrites] = s
		f.nwrites++
	}
}

// conflict finds bytes for which f may not run beside a later g: one of them
// writes bytes that the other reads or writes.
func (f *flight) conflict(g *flight) (state.Span, bool) {
	for _, w := range g.writes[:g.nwrites] {
		if overlapsAny(w, f.writes[:f.nwrites]) || overlapsAny(w, f.reads[:f.nreads]) {
			return w, true
		}
	}
	for _, r := range g.reads[:g.nreads] {
		if overlapsAny(r, f.writes[:f.nwrites]) {
			return r, true
		}
	}
	return state.Span{}, false
}

func overlapsAny(s state.Span, list []state.Span) bool {
	for _, l := range list {
		if s.Overlaps(l) {
			return true
		}
	}
	return false
}

// flights are the newest copies or kernels, newest first. What does not fit
// has finished: the machine's queues hold no more.
type flights struct {
	list [3]flight
	n    int
}

func (q *flights) push(f *flight, limit int) {
	copy(q.list[1:], q.list[:])
	q.list[0] = *f
	q.n = min(q.n+1, limit, len(q.list))
}

// hazards finds copies and kernels that the stream lets run at the same time
// although one needs the other's bytes: a missing DMA_WAIT or KERNEL_WAIT. Real
// hardware would compute from bytes that may not be there. Kernels among each
// other are kept apart by BLOCKDEP and not checked.
type hazards struct {
	copies, kernels flights
	alias           [NumRegions]int // first region with the same bytes
	copyLimit       int
	kernelLimit     int
}

func newHazards(s *Spec, r *Regions) hazards {
	h := hazards{copyLimit: s.DMAChannels, kernelLimit: s.Kernels}
	for i := range r {
		h.alias[i] = i
		for j := range i {
			if len(r[i]) > 0 && len(r[j]) > 0 && &r[i][0] == &r[j][0] {
				h.alias[i] = j
				break
			}
		}
	}
	return h
}

func (h *hazards) at(region, lo, hi int) state.Span {
	return state.Span{Region: h.alias[region], Lo: lo, Hi: hi}
}

// tiles calls add with the byte ranges of a map.
func (h *hazards) tiles(m *state.FeatureMap, add func(state.Span)) {
	spans, n := m.TileSpans()
	for _, s := range spans[:n] {
		add(h.at(s.Region, s.Lo, s.Hi))
	}
}

// dma checks and records a copy.
func (h *hazards) dma(r *state.Registers, index, copied int) error {
	f := flight{index: index}
	side := func(region, addr int) state.Span {
		if region&ethosu.DMAInternal != 0 {
			return state.Span{Region: NumRegions, Lo: addr, Hi: addr + copied}
		}
		return h.at(region&7, addr, addr+copied)
	}
	f.read(side(r.U(ethosu.SetDMA0SrcRegion), r.Addr(ethosu.SetDMA0Src)))
	f.write(side(r.U(ethosu.SetDMA0DstRegion), r.Addr(ethosu.SetDMA0Dst)))
	for i := range h.kernels.n {
		k := &h.kernels.list[i]
		if s, bad := k.conflict(&f); bad {
			return fmt.Errorf("copy touches region %d [%#x,%#x) while command %d may still use it: NPU_OP_KERNEL_WAIT is missing",
				s.Region, s.Lo, s.Hi, k.index)
		}
	}
	h.copies.push(&f, h.copyLimit)
	return nil
}

// kernel checks and records an operation.
func (h *hazards) kernel(o *state.Op, s *Spec, index int) error {
	f := flight{index: index}
	h.tiles(&o.OFM, f.write)
	h.tiles(&o.IFM, f.read)
	if o.HasIFM2 {
		h.tiles(&o.IFM2, f.read)
	}
	if o.Kind <= state.Depthwise {
		for i := range o.Cores {
			w, c := o.Weights[i], o.Scales[i]
			f.read(h.at(o.WeightRegion, w.Base, w.Base+w.Length))
			if i == 0 || c.Length > 0 {
				f.read(h.at(o.ScaleRegion, c.Base, c.Base+c.Length))
			}
		}
	}
	if o.Output.Table != nil {
		at := s.LUTBase() + (o.Output.Activation-ethosu.ActTable)*256
		f.read(state.Span{Region: NumRegions, Lo: at, Hi: at + len(o.Output.Table)})
	}
	for i := range h.copies.n {
		c := &h.copies.list[i]
		if sp, bad := c.conflict(&f); bad {
			return fmt.Errorf("uses region %d [%#x,%#x) while the copy of command %d may still run: NPU_OP_DMA_WAIT is missing",
				sp.Region, sp.Lo, sp.Hi, c.index)
		}
	}
	h.kernels.push(&f, h.kernelLimit)
	return nil
}

// wait keeps at most n.
func (q *flights) wait(n int) { q.n = min(q.n, n) }
