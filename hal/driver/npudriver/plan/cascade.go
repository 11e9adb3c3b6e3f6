package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// cascadeShares are the parts of on-chip memory for which cascades are built: what fits is known only after
// placement, so a plan tries each.
var cascadeShares = [...]float64{1, 0.75, 0.5}

// stripeRows are the heights of stripes that are tried.
var stripeRows = [...]int{1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64}

// cascades builds cascades of the kernels of a list: consecutive kernels that alternate, each computing a
// stripe of rows, so that of the maps between them only a few rows are kept, in rolling buffers on chip.
type cascades struct {
	t       Target
	list0   *step.List  // with elementwise kernels in the shape of what they read
	plain   []step.Step // without
	offChip []bool      // values that are off chip without cascades
	lives   []layout.Value
	packer  *packer
	tried   map[[2]int]*trials // of steps from the first to the second one
}

// trials are the stripes that were tried for steps: their costs do not depend on the budget.
type trials struct {
	chain      []*kernel.Kernel
	otherBytes int // bytes on chip beside the maps between the steps
	stripes    [len(stripeRows)]trial
}

// trial is the cost of stripes of some rows: the bytes of the maps between the steps, and, if costed, cycles.
type trial struct {
	laid, costed bool
	bytes        int
	cycles       float64
}

func newCascades(t Target, k *packer, l *step.List, p *Program) *cascades {
	own := k.offChipBlocks(l, p)
	c := &cascades{t, own, slices.Clone(own.Steps), p.offChip, lives(l), k, map[[2]int]*trials{}}
	for i := 1; i < len(own.Steps); i++ {
		out := &own.Steps[i-1].Kernel.OFM
		if k, ok := regrouped(&own.Steps[i].Kernel, out); ok {
			own.Steps[i].Kernel = k
		}
	}
	return c
}

// regrouped is an elementwise kernel in the height, width and depth of one of its inputs as it was written: what
// it computes does not depend on how elements are grouped.
func regrouped(k *kernel.Kernel, as *layout.Ref) (kernel.Kernel, bool) {
	own := *k
	if k.Kind != kernel.Elementwise || k.Broadcast != 0 || as.Value == layout.Placed || reads(k, as.Value).Value != as.Value {
		return own, false
	}
	if k.IFM2 != nil {
		second := *k.IFM2
		own.IFM2 = &second
	}
	for _, r := range own.Maps() {
		if r.H*r.W*r.C != as.H*as.W*as.C || r.StrideC > 0 || r.StrideX != r.C*r.Bytes || r.StrideY != r.W*r.StrideX {
			return own, false
		}
		f := layout.Dense(r.Addr, as.H, as.W, as.C, r.Bytes, r.Signed)
		f.Region, f.OffChip, f.Zero = r.Region, r.OffChip, r.Zero
		r.FeatureMap = f
	}
	return own, true
}

// segment is consecutive steps [first,last]: a cascade with stripes of so many rows, or a step as it is.
type segment struct {
	first, last, rows int
	cycles            float64
}

// list is the steps with the cascades of the fewest estimated cycles that fit in budget bytes on chip: all
// of them, or only those that bring a map on chip; nil where there are none.
func (c *cascades) list(budget int, all bool) *step.List {
	l := *c.list0
	l.Steps, l.Values = nil, slices.Clone(c.list0.Values)
	id := 0
	for at := 0; at < len(c.list0.Steps); {
		end := c.chainEnd(at)
		for _, s := range c.divide(at, end, budget, all) {
			if s.rows == 0 {
				l.Steps = append(l.Steps, c.plain[s.first])
				continue
			}
			id++
			c.append(&l, s, id)
		}
		at = end + 1
	}
	if id == 0 {
		return nil
	}
	return &l
}

// chainEnd is the last of the steps from at on each of which alone reads what the one before writes.
func (c *cascades) chainEnd(at int) int {
	for at+1 < len(c.list0.Steps) && c.linked(at) {
		at++
	}
	return at
}

// linked reports whether a step and the next one may be in one cascade.
func (c *cascades) linked(i int) bool {
	a, b := &c.list0.Steps[i].Kernel, &c.list0.Steps[i+1].Kernel
	if !striped(a) || !striped(b) || a.OFM.Value == layout.Placed || b.IFM2 != nil && b.IFM.Value == b.IFM2.Value {
		return false
	}
	in := reads(b, a.OFM.Value)
	if in.Value != a.OFM.Value {
		return false
	}
	v := &c.lives[a.OFM.Value]
	from, to := a.OFM.FeatureMap, in.FeatureMap
	from.Zero, to.Zero, from.Signed, to.Signed = 0, 0, false, false
	return v.First == i && v.Last == i+1 && !v.Client && !v.Fixed && from == to && from.Addr == 0 && from.H > 1
}

// striped reports whether a kernel can be computed by rows.
func striped(k *kernel.Kernel) bool {
	switch k.Kind {
	case kernel.Conv, kernel.Depthwise:
		return true
	case kernel.Pool:
		return k.Mode == ethosu.PoolMax || k.Mode == ethosu.PoolAverage
	case kernel.Elementwise:
		m := k.IFM2
		return k.IFM.H == k.OFM.H && (m == nil || m.H == 1 || m.H == k.OFM.H)
	}
	return false
}

// divide cuts the steps [first,last] into segments of the fewest cycles, by dynamic programming over their
// ends.
func (c *cascades) divide(first, last, budget int, all bool) []segment {
	best := make([]float64, last-first+2) // of the steps in front of each
	by := make([]segment, last-first+2)
	for end := first; end <= last; end++ {
		n := end - first + 1
		best[n] = math.Inf(1)
		saves := all // a map between the steps would lie off chip
		for begin := end; begin >= first; begin-- {
			if begin < end {
				saves = saves || c.offChip[c.list0.Steps[begin].Kernel.OFM.Value]
				if !saves {
					continue
				}
			}
			s := segment{begin, end, 0, 0}
			if begin == end {
				if k := c.plain[end].Kernel; k.Kind != kernel.Copy {
					e := cost.Estimate(c.t.Spec, &k)
					if s.cycles = e.Working(); k.Direct {
						s.cycles = float64(e.Cycles())
					}
				}
			} else {
				s = c.cascade(begin, end, budget)
			}
			if total := best[begin-first] + s.cycles; total < best[n] {
				best[n], by[n] = total, s
			}
		}
	}
	var list []segment
	for n := len(by) - 1; n > 0; n = by[n].first - first {
		list = append(list, by[n])
	}
	slices.Reverse(list)
	return list
}

// cascade is the best height of stripes for steps [first,last].
func (c *cascades) cascade(first, last, budget int) segment {
	best := segment{first, last, 0, math.Inf(1)}
	t := c.trials(first, last)
	for i, rows := range stripeRows {
		if rows >= t.chain[len(t.chain)-1].OFM.H {
			break
		}
		x := &t.stripes[i]
		if !x.laid || x.bytes <= budget-t.otherBytes && !x.costed {
			c.evaluate(t.chain, rows, budget-t.otherBytes, x)
		}
		if x.bytes <= budget-t.otherBytes && x.cycles < best.cycles {
			best.rows, best.cycles = rows, x.cycles
		}
	}
	return best
}

// trials returns the trials of steps [first,last].
func (c *cascades) trials(first, last int) *trials {
	key := [2]int{first, last}
	t := c.tried[key]
	if t == nil {
		t = &trials{chain: c.chain(first, last), otherBytes: c.passing(first, last)}
		for _, k := range t.chain {
			if w := k.Weights; w != nil {
				t.otherBytes += int(float64(w.Outputs*w.Taps*w.PerInput())*w.Bits/8) + w.Outputs*ethosu.ScaleRecordSize
			}
		}
		c.tried[key] = t
	}
	return t
}

// evaluate finds the bytes of stripes of so many rows, and their cycles if the bytes fit.
func (c *cascades) evaluate(chain []*kernel.Kernel, rows, budget int, x *trial) {
	parts, rings := interleave(chain, rows)
	x.laid, x.bytes = true, 0
	for i, ring := range rings {
		x.bytes += ringBytes(chain[i], ring)
	}
	if x.bytes > budget {
		return
	}
	x.costed = true
	known := map[part]float64{} // by stage and heights
	for _, p := range parts {
		k := c.part(chain, rings, p)
		shape := part{p.stage, k.OFM.H, k.IFM.H}
		if _, ok := known[shape]; !ok {
			k.Block = c.block(chain, rings, parts, p.stage)
			known[shape] = math.Inf(1)
			if k.Block.D > 0 {
				known[shape] = cost.Estimate(c.t.Spec, &k).Working()
			}
		}
		x.cycles += known[shape]
	}
}

// chain is the kernels of steps, with the maps between them on chip.
func (c *cascades) chain(first, last int) (list []*kernel.Kernel) {
	for i := first; i <= last; i++ {
		k := c.list0.Steps[i].Kernel
		k.Direct = false // a cascade keeps its weights
		if i > first {
			if k.IFM2 != nil {
				own := *k.IFM2
				k.IFM2 = &own
			}
			reads(&k, list[len(list)-1].OFM.Value).OffChip = false
		}
		k.OFM.OffChip = k.OFM.OffChip && i == last
		list = append(list, &k)
	}
	return list
}

// passing is the bytes on chip of values that steps [first,last] read or write or that pass them by, but
// for those between the steps.
func (c *cascades) passing(first, last int) (n int) {
	for v := range c.lives {
		x := &c.lives[v]
		if x.First < 0 || x.First > last || x.Last < first || x.First >= first && x.Last <= last || c.offChip[v] || x.Fixed {
			continue
		}
		n += layout.Align(x.Bytes)
	}
	return n
}

// ringBytes is the bytes of the rows that are kept of a kernel's output.
func ringBytes(k *kernel.Kernel, ring int) int {
	ring = cmp.Or(ring, k.OFM.H)
	return layout.Align(ring * k.OFM.StrideY)
}

// part is the kernel of a part of a cascade whose first step is given.
func (c *cascades) part(chain []*kernel.Kernel, rings []int, p part) kernel.Kernel {
	in, out, value := 0, 0, layout.Placed
	if p.stage > 0 {
		in, value = rings[p.stage-1], chain[p.stage-1].OFM.Value
	}
	if p.stage < len(rings) {
		out = rings[p.stage]
	}
	return stripe(chain[p.stage], p.lo, p.hi, value, in, out)
}

// block is the block of all parts of a stage, chosen for the typical one.
func (c *cascades) block(chain []*kernel.Kernel, rings []int, parts []part, stage int) kernel.Block {
	k := c.part(chain, rings, typical(parts, stage))
	return c.packer.block(&k)
}

// typical is a part of a stage with the height in which most rows are computed.
func typical(parts []part, stage int) (most part) {
	rows := map[int]int{} // by height
	for _, p := range parts {
		if p.stage == stage {
			h := p.hi - p.lo
			if rows[h] += h; rows[h] > rows[most.hi-most.lo] {
				most = p
			}
		}
	}
	return most
}

// append appends the steps of a cascade to a list.
func (c *cascades) append(l *step.List, s segment, id int) {
	chain := c.chain(s.first, s.last)
	parts, rings := interleave(chain, s.rows)
	for i, ring := range rings {
		l.Values[chain[i].OFM.Value].Bytes = ringBytes(chain[i], ring)
	}
	for _, p := range parts {
		k := c.part(chain, rings, p)
		k.Block = c.block(chain, rings, parts, p.stage)
		l.Steps = append(l.Steps, step.Step{Op: c.list0.Steps[s.first+p.stage].Op, Kernel: k, Cascade: step.Cascade{ID: id, Stage: p.stage, Row: p.lo}})
	}
}
