// Package gemm multiplies matrices: CONV_2D and FULLY_CONNECTED in float32, in halves and
// in 8-bit quantized elements.
//
//	out[row][unit] = act(bias[unit] + sum over taps and depth of in[address(row, tap) + d] * weights[unit][tap][d])
//
// A wave computes P rows of 32*Q units: lane i holds units i, 32+i, ... Rows are
// uniform, so their inputs come through the scalar cache into scalar registers, 16
// bytes (a chunk) of a row at a time; weights are packed so that a lane loads a chunk
// of its unit with one dwordx4. Per chunk that is P*Q*4 multiply-adds on P+Q loads.
package gemm

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Shape is the size of a product and how it is cut.
type Shape struct {
	Elem                     layout.Element // of input and weights
	Rows, Units, Taps, Depth int
	Lo, Hi                   float32    // fused activation of floats
	Fixed                    rdna.Fixed // arithmetic of 8-bit elements
	Gather                   bool       // addresses of rows come from a table

	P, Q                int // tile of a wave: rows, groups of 32 units
	WaveRows, WaveUnits int // tiles of a work-group
}

// Kernel is one product. Depth is a multiple of the elements of a chunk.
type Kernel struct {
	Shape
	Window  opspec.Window // of the table; one image has OutH x OutW rows
	Weights []float32     // [units][taps][depth]
	Bias    []float32
	Bytes   *Quantized // of 8-bit elements, in place of Weights and Bias
	In, Out *layout.Tensor

	weights, table, bias, mult uint32 // offsets of constants, mult of multipliers per unit
}

// Name implements kernel.Kernel.
func (k *Kernel) Name() string {
	name := fmt.Sprintf("gemm_%dx%d", k.P, k.Q)
	if k.Elem != layout.F32 {
		name += "_" + k.Elem.String()
	}
	return name
}

// tileCosts is what a multiply-add costs by the rows of a tile: instructions, and
// memory traffic that larger tiles save. Measured on the networks of the zoo.
var tileCosts = []struct {
	p    int
	cost float64
}{{16, 1.16}, {8, 1.4}, {4, 1.8}, {2, 2.5}, {1, 3.5}}

// Cut chooses the tile of a wave and the tiles of a work-group.
func (s *Shape) Cut() {
	s.tile()
	s.share()
}

// tile picks the shape that wastes least: rows beyond the last are computed in vain,
// and small tiles spend more instructions on loads.
func (s *Shape) tile() {
	best := math.Inf(1)
	for _, t := range tileCosts {
		if c := s.tileCost(t.p, t.cost); c < best {
			best, s.P = c, t.p
		}
	}
	s.Q = 1
	if groups := (s.Units + 31) / 32; groups%2 == 0 || groups >= 7 {
		s.Q = 2
	}
}

// tileCost is what tiles of p rows weigh.
func (s *Shape) tileCost(p int, cost float64) float64 { return float64((s.Rows+p-1)/p*p) * cost }

// Cuts implements kernel.Chooser: the tiles of a wave.
func (k *Kernel) Cuts() (list []kernel.Cut) {
	for _, t := range tileCosts {
		own := *k
		own.P = t.p
		own.share()
		list = append(list, kernel.Cut{Name: own.cutName(), Weight: k.tileCost(t.p, t.cost), Work: own.Work(), Chosen: t.p == k.P})
	}
	return list
}

func (s *Shape) cutName() string { return fmt.Sprintf("tile %dx%d", s.P, 32*s.Q) }

// Take implements kernel.Chooser.
func (k *Kernel) Take(name string) bool {
	for _, t := range tileCosts {
		own := k.Shape
		if own.P = t.p; own.cutName() == name {
			own.share()
			k.Shape = own
			return true
		}
	}
	return false
}

// share chooses the waves of a work-group: a block of tiles of rows by tiles of
// units. They meet at a barrier once per iteration, so that the inputs and the
// weights one of them fetches are still in the caches when the others want them.
func (s *Shape) share() {
	s.WaveRows, s.WaveUnits = 1, 1
	if s.P < 8 {
		return
	}
	if s.tiles() >= 2 {
		s.WaveUnits = 2
	}
	if s.rowTiles() >= 2 {
		s.WaveRows = 2
	}
}

// blocks are the work-groups along rows and units.
func (s *Shape) blocks() (rows, units int) {
	return (s.rowTiles() + s.WaveRows - 1) / s.WaveRows, (s.tiles() + s.WaveUnits - 1) / s.WaveUnits
}

func (s *Shape) tiles() int    { return (s.Units + 32*s.Q - 1) / (32 * s.Q) }
func (s *Shape) rowTiles() int { return (s.Rows + s.P - 1) / s.P }

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	packed := &Kernel{Shape: k.Shape, In: k.In, Out: k.Out, weights: k.packWeights(&m.Consts)}
	if k.Gather {
		packed.table = k.packTable(m)
	}
	units := k.tiles() * 32 * k.Q
	if k.Bytes == nil {
		packed.bias = m.Consts.Floats(k.Bias, units, 0)
		return packed
	}
	pad := func(w []uint32, n int) []uint32 { return append(w, make([]uint32, n-len(w))...) }
	packed.bias = m.Consts.Words(pad(k.Bytes.biases(k.Units, k.Taps*k.Depth), units))
	if k.Fixed.PerChannel {
		packed.mult = m.Consts.Words(pad(rdna.Records(k.Bytes.Mult), 4*units))
	}
	return packed
}

// packWeights lays the weights out as [tile][tap][chunk][group][lane][element].
func (k *Kernel) packWeights(c *layout.Constants) (off uint32) {
	per := k.Elem.PerChunk()
	chunks := k.Depth / per
	off = c.Reserve(k.tiles()*k.Taps*chunks*k.Q*512 + layout.Guard)
	at := int(off)
	for t := range k.tiles() {
		for tap := range k.Taps {
			for ch := range chunks {
				for u := t * 32 * k.Q; u < (t+1)*32*k.Q; u++ {
					for e := range per {
						switch i := (u*k.Taps+tap)*k.Depth + ch*per + e; {
						case u >= k.Units:
						case k.Bytes != nil:
							c.Data[at] = byte(k.Bytes.Weights[i])
						default:
							k.Elem.PutFloat(c.Data[at:], k.Weights[i])
						}
						at += k.Elem.Bytes()
					}
				}
			}
		}
	}
	return off
}

// Padding is the word that stands for taps outside the image.
func (k *Kernel) Padding() uint32 { return k.Elem.Padding(k.Fixed.InZero) }

// packTable is the table [tile][tap][row of tile] of arena offsets; padding is in a page.
func (k *Kernel) packTable(m *kernel.Memory) uint32 {
	outside := m.Pages.At(k.Padding())
	tiles := k.rowTiles()
	w := make([]uint32, tiles*k.Taps*k.P)
	es := k.Elem.Bytes()
	put := func(row, tap int, v uint32) { w[(row/k.P*k.Taps+tap)*k.P+row%k.P] = v }
	last := make([]uint32, k.Taps)
	kernel.EachTap(&k.Window, k.Rows/(k.Window.OutH*k.Window.OutW), k.Depth, func(row, tap, i int) {
		v := outside
		if i >= 0 {
			v = k.In.Off + uint32(i*es)
		}
		put(row, tap, v)
		last[tap] = v
	})
	for row := k.Rows; row < tiles*k.P; row++ { // repeats the last row
		for tap, v := range last {
			put(row, tap, v)
		}
	}
	return m.Consts.Words(w)
}

// Work implements kernel.Kernel.
func (k *Kernel) Work() kernel.Work {
	per := k.Elem.PerChunk()
	waves := k.rowTiles() * k.tiles()
	chunks := k.Taps * k.Depth / per
	loads := chunks * (k.P + k.Q)
	dots := 0
	if k.Elem != layout.F32 {
		dots = chunks * k.P * k.Q * 4
	}
	result := 4
	if k.Bytes != nil { // requantized
		result = 28
	}
	return kernel.Work{
		Waves:        waves,
		VectorLoads:  int64(waves) * int64(chunks*k.Q),
		Dots:         int64(waves) * int64(dots),
		Instructions: int64(waves) * int64(chunks*(k.P*k.Q*4+4)+k.P*k.Q*result+60),
		Loads:        int64(waves) * int64(loads),
		ReadBytes:    int64(k.Rows)*int64(k.Depth)*int64(k.Elem.Bytes()) + int64(k.tiles()*32*k.Q*k.Taps)*int64(k.Depth*k.Elem.Bytes()),
		WriteBytes:   int64(k.Out.Bytes()),
		Chain:        chunks,
	}
}
