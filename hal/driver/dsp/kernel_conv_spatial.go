package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// A convolution with few output channels leaves most lanes of the GEMM kernel
// (kernel_conv.go), where a lane is a channel, idle. In the spatial kernel a lane is a
// position: a plane is a vector that holds one word of four input channels of each of
// spatialPositions positions, weights are scalar words, and one vrmpy adds four products of
// one output channel to all positions. The kernel deals vectors of positions to planes as it
// loads them (vdeal), and shuffles the results, which requantization leaves as planes of
// four channels, back to positions (vshuff).
//
// Weights are multiplied without their zero point where few of them do not fit in a
// signed byte; those take a second part. Otherwise the zero point's share, a sum over all
// planes, is taken from every channel.
type spatialKernel struct {
	kh, kw           int
	stride, dilation int // positions between windows, and between columns of a window
	pitch, out       int // bytes between positions of input and result
	words            int // of a position that are used
	k                int // outputs
	zeroPoint        bool
	second           []uint64 // a bit for each weight word that has a second part
	aligned          bool     // vectors of column 0 lie on vectors
	streamed         bool     // all outputs' sums wait while planes pass, not the planes
	carried          bool     // results wait for the next block, beside which they are stored
	rq               hvx.RequantKind
}

// spatialPositions is the positions of a block.
const spatialPositions = vecBytes / 4

// Table entries are addresses: of the first window of each granule, positions of a row
// that follow each other, and of each vector of results. Vectors that lie behind a row's
// end have the address of another one that is stored later.
func (d *spatialKernel) granule() int    { return max(vecBytes/(d.stride*d.pitch), vecBytes/d.out) }
func (d *spatialKernel) granules() int   { return spatialPositions / d.granule() }
func (d *spatialKernel) outputs() int    { return d.out / 4 }
func (d *spatialKernel) entryWords() int { return d.granules() + d.outputs() }

// planes is the number of input words of an output.
func (d *spatialKernel) planes() int { return d.kh * d.kw * d.words }

// quads is the number of planes of results.
func (d *spatialKernel) quads() int { return ceilDiv(d.k, 4) }

// header is the number of vectors of a quad's biases and multipliers.
func (d *spatialKernel) header() int { return 4 * (1 + d.rq.Vectors()) }

func (d *spatialKernel) name() string {
	s := fmt.Sprintf("spatial_%dx%dx%d_k%d_s%d_d%d_p%d.%d_m%s%s%s%s_%s", d.kh, d.kw, d.words, d.k, d.stride, d.dilation, d.pitch, d.out,
		hvx.Flag(d.zeroPoint, "z"), hvx.Flag(d.aligned, "a"), hvx.Flag(d.streamed, "s"), hvx.Flag(d.carried, "c"), d.rq.Tag())
	if !d.zeroPoint {
		s += fmt.Sprintf("_%x", d.second)
	}
	return hvx.Symbol(s)
}

// channel is output j of a quad, -1 for none.
func (d *spatialKernel) channel(quad, j int) int {
	if ch := 4*quad + hvx.LanePhase[j]; ch < d.k {
		return ch
	}
	return -1
}

// hasSecond reports whether the weights of a word need two signed bytes.
func (d *spatialKernel) hasSecond(ch, plane int) bool {
	n := ch*d.planes() + plane
	return !d.zeroPoint && d.second[n/64]>>(n%64)&1 != 0
}

// spatialFetch is what the window of a position takes of the input in one go: in a row of
// the window, the words of as many neighbouring positions as the stride.
type spatialFetch struct {
	index   int         // of the fetch
	row, at int         // at: strides from the window's first column
	planes  map[int]int // word of those positions: number of the plane
}

// fetches lists them; planes are numbered in this order.
func (d *spatialKernel) fetches() (list []spatialFetch) {
	for y := range d.kh {
		for x := range d.kw {
			at, pos := x*d.dilation/d.stride, x*d.dilation%d.stride
			n := len(list)
			if n == 0 || list[n-1].row != y || list[n-1].at != at {
				list = append(list, spatialFetch{n, y, at, map[int]int{}})
				n++
			}
			for w := range d.words {
				list[n-1].planes[pos*d.pitch/4+w] = (y*d.kw+x)*d.words + w
			}
		}
	}
	return list
}

// order calls use for every weight word in the order of their use: channel -1 is the
// zero point in all inputs of a plane, part 1 the rest of what does not fit in a byte.
func (d *spatialKernel) order(planes []int, quads []int, use func(ch, plane, part int)) {
	for _, n := range planes {
		if d.zeroPoint && quads[0] == 0 {
			use(-1, n, 0)
		}
		for _, q := range quads {
			for j := range 4 {
				if ch := d.channel(q, j); ch >= 0 {
					use(ch, n, 0)
					if d.hasSecond(ch, n) {
						use(ch, n, 1)
					}
				}
			}
		}
	}
}

// passes are the steps of a block's products: which planes meet which quads.
func (d *spatialKernel) passes() (planes, quads [][]int) {
	all := make([]int, d.quads())
	for q := range all {
		all[q] = q
	}
	if d.streamed {
		for _, f := range d.fetches() {
			var list []int
			for w := range d.stride * d.pitch / 4 {
				if n, ok := f.planes[w]; ok {
					list = append(list, n)
				}
			}
			planes, quads = append(planes, list), append(quads, all)
		}
		return planes, quads
	}
	every := make([]int, d.planes())
	for n := range every {
		every[n] = n
	}
	for q := range all {
		planes, quads = append(planes, every), append(quads, all[q:q+1])
	}
	return planes, quads
}
