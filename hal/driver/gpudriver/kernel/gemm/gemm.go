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
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Shape is the size of a product and how it is cut.
type Shape struct {
	Elem                     layout.Element // of input and weights
	Rows, Units, Taps, Depth int
	Lo, Hi                   float32    // fused activation of floats
	Fixed                    rdna.Fixed // arithmetic of 8-bit elements
	Gather                   bool       // addresses of rows come from a table
	Step                     int        // elements of a row that a wave loads before it waits for them; 0: as many as immediate offsets reach
	Behind                   int        // elements of the last chunk that are behind the row, without a Gather

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
	Tail    elementwise.Tail

	machine                    kernel.Machine // that the choice was made for
	weights, table, bias, mult uint32         // offsets of constants, mult of multipliers per unit
}

// name is the kernel's name in listings.
func (k *Kernel) name() string {
	name := fmt.Sprintf("gemm_%dx%d", k.P, k.Q)
	if k.Elem != layout.F32 {
		name += "_" + k.Elem.String()
	}
	return name
}

// tileRows are the rows that a tile may have.
var tileRows = [...]int{16, 8, 4, 2, 1}

// Cut chooses the tile of the fewest estimated cycles.
func (k *Kernel) Cut(m *kernel.Machine) {
	k.machine = *m
	k.Q = 1
	if groups := (k.Units + 31) / 32; groups%2 == 0 || groups >= 7 {
		k.Q = 2
	}
	best := math.Inf(1)
	for _, s := range k.candidates() {
		if c := s.cycles(m); c < best {
			best, k.Shape = c, s
		}
	}
}

// candidates are the tiles to choose from.
func (s *Shape) candidates() (list []Shape) {
	for _, p := range tileRows {
		own := *s
		own.P = p
		own.share()
		list = append(list, own)
	}
	return list
}

// cycles estimates a launch: a step is an iteration of the loop over chunks. It waits for weights,
// then multiplies a few rows at a time while the scalars of the next ones come, of which a miss per
// line of the scalar cache waits for L2. Waves of a work-group share no weights: others come between them.
func (s *Shape) cycles(m *kernel.Machine) float64 {
	u, wide := s.unroll()
	rows, units := s.blocks()
	t := kernel.Tile{Waves: s.WaveRows * s.WaveUnits, Groups: rows * units, Steps: float64(s.Taps * s.chunks() / u), Loads: float64(u*s.Q) * m.Load(16)}
	products, each := s.Q, 1
	if s.Fixed.FilterZero != 0 {
		products++ // the sum of the row
	}
	if s.Elem != layout.F32 {
		each = m.DotCycles
	}
	pieces, atOnce := u/wide*(s.P/s.atOnce(wide)), s.atOnce(wide)*wide*4*products*each
	t.Products = float64(pieces * atOnce)
	misses := min(1, float64(16*wide)/float64(m.ScalarLine))
	latency := misses*float64(m.L2Latency) + (1-misses)*float64(m.ScalarLatency)
	t.Wait = float64(m.L2Latency) + float64(pieces)*max(0, latency-float64(m.Sharing(t.Waves)*atOnce))
	bytes := u * s.P * 16 / s.WaveUnits
	if 512*s.Q*s.Taps*s.chunks()*s.tiles() > m.NearestBytes { // else all weights stay
		bytes += 512 * u * s.Q
	}
	t.Lines = float64(bytes) / float64(m.Line)
	result := 4 // instructions that make a sum a result
	if !s.Elem.IsFloat() {
		result = 28 // requantized
	}
	t.End = float64(s.P * s.Q * result)
	return m.Cycles(&t)
}

// Cuts implements kernel.Chooser: the tiles of a wave.
func (k *Kernel) Cuts() (list []kernel.Cut) {
	for _, s := range k.candidates() {
		list = append(list, kernel.Cut{Name: s.cutName(), Weight: s.cycles(&k.machine), Chosen: s == k.Shape})
	}
	return list
}

func (s *Shape) cutName() string { return fmt.Sprintf("tile %dx%d", s.P, 32*s.Q) }

// Select implements kernel.Chooser.
func (k *Kernel) Select(name string) bool {
	for _, s := range k.candidates() {
		if s.cutName() == name {
			k.Shape = s
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

// unroll is the chunks of a loop iteration, those of a step or as many as immediate offsets reach, which divide the depth,
// and the chunks of a scalar load: wider loads are fewer and use more of each cache line, up to a
// whole one.
func (s *Shape) unroll() (chunks, wide int) {
	chunks = 8 / s.Q
	if s.Step > 0 {
		chunks = max(s.Step/s.Elem.PerChunk(), 1)
	}
	for s.wholeChunks()%chunks != 0 {
		chunks /= 2
	}
	for wide = 1; wide < 4 && chunks%(2*wide) == 0; {
		wide *= 2
	}
	return chunks, wide
}

// atOnce is the rows whose scalars are fetched at once: they fill 32 registers.
func (s *Shape) atOnce(wide int) int { return min(s.P, 8/wide) }

func (s *Shape) chunks() int   { return s.Depth / s.Elem.PerChunk() }
func (s *Shape) tiles() int    { return (s.Units + 32*s.Q - 1) / (32 * s.Q) }
func (s *Shape) rowTiles() int { return (s.Rows + s.P - 1) / s.P }

// wholeChunks are the chunks of the loop: all but one that ends behind the row.
func (s *Shape) wholeChunks() int {
	if s.Behind > 0 {
		return s.chunks() - 1
	}
	return s.chunks()
}

// EndBehind lets a product of one row of floats read chunks of which the last may end behind the row.
func (k *Kernel) EndBehind() {
	row, per := k.Depth, k.Elem.PerChunk()
	k.Depth = kernel.Up(row, per) * per
	if k.Behind = k.Depth - row; k.Behind > 0 {
		k.Weights = Padded(k.Weights, k.Units, row, k.Depth)
	}
}

// Padded is a matrix with zeros behind every row.
func Padded[T any](m []T, rows, row, width int) []T {
	out := make([]T, rows*width)
	for u := range rows {
		copy(out[u*width:], m[u*row:(u+1)*row])
	}
	return out
}

// Pack implements kernel.Packer.
func (k *Kernel) Pack(m *kernel.Memory) kernel.Kernel {
	packed := &Kernel{Shape: k.Shape, In: k.In, Out: k.Out, Tail: k.Tail, weights: k.packWeights(&m.Consts)}
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

// Result implements elementwise.Host.
func (k *Kernel) Result() (t *layout.Tensor, channels int) { return k.Out, k.Units }

// Following implements elementwise.Host.
func (k *Kernel) Following() elementwise.Tail { return k.Tail }

// Follow implements elementwise.Host.
func (k *Kernel) Follow(more elementwise.Tail, out *layout.Tensor) elementwise.Host {
	own := *k
	own.Tail, own.Out = append(slices.Clone(k.Tail), more...), out
	return &own
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

// packTable is the table [tile][tap][row of tile] of arena offsets; padding is in a page. Rows beyond the last repeat it.
func (k *Kernel) packTable(m *kernel.Memory) uint32 {
	w, outside := &k.Window, m.Pages.At(k.Padding())
	table := make([]uint32, k.rowTiles()*k.Taps*k.P)
	for row := range k.rowTiles() * k.P {
		at := min(row, k.Rows-1)
		image, y, x := at/(w.OutH*w.OutW), at/w.OutW%w.OutH*w.StrideH-w.Top, at%w.OutW*w.StrideW-w.Left
		for tap := range k.Taps {
			table[(row/k.P*k.Taps+tap)*k.P+row%k.P] = kernel.Pixel(w, k.In, k.Depth, image, y+tap/w.KW*w.DilationH, x+tap%w.KW*w.DilationW, outside)
		}
	}
	return m.Consts.Words(table)
}
