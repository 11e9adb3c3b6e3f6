// Package texel convolves floats in texels, four channels of one position: the form that the
// libraries of phones give CONV_2D and GROUPED_CONV_2D, whose activations and weights are
// textures.
//
//	out[y][x][unit] = act(bias[unit] + sum over ky, kx, c of in[y*s-top+ky][x*s-left+kx][c] * weights[unit][ky][kx][c])
//
// A lane computes a block of BX x BY positions by BZ quads of units. Per tap and texel of
// input channels it loads BX*BY texels of input and 4*BZ of weights, each a load of its own,
// and adds BX*BY*BZ*16 products. Nothing is fetched ahead: a wave waits for its texels, and
// other waves compute meanwhile. Where the weights fit what phones keep for constants, lanes
// are positions, do all units, and read weights as scalars.
package texel

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Shape is the size of a convolution and how it is cut.
type Shape struct {
	Elem      layout.Element // of input, weights and output
	Window    opspec.Window
	Batches   int
	InC, OutC int
	Groups    int
	Lo, Hi    float32 // fused activation

	Block     Block
	ZLanes    int  // lanes of a wave that are blocks of units; the others are blocks of positions
	ZWaves    int  // the same of the waves of a work-group
	Constants bool // weights are scalars
}

// Block is what a lane computes: positions along x and y, quads of units.
type Block struct{ X, Y, Z int }

// Kernel is one convolution.
type Kernel struct {
	Shape
	Weights []float32 // [units][taps][channels of a group]
	Bias    []float32
	In, Out *layout.Tensor
}

// Key is what the code depends on.
type Key struct {
	Shape
	In, Out             layout.Place
	Weights, Bias, Page uint32 // offsets: of constants, and of a page of zeros
}

// Name implements kernel.Key.
func (k Key) Name() string {
	name := fmt.Sprintf("texel_%dx%dx%d", k.Block.X, k.Block.Y, k.Block.Z)
	if k.Constants {
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

// quads are the quads of units; channels the input channels of a group; taps and texels what
// a block walks over.
func (s *Shape) quads() int    { return (s.OutC + 3) / 4 }
func (s *Shape) channels() int { return s.InC / s.Groups }
func (s *Shape) taps() int     { return s.Window.KH * s.Window.KW }
func (s *Shape) texels() int   { return (s.channels() + 3) / 4 }

// across are the blocks along x, along y and of units.
func (s *Shape) across() (x, y, z int) {
	up := func(n, by int) int { return (n + by - 1) / by }
	return up(s.Window.OutW, s.Block.X), up(s.Window.OutH, s.Block.Y), up(s.quads(), s.Block.Z)
}

// positionBlocks are the blocks of positions of all images.
func (s *Shape) positionBlocks() int {
	x, y, _ := s.across()
	return s.Batches * x * y
}

// blocks are the ways to cut, by the threads that a cluster has at least: a larger block loads
// less per product, and leaves fewer waves that hide each other's loads. Steps of TensorFlow
// Lite for Adreno 6xx: 6, 12 and 24 waves of 128 lanes.
var blocks = []struct {
	block   Block
	threads int // of one output quad each, per cluster
}{{Block{2, 2, 2}, 24 * 128}, {Block{2, 1, 2}, 12 * 128}, {Block{2, 1, 1}, 6 * 128}, {Block{1, 1, 1}, 0}}

// Cut chooses the block for a machine of so many clusters.
func (s *Shape) Cut(clusters int) {
	s.Constants = s.Groups == 1 && s.quads() <= maxConstantQuads && s.taps()*s.InC*4*s.quads()*s.Elem.Bytes() <= maxConstants
	if s.Constants {
		s.Block, s.ZLanes, s.ZWaves = Block{1, 1, s.quads()}, 1, 1
		return
	}
	threads := s.Batches * s.Window.OutH * s.Window.OutW * s.quads() / clusters
	for _, b := range blocks {
		if s.Block = b.block; threads > b.threads {
			break
		}
	}
	if s.Groups > 1 && s.OutC/s.Groups%(4*s.Block.Z) != 0 {
		s.Block.Z = 1
	}
	s.lanes()
}

// Waves of a work-group: 128 lanes, a wave of the phones whose library this is.
const groupWaves = 4

// minZLanes are the lanes of a wave that read weights beside each other where positions fill
// the others: a cache line of half texels.
const minZLanes = 8

// lanes divides the lanes of a wave, and the waves of a work-group, among blocks of units and
// of positions.
func (s *Shape) lanes() {
	_, _, z := s.across()
	p := s.positionBlocks()
	for s.ZLanes = 1; s.ZLanes < 32 && s.ZLanes < z && (s.ZLanes < minZLanes || p < 32/s.ZLanes); {
		s.ZLanes *= 2
	}
	for s.ZWaves = groupWaves; s.ZWaves > 1 && p > 32/s.ZLanes*groupWaves/s.ZWaves; {
		s.ZWaves /= 2
	}
}

// perWave are the blocks of positions of a wave.
func (s *Shape) perWave() int { return 32 / s.ZLanes }

// groups are the work-groups along positions and units.
func (s *Shape) groups() (positions, units int) {
	per := s.perWave() * groupWaves / s.ZWaves
	return (s.positionBlocks() + per - 1) / per, (s.zGroups() + s.ZWaves - 1) / s.ZWaves
}

// Pack implements kernel.Kernel.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Key {
	key := Key{Shape: k.Shape, In: k.In.Place(), Out: k.Out.Place()}
	key.Page = m.Pages.At(0)
	key.Weights = k.packWeights(&m.Consts)
	key.Bias = m.Consts.Floats(k.Bias, k.zGroups()*k.ZLanes*k.Block.Z*4, layout.Guard)
	return key
}

// zGroups are the waves along units.
func (s *Shape) zGroups() int {
	_, _, z := s.across()
	return (z + s.ZLanes - 1) / s.ZLanes
}

// packWeights lays the weights out as [wave][tap][texel][unit of the block][lane][channel],
// zeros where there is no unit or channel.
func (k *Kernel) packWeights(c *layout.Constants) uint32 {
	es, units := k.Elem.Bytes(), 4*k.Block.Z
	off := c.Reserve(k.zGroups()*k.taps()*k.texels()*units*k.ZLanes*4*es + layout.Guard)
	at := int(off)
	for g := range k.zGroups() {
		for tap := range k.taps() {
			for t := range k.texels() {
				for u := range units {
					for z := range k.ZLanes {
						unit := (g*k.ZLanes+z)*units + u
						for ch := 4 * t; ch < 4*t+4; ch++ {
							if unit < k.OutC && ch < k.channels() {
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

// Work implements kernel.Kernel.
func (k *Kernel) Work() kernel.Work {
	b := &k.Block
	waves := (k.positionBlocks() + k.perWave() - 1) / k.perWave() * k.zGroups()
	steps, positions := k.taps()*k.texels(), b.X*b.Y
	loads, products, dots := positions+4*b.Z, positions*b.Z*16, 0
	if k.Elem == layout.F16 {
		products /= 2
		dots = products
	}
	vector := loads
	if k.Constants {
		vector = positions
	}
	return kernel.Work{
		Waves:        waves,
		Instructions: int64(waves) * int64(steps*products+k.taps()*(3*positions+8)+positions*b.Z*12+60),
		Loads:        int64(waves) * int64(steps*loads),
		ReadBytes:    int64(k.In.Bytes()) + int64(k.OutC*k.taps()*k.channels()*k.Elem.Bytes()),
		WriteBytes:   int64(k.Out.Bytes()),
		Chain:        steps,
		VectorLoads:  int64(waves) * int64(steps*vector),
		Dots:         int64(waves) * int64(steps*dots),
	}
}

// Cuts implements kernel.Chooser: the blocks, by the threads each leaves a cluster.
func (k *Kernel) Cuts() (list []kernel.Cut) {
	if k.Constants {
		return []kernel.Cut{{Name: fmt.Sprintf("constants, %d quads of units", k.quads()), Work: k.Work(), Chosen: true}}
	}
	for _, b := range blocks {
		own := *k
		own.Block = b.block
		if own.Groups > 1 {
			own.Block.Z = min(own.Block.Z, k.Block.Z)
		}
		own.lanes()
		w := own.Work()
		list = append(list, kernel.Cut{Name: fmt.Sprintf("block %dx%dx%d", own.Block.X, own.Block.Y, 4*own.Block.Z), Weight: float64(w.Loads), Work: w, Chosen: own.Block == k.Block})
	}
	return list
}
