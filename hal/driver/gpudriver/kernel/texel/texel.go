// Package texel convolves floats in texels, four channels of one position: the form of CONV_2D,
// GROUPED_CONV_2D and DEPTHWISE_CONV_2D in the libraries of phones, where activations and
// weights are textures.
//
//	out[y][x][unit] = act(bias[unit] + sum over ky, kx, c of in[y*s-top+ky][x*s-left+kx][c] * weights[unit][ky][kx][c])
//
// A lane computes a block of BX x BY positions by BZ quads of units. Per tap and texel of
// input channels it loads BX*BY texels of input and 4*BZ of weights, each a load of its own,
// and adds BX*BY*BZ*16 products. Nothing is fetched ahead: a wave waits for its texels, and
// other waves compute meanwhile. A work-group is a tile of such blocks. Of a depthwise convolution a lane computes a quad of channels
// of one position, with a load of input and one of weights per tap. Where the weights fit the constant memory of phones, lanes
// are positions, compute all units, and read weights as scalars.
package texel

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Shape is the size of a convolution and how it is cut.
type Shape struct {
	Elem      layout.Element // of input, weights and output
	Window    opspec.Window
	Batches   int
	InC, OutC int
	Groups    int
	Depthwise bool    // a group per channel, OutC is InC
	Lo, Hi    float32 // fused activation

	Block     Block
	Tile      Tile
	ZLanes    int  // lanes of a wave that are blocks of units; the others are blocks of positions. Tiled: of a work-group
	ZWaves    int  // the same of the waves of a work-group
	Pairs     bool // a load of input brings two texels of a position
	Quads     bool // four lanes load lines of input together (D-1950)
	Constants bool // weights are scalars
	Registers int  // vector registers that a lane occupies; 0: those that the code uses
}

// Block is what a lane computes: positions along x and y, quads of units.
type Block struct{ X, Y, Z int }

// Tile is the blocks of a work-group along x, along y and of units, none where its lanes are blocks of positions
// in a row, and how many of its lanes in a row are blocks of positions.
type Tile struct{ X, Y, Z, Across int }

// Kernel is one convolution.
type Kernel struct {
	Shape
	Weights []float32 // [units][taps][channels of a group]; Depthwise: [taps][channels]
	Bias    []float32
	In, Out *layout.Tensor
	Tail    elementwise.Tail

	machine             kernel.Machine // that the choice was made for
	weights, bias, page uint32         // offsets: of constants, and of a page of zeros
}

// name is the kernel's name in listings.
func (k *Shape) name() string {
	name := fmt.Sprintf("texel_%dx%dx%d", k.Block.X, k.Block.Y, k.Block.Z)
	switch {
	case k.Depthwise && k.Block == patch:
		name = "texel_depthwise_2x2"
	case k.Depthwise:
		name = "texel_depthwise"
	case k.Constants:
		name = "texel_constants"
	}
	return name + "_" + k.Elem.String()
}

// What a phone's library keeps in constant memory: bytes of weights that a driver loads into
// the constant file with a kernel, and quads of units that one lane sums up. TensorFlow Lite
// for Adreno 6xx.
const (
	maxConstants     = 3584
	maxConstantQuads = 8
)

// Fits reports whether a convolution has this form: quads of units do not cross groups.
func (s *Shape) Fits() bool { return s.Groups == 1 || s.OutC/s.Groups%4 == 0 }

// perTexel are the quads of weights that go with a texel of input.
func (s *Shape) perTexel() int {
	if s.Depthwise {
		return 1
	}
	return 4 * s.Block.Z
}

// quads are the quads of units; channels the input channels of a group; taps and texels what
// a block walks over.
func (s *Shape) quads() int    { return (s.OutC + 3) / 4 }
func (s *Shape) channels() int { return s.InC / s.Groups }
func (s *Shape) taps() int     { return s.Window.KH * s.Window.KW }
func (s *Shape) texels() int {
	if s.Depthwise {
		return 1
	}
	return (s.channels() + 3) / 4
}

// across are the blocks along x, along y and of units.
func (s *Shape) across() (x, y, z int) {
	return kernel.Up(s.Window.OutW, s.Block.X), kernel.Up(s.Window.OutH, s.Block.Y), kernel.Up(s.quads(), s.Block.Z)
}

// positionBlocks are the blocks of positions of all images.
func (s *Shape) positionBlocks() int {
	x, y, _ := s.across()
	return s.Batches * x * y
}

// fitsConstants reports whether weights are scalars: the library keeps them by units where that
// needs fewer numbers, and units are not whole quads.
func (s *Shape) fitsConstants() bool {
	n := s.InC * 4 * s.quads()
	if byUnit := s.OutC * 4 * s.texels(); s.OutC%4 != 0 && (s.InC%4 == 0 || byUnit < n) {
		n = byUnit
	}
	return s.Groups == 1 && !s.Depthwise && s.quads() <= maxConstantQuads && s.taps()*n*s.Elem.Bytes() <= maxConstants
}

// groupWaves are the waves of a work-group of rows: 128 lanes, a wave of the phones whose library this
// is; one where waves share nothing but local memory, of which fewer would leave a part.
func (s *Shape) groupWaves() int {
	if s.Constants {
		return 1
	}
	return 4
}

// perWave are the blocks of positions of a wave.
func (s *Shape) perWave() int { return 32 / s.ZLanes }

// waves are the waves of positions that have work.
func (s *Shape) waves() int {
	if s.tiled() {
		x, y, _ := s.tiles()
		return x * y * s.Tile.lanes() / 32
	}
	return kernel.Up(s.positionBlocks(), s.perWave())
}

// tiled reports whether a work-group is a tile of blocks.
func (s *Shape) tiled() bool { return s.Tile.X > 0 }

// tiles are the work-groups along x, along y of all images and of units.
func (s *Shape) tiles() (x, y, z int) {
	nx, ny, nz := s.across()
	g := &s.Tile
	return kernel.Up(nx, g.X), s.Batches * kernel.Up(ny, g.Y), kernel.Up(nz, g.Z)
}

// lanes is the number of lanes of a work-group, in whole waves.
func (g *Tile) lanes() int { return kernel.Up(g.Across*g.Z*kernel.Up(g.X*g.Y, g.Across), 32) * 32 }

// groups are the work-groups along positions and units.
func (s *Shape) groups() (positions, units int) {
	if s.tiled() {
		x, y, z := s.tiles()
		return x * y, z
	}
	return kernel.Up(s.waves(), s.groupWaves()/s.ZWaves), kernel.Up(s.zGroups(), s.ZWaves)
}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	return &Kernel{Shape: k.Shape, In: k.In, Out: k.Out, Tail: k.Tail, page: m.Pages.At(0), weights: k.packWeights(&m.Consts),
		bias: m.Consts.Floats(k.Bias, k.zGroups()*k.ZLanes*k.Block.Z*4, layout.Guard)}
}

// Result implements elementwise.Host.
func (k *Kernel) Result() (t *layout.Tensor, channels int) { return k.Out, k.OutC }

// Following implements elementwise.Host.
func (k *Kernel) Following() elementwise.Tail { return k.Tail }

// Follow implements elementwise.Host.
func (k *Kernel) Follow(more elementwise.Tail, out *layout.Tensor) elementwise.Host {
	own := *k
	own.Tail, own.Out = append(slices.Clone(k.Tail), more...), out
	return &own
}

// pointwise reports whether each output position reads one input position that is there.
func (s *Shape) pointwise() bool { return s.taps() == 1 && !s.Window.Padded() }

// quadBytes are the bytes of four elements.
func (s *Shape) quadBytes() int { return 4 * s.Elem.Bytes() }

// zGroups are the waves along units.
func (s *Shape) zGroups() int {
	_, _, z := s.across()
	return kernel.Up(z, s.ZLanes)
}

// packWeights lays the weights out as [wave][tap][texel][unit of the block][lane][channel],
// zeros where there is no unit or channel; of a depthwise convolution [wave][tap][channel].
func (k *Kernel) packWeights(c *layout.Constants) uint32 {
	es := k.Elem.Bytes()
	off := c.Reserve(k.zGroups()*k.taps()*k.texels()*k.perTexel()*k.ZLanes*4*es + layout.Guard)
	at := int(off)
	for g := range k.zGroups() {
		for tap := range k.taps() {
			for t := range k.texels() {
				for u := range k.perTexel() {
					for z := range k.ZLanes {
						unit := (g*k.ZLanes+z)*k.perTexel() + u
						for ch := 4 * t; ch < 4*t+4; ch++ {
							switch own := 4*unit + ch; { // of a depthwise convolution
							case k.Depthwise && own < k.OutC:
								k.Elem.PutFloat(c.Data[at:], k.Weights[tap*k.OutC+own])
							case !k.Depthwise && unit < k.OutC && ch < k.channels():
								k.Elem.PutFloat(c.Data[at:], k.Weights[(unit*k.taps()+tap)*k.channels()+ch])
							}
							at += es
						}
					}
				}
			}
		}
	}
	return off
}
