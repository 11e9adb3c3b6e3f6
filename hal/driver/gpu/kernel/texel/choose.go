package texel

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
)

// Machine is what the choice among blocks depends on.
type Machine struct {
	CUs, SIMDs     int // compute units of all clusters, SIMDs of one
	AddressLanes   int // lanes of a load that a compute unit takes per cycle
	BroadcastLanes int // the same of quads of lanes with one address
	Line           int // bytes of a cache line
	L2Rate         int // bytes per cycle that L2 gives all compute units
	Near, Scalar   int // cycles of a load that L2 serves, and of one of the scalar cache
	Local          int // cycles of local memory
	LocalBytes     int // of local memory, per compute unit
	DotCycles      int // that a dot product of halves takes a SIMD
}

// blocks are the blocks of the library, TensorFlow Lite for Adreno 6xx: a larger one loads less
// per product, and leaves fewer waves that hide each other's loads.
var blocks = [...]Block{{2, 2, 2}, {2, 1, 2}, {2, 1, 1}, {1, 1, 1}}

// manyLines are the positions of a wave whose lines of memory, one per load, L2 gives more slowly
// than a compute unit takes the loads.
const manyLines = 8

// pairs reports whether a load of input brings two texels of halves, which are neighbours in a
// dense tensor: each line is read half as often then. Textures have neighbouring positions in a
// line instead. Blocks of four positions do so where a wave has many lines, and without a window,
// where the library's steps take a fifth less time than with one (D-1406).
func (s *Shape) pairs(b Block, positions int) bool {
	return b.X*b.Y == 4 && s.Elem == layout.F16 && s.channels()%8 == 0 && (s.taps() == 1 || positions >= manyLines)
}

// candidates are the ways to divide the work among lanes.
func (s *Shape) candidates() (list []Shape) {
	if s.fitsConstants() {
		own := *s
		own.Constants, own.Flat, own.Pairs, own.Block, own.ZLanes, own.ZWaves = true, false, false, Block{1, 1, s.quads()}, 1, 1
		list = append(list, own)
	}
	for _, b := range blocks {
		own := *s
		own.Constants, own.Flat, own.Block = false, false, b
		if s.Depthwise && b != (Block{1, 1, 1}) || !s.Depthwise && s.Groups > 1 && s.OutC/s.Groups%(4*b.Z) != 0 {
			continue
		}
		_, _, z := own.across()
		for own.ZLanes = 1; own.ZLanes <= 32; own.ZLanes *= 2 {
			own.Pairs = s.pairs(b, 32/own.ZLanes)
			for own.ZWaves = 1; own.ZWaves <= groupWaves; own.ZWaves *= 2 {
				list = append(list, own)
			}
			if own.ZLanes >= z {
				break
			}
		}
		if own.Flat = z&(z-1) != 0; own.Flat {
			own.ZLanes, own.ZWaves, own.Pairs = z, 1, s.pairs(b, 32/z)
			list = append(list, own)
		}
	}
	return list
}

// Cut chooses the way that takes the fewest cycles.
func (k *Kernel) Cut(m *Machine) {
	k.machine = *m
	best := 0.0
	for _, c := range k.candidates() {
		if t := c.cycles(m); best == 0 || t < best {
			best, k.Shape = t, c
		}
	}
}

// cycles estimates a launch, without what all candidates have alike: the steps of a wave, one per
// tap and texel of input channels, each as long as the unit that the waves of a compute unit wait
// for, or as a work-group alone takes to load and to multiply.
func (s *Shape) cycles(m *Machine) float64 {
	positions, units := s.groups()
	waves := float64(groupWaves * ((positions*units + m.CUs - 1) / m.CUs)) // of the busiest compute unit
	x, w := s.Block.X*s.Block.Y, s.perTexel()
	loads := x // of input
	if s.Pairs {
		loads /= 2
	}
	products := float64(x * s.Block.Z * 16)
	switch {
	case s.Depthwise:
		products = 4
	case s.Elem == layout.F16:
		products = products / 2 * float64(m.DotCycles)
	}
	steps := float64(s.taps() * s.texels())
	up := func(n, by int) int { return (n + by - 1) / by }
	each, shared := up(32, m.AddressLanes), up(32, m.BroadcastLanes)
	if s.Constants {
		pieces := up(w, maxScalars/s.Elem.Bytes())
		texels := 1.0
		if s.staged() {
			texels = float64(s.line() / s.quadBytes())
		}
		resident := float64(min(32, max(m.LocalBytes/s.stageBytes(), 1)))
		alone := products + float64(pieces*m.Scalar) + float64(m.Near+2*m.Local)/texels
		return steps * max(waves*products/float64(m.SIMDs), max(waves/resident, 1)*alone)
	}
	load, weights := each, each
	across, lanes := up(32, s.ZLanes), min(32, s.ZLanes)
	if !s.Flat && across >= 4 {
		weights = shared
	}
	if !s.Flat && across == 1 {
		load = shared
	}
	port := float64(loads*load + w*weights)
	lines := loads*across + w*up(lanes*s.quadBytes(), m.Line)
	fill := float64(lines*m.Line*m.CUs) / float64(m.L2Rate)
	alone := groupWaves*port + float64(m.Near) + 2*products
	return steps * max(alone, waves*max(port, fill, products/float64(m.SIMDs)))
}

// label names the way.
func (s *Shape) label() string {
	lanes := fmt.Sprintf("%d lanes of units", s.ZLanes)
	switch {
	case s.Constants:
		return fmt.Sprintf("constants, %d quads of units", s.quads())
	case s.Flat:
		lanes = "lanes in a row"
	case s.ZWaves > 1:
		lanes += fmt.Sprintf(" by %d waves", s.ZWaves)
	}
	return fmt.Sprintf("block %dx%dx%d, %s", s.Block.X, s.Block.Y, 4*s.Block.Z, lanes)
}

// Cuts implements kernel.Chooser: the best way of each block, by cycles.
func (k *Kernel) Cuts() (list []kernel.Cut) {
	type form struct {
		block     Block
		constants bool
	}
	at := map[form]int{}
	for _, c := range k.candidates() {
		own := *k
		own.Shape = c
		x := kernel.Cut{Name: c.label(), Weight: c.cycles(&k.machine), Work: own.Work(), Chosen: c == k.Shape}
		f := form{c.Block, c.Constants}
		if i, ok := at[f]; !ok {
			at[f] = len(list)
			list = append(list, x)
		} else if x.Chosen || x.Weight < list[i].Weight && !list[i].Chosen {
			list[i] = x
		}
	}
	return list
}

// Take implements kernel.Chooser.
func (k *Kernel) Take(name string) bool {
	for _, c := range k.candidates() {
		if c.label() == name {
			k.Shape = c
			return true
		}
	}
	return false
}
