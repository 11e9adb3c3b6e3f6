package conv

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// MaxSpatialWords bounds the weight words of a spatial kernel: all are code.
const MaxSpatialWords = 640

// NarrowOutputs is the most output channels that leave at least half of the lanes of a GEMM
// convolution, which are channels, idle.
const NarrowOutputs = 16

// A convolution with few output channels leaves most lanes of the GEMM kernel
// (gemm.go), where a lane is a channel, idle. In the spatial kernel a lane is a
// position: a plane is a vector that holds one word of four input channels of each of
// SpatialPositions positions, weights are scalar words, and one vrmpy adds four products of
// one output channel to all positions. The kernel de-interleaves vectors of positions into planes as it
// loads them (vdeal), and shuffles the results, which requantization leaves as planes of
// four channels, back to positions (vshuff).
//
// Weights are multiplied without their zero point where few of them do not fit in a
// signed byte; those need a second part. Otherwise the zero point's share, a sum over all
// planes, is subtracted from every channel.
type Spatial struct {
	KH, KW           int
	Stride, Dilation int // positions between windows, and between columns of a window
	Pitch, Out       int // bytes between positions of input and result
	Words            int // of a position that are used
	Outputs          int // outputs
	Unsigned         bool
	Second           [MaxSpatialWords / 64]uint64 // a bit for each weight word that has a second part
	Aligned          bool                         // vectors of column 0 lie on vectors
	Streamed         bool                         // all outputs' sums wait while planes pass, not the planes
	Carried          bool                         // results wait for the next block, beside which they are stored
	Rq               hvx.RequantKind
}

// SpatialPositions is the positions of a block.
const SpatialPositions = hvx.VectorBytes / 4

// Table entries are addresses: of the first window of each granule, positions of a row
// that follow each other, and of each vector of results. Vectors that lie behind a row's
// end have the address of another one that is stored later.
func (d Spatial) Granule() int {
	return max(hvx.VectorBytes/(d.Stride*d.Pitch), hvx.VectorBytes/d.Out)
}
func (d Spatial) Granules() int      { return SpatialPositions / d.Granule() }
func (d Spatial) outputVectors() int { return d.Out / 4 }
func (d Spatial) EntryWords() int    { return d.Granules() + d.outputVectors() }

// Planes is the number of input words of an output.
func (d Spatial) Planes() int { return d.KH * d.KW * d.Words }

// Quads is the number of planes of results.
func (d Spatial) Quads() int { return hvx.CeilDiv(d.Outputs, 4) }

// header is the number of vectors of a quad's biases and multipliers.
func (d Spatial) header() int { return 4 * (1 + d.Rq.Vectors()) }

func (d Spatial) Name() string {
	s := fmt.Sprintf("spatial_%dx%dx%d_k%d_s%d_d%d_p%d.%d_m%s%s%s%s_%s", d.KH, d.KW, d.Words, d.Outputs, d.Stride, d.Dilation, d.Pitch, d.Out,
		hvx.Flag(d.Unsigned, "z"), hvx.Flag(d.Aligned, "a"), hvx.Flag(d.Streamed, "s"), hvx.Flag(d.Carried, "c"), d.Rq.Tag())
	if !d.Unsigned {
		s += fmt.Sprintf("_%x", d.Second)
	}
	return hvx.Symbol(s)
}

// Channel is output j of a quad, -1 for none.
func (d Spatial) Channel(quad, j int) int {
	if ch := 4*quad + hvx.LanePhase[j]; ch < d.Outputs {
		return ch
	}
	return -1
}

// hasSecond reports whether the weights of a word need two signed bytes.
func (d Spatial) hasSecond(ch, plane int) bool {
	n := ch*d.Planes() + plane
	return !d.Unsigned && d.Second[n/64]>>(n%64)&1 != 0
}

// spatialFetch is the input that a position's window loads at once: in a row of the window,
// the words of as many neighbouring positions as the stride.
type spatialFetch struct {
	index   int         // of the fetch
	row, at int         // at: strides from the window's first column
	planes  map[int]int // word of those positions: number of the plane
}

// fetches lists them; planes are numbered in this order.
func (d Spatial) fetches() (list []spatialFetch) {
	for y := range d.KH {
		for x := range d.KW {
			at, pos := x*d.Dilation/d.Stride, x*d.Dilation%d.Stride
			n := len(list)
			if n == 0 || list[n-1].row != y || list[n-1].at != at {
				list = append(list, spatialFetch{n, y, at, map[int]int{}})
				n++
			}
			for w := range d.Words {
				list[n-1].planes[pos*d.Pitch/4+w] = (y*d.KW+x)*d.Words + w
			}
		}
	}
	return list
}

// Order calls use for every weight word in the order of their use: channel -1 is the
// zero point in all inputs of a plane, part 1 the rest of what does not fit in a byte.
func (d Spatial) Order(planes []int, quads []int, use func(ch, plane, part int)) {
	for _, n := range planes {
		if d.Unsigned && quads[0] == 0 {
			use(-1, n, 0)
		}
		for _, q := range quads {
			for j := range 4 {
				if ch := d.Channel(q, j); ch >= 0 {
					use(ch, n, 0)
					if d.hasSecond(ch, n) {
						use(ch, n, 1)
					}
				}
			}
		}
	}
}

// Passes are the steps of a block's products: which planes meet which quads.
func (d Spatial) Passes() (planes, quads [][]int) {
	all := make([]int, d.Quads())
	for q := range all {
		all[q] = q
	}
	if d.Streamed {
		for _, f := range d.fetches() {
			var list []int
			for w := range d.Stride * d.Pitch / 4 {
				if n, ok := f.planes[w]; ok {
					list = append(list, n)
				}
			}
			planes, quads = append(planes, list), append(quads, all)
		}
		return planes, quads
	}
	every := make([]int, d.Planes())
	for n := range every {
		every[n] = n
	}
	for q := range all {
		planes, quads = append(planes, every), append(quads, all[q:q+1])
	}
	return planes, quads
}
