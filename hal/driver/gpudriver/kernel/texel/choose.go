package texel

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// manyLines are the positions of a wave whose lines of memory, one per load, L2 supplies more slowly
// than a compute unit issues the loads.
const manyLines = 8

// pairs reports whether a load of input brings two texels of halves, which are neighbours in a
// dense tensor: each line is read half as often then. Textures have neighbouring positions in a
// line instead. Blocks of four positions do so where a wave has many lines, and without a window,
// where the library's steps are a fifth faster than with one (D-1406).
func (s *Shape) pairs(b Block, positions int) bool {
	return b.X*b.Y == 4 && s.Elem == layout.F16 && s.channels()%8 == 0 && (s.taps() == 1 || positions >= manyLines)
}

// rows are the cuts of a depthwise convolution, whose lanes are blocks of positions in a row. Of equal ones the first has
// the most waves of units in a work-group, which read neighbouring lines at a time.
func (s *Shape) rows() (list []Shape) {
	own := *s
	own.Constants = false
	blocks := []Block{{1, 1, 1}}
	if s.patches() {
		blocks = append(blocks, patch)
	}
	for _, own.Block = range blocks {
		for own.ZLanes = 1; own.ZLanes <= 32; own.ZLanes *= 2 {
			for own.ZWaves = own.groupWaves(); own.ZWaves >= 1; own.ZWaves /= 2 {
				list = append(list, own)
			}
			if own.ZLanes >= own.quads() {
				break
			}
		}
	}
	return list
}

// positionsOfWave are the blocks of positions of a wave of a tile.
func (s *Shape) positionsOfWave() int {
	return max(s.Tile.Across, 32/s.ZLanes)
}

// candidates are the divisions of the work among lanes.
func (s *Shape) candidates(m *kernel.Machine) (list []Shape) {
	if s.fitsConstants() {
		own := *s
		own.Constants, own.Pairs, own.Block, own.ZLanes, own.ZWaves = true, false, Block{1, 1, s.quads()}, 1, 1
		list = append(list, own)
	}
	if s.Depthwise {
		return append(list, s.rows()...)
	}
	for i := range blocks {
		own := *s
		own.Constants, own.Block = false, s.inGroup(blocks[i].Block)
		t := own.tile()
		own.ZLanes, own.ZWaves = t.Z, 1
		for t.Across = 1; t.Across <= 32; t.Across *= 2 {
			own.Tile = t
			own.Pairs = s.pairs(own.Block, own.positionsOfWave())
			for _, own.Quads = range own.quadChoices(m) {
				own.Registers = own.registers(m)
				list = append(list, own)
			}
			if t.Across >= t.X*t.Y {
				break
			}
		}
	}
	return list
}

// Cut chooses the library's form, scalars where weights fit the constants and else its block for so many outputs, and
// the lanes of the fewest estimated cycles for it.
func (k *Kernel) Cut(m *kernel.Machine) {
	k.machine = *m
	best := 0.0
	for _, c := range k.candidates(m) {
		allowed := c.Constants || !c.fitsConstants() && (c.Depthwise && (c.Block == patch) == c.patched(m) || c.Block == c.block(m))
		if t := c.cycles(m); allowed && (best == 0 || t < best) {
			best, k.Shape = t, c
		}
	}
}

// work is the work of a cut: the steps of a wave, one per tap and texel of input channels.
func (s *Shape) work(m *kernel.Machine) kernel.Tile {
	positions, units := s.groups()
	t := kernel.Tile{Waves: s.groupWaves(), Groups: positions * units, Steps: float64(s.taps() * s.texels()), Wait: float64(m.L2Latency)}
	if s.tiled() {
		t.Waves = s.Tile.lanes() / 32
	}
	x, w := s.Block.X*s.Block.Y, s.perTexel()
	loads, bytes := x, s.quadBytes() // of input
	switch {
	case s.Quads:
		loads, bytes = x*s.quadBytes()/pieceBytes, pieceBytes
	case s.Pairs:
		loads, bytes = x/2, 2*bytes
	}
	t.Products = float64(x * s.Block.Z * 16)
	switch {
	case s.Depthwise && s.Block == patch: // whose steps are lines
		t.Steps, t.Products = float64(patchSide), float64(4*s.taps()*x)/patchSide
	case s.Depthwise:
		t.Products = 4
	case s.Elem == layout.F16:
		t.Products = t.Products / 2 * float64(m.DotCycles)
	}
	if s.Quads {
		t.Products += float64(x * exchanges * s.quadBytes() / (pieces * pieceBytes))
	}
	if s.Constants {
		texels := 1.0
		if s.wholeLoads() {
			n, _ := s.linePieces()
			texels = float64(n * pieceBytes / s.quadBytes())
		}
		t.Wait = float64(kernel.Up(w, maxScalars/s.Elem.Bytes())*m.ScalarLatency) + float64(m.L2Latency)/texels
		return t
	}
	load, weights, shared := m.Load(bytes), m.Load(s.quadBytes()), float64(kernel.Up(32, m.BroadcastLanes))
	across, lanes := kernel.Up(32, s.ZLanes), min(32, s.ZLanes)
	if s.tiled() {
		across = s.positionsOfWave()
		lanes = kernel.Up(32, across)
	}
	if across >= 4 && !s.tiled() || s.Tile.Across >= 4 {
		weights = shared
	}
	if across == 1 {
		load = shared
	}
	t.Loads = float64(loads)*load + float64(w)*weights
	if s.Depthwise && s.Block == patch {
		t.Loads = patchSide*load + float64(s.taps())/patchSide*weights
		t.Lines = float64(patchSide * across * kernel.Up(lanes*s.quadBytes(), m.Line)) // weights stay
		return t
	}
	if s.Quads { // all texels of a line at once
		loads, across = 1, x*across*s.quadBytes()/(pieces*pieceBytes)
	}
	t.Lines = float64(loads*across + w*kernel.Up(lanes*s.quadBytes(), m.Line))
	return t
}

// cycles estimates a launch.
func (s *Shape) cycles(m *kernel.Machine) float64 {
	t := s.work(m)
	return m.Cycles(&t)
}

// label names the way.
func (s *Shape) label() string {
	lanes := fmt.Sprintf("%d lanes of units", s.ZLanes)
	switch {
	case s.Constants:
		return fmt.Sprintf("constants, %d quads of units", s.quads())
	case s.tiled():
		g := &s.Tile
		lanes = fmt.Sprintf("work-groups of %dx%dx%d, %d lanes of positions", g.X, g.Y, g.Z, g.Across)
		if s.Quads {
			lanes += ", lines by four of them"
		}
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
	for _, c := range k.candidates(&k.machine) {
		x := kernel.Cut{Name: c.label(), Weight: c.cycles(&k.machine), Chosen: c == k.Shape}
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

// Select implements kernel.Chooser.
func (k *Kernel) Select(name string) bool {
	for _, c := range k.candidates(&k.machine) {
		if c.label() == name {
			k.Shape = c
			return true
		}
	}
	return false
}
