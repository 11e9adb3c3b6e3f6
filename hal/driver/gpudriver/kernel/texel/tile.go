package texel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Blocks and work-groups are those of TensorFlow Lite's GPU library on Adreno 6xx
// (conv_generic.cc, work_group_picking.cc), which has rules for both: larger blocks where there
// are more outputs, and work-groups of at most 256 lanes with as many units as divide evenly.
// The times of kernels on a Pixel 4 are those of whole rounds of such work-groups.

// blocks are the library's, from the one for the fewest outputs on.
var blocks = [...]struct {
	Block
	waves float64 // of outputs, per cluster, up to which the library uses it; 0: any
}{
	{Block{1, 1, 1}, 6}, {Block{2, 1, 1}, 12}, {Block{2, 1, 2}, 24}, {Block{2, 2, 2}, 0},
}

// block is the library's block, by the waves of quads of outputs of a cluster. It counts lanes of a wave of
// 128 in halves, of 64 in floats of 32 bits.
func (s *Shape) block(m *kernel.Machine) (b Block) {
	lanes := m.WaveLanes
	if s.Elem == layout.F32 {
		lanes /= 2
	}
	n := float64(s.Batches*s.Window.OutW*s.Window.OutH*s.quads()) / float64(m.Clusters*lanes)
	for _, c := range blocks {
		if b = c.Block; n <= c.waves {
			break
		}
	}
	return s.inGroup(b)
}

// inGroup is a block whose units do not cross groups.
func (s *Shape) inGroup(b Block) Block {
	if s.OutC/s.Groups%(4*b.Z) != 0 && s.Groups > 1 {
		b.Z = 1
	}
	return b
}

// Bounds of the library's work-groups: lanes, and blocks of units.
const (
	maxGroup      = 256
	maxGroupUnits = 64
)

// tile is the library's work-group.
func (s *Shape) tile() (g Tile) {
	x, y, z := s.across()
	for g.Z = min(z, maxGroupUnits); z%g.Z != 0; g.Z-- {
	}
	g.X = min(x, maxGroup/g.Z)
	if g.Y = min(maxGroup/g.Z/g.X, y); g.Y == y && y%2 == 0 {
		g.Y = y / 2
	}
	return g
}

// placeTile finds the lane's block: x and y of its image n, and z of the work-group's units.
// Lanes beyond the last block repeat it.
func (g *generator) placeTile() (x, y, n, z codegen.Reg) {
	t := &g.Tile
	nx, ny, _ := g.across()
	tx, ty, _ := g.tiles()
	item, low := g.DivConstV(g.WorkItem(0), t.Across, "lanes of positions")
	high, z := g.DivConstV(item, t.Z, "lanes of units")
	p := g.Least(g.Sum(g.Times(high, t.Across), low), t.X*t.Y-1)
	py, px := g.DivConstV(p, t.X, "line of the tile")
	image, line := g.DivConst(g.Workgroup(1), ty/g.Batches, "image")
	x = g.Sum(g.MulConst(g.Workgroup(0), t.X, "blocks along x"), px)
	if tx*t.X != nx {
		x = g.Least(x, nx-1)
	}
	y = g.Sum(g.MulConst(line, t.Y, "blocks along y"), py)
	if ty/g.Batches*t.Y != ny {
		y = g.Least(y, ny-1)
	}
	g.zWave = g.Workgroup(2)
	g.zBlock = g.Sum(g.MulConst(g.zWave, t.Z, "blocks of units"), z)
	return x, y, g.Constant(image), z
}

// Registers that the compiler of a phone allocates per lane: a cluster of a Pixel 4 holds four
// work-groups of 256 lanes without a window and three with one (D-1490).
const (
	pointRegisters  = 128
	windowRegisters = 192
)

// registers is the number of registers of a lane, fewer where a work-group would not fit a cluster.
func (s *Shape) registers(m *kernel.Machine) int {
	n := windowRegisters
	if s.pointwise() && !s.Quads {
		n = pointRegisters
	}
	return min(n, m.Rows/kernel.Up(s.Tile.lanes()/32, m.CUs/m.Clusters*m.SIMDs))
}
