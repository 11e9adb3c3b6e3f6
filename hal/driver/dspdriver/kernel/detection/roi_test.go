package detection

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// Quantizations of the images that regions are cut from.
var (
	pixels = hvxmath.Quant{Scale: 1. / 16, Zero: 100, Lo: 0, Hi: 255}
	means  = hvxmath.Quant{Scale: 1. / 32, Zero: 90, Lo: 0, Hi: 255}
)

// bilinear is the value of an image at a point: pixels are points, and the outermost are
// continued.
func bilinear(value func(y, x int) float64, h, w int, y, x float64) float64 {
	y, x = min(max(y, 0), float64(h-1)), min(max(x, 0), float64(w-1))
	top, left := int(y), int(x)
	fy, fx := y-float64(top), x-float64(left)
	bottom, right := min(top+1, h-1), min(left+1, w-1)
	return (1-fy)*((1-fx)*value(top, left)+fx*value(top, right)) + fy*((1-fx)*value(bottom, left)+fx*value(bottom, right))
}

// mean is a bin of ROI_ALIGN: the mean of evenly spaced samples, so many as the bin is long
// where none are given.
func (k ROI) mean(value func(y, x int) float64, box [4]float32, oy, ox int) float64 {
	var from, size [2]float64
	samples := [2]int{k.SampleW, k.SampleH}
	for axis, a := range [2]struct {
		stride float32
		bins   int
		at     int
	}{{k.StrideW, k.OutW, ox}, {k.StrideH, k.OutH, oy}} {
		low, high := float64(box[axis]/a.stride), float64(box[2+axis]/a.stride)
		size[axis] = max(high-low, 1) / float64(a.bins)
		from[axis] = low + float64(a.at)*size[axis]
		if samples[axis] == 0 {
			samples[axis] = int(math.Ceil(size[axis]))
		}
	}
	sum := 0.0
	for i := range samples[0] {
		for j := range samples[1] {
			x := from[0] + (float64(i)+0.5)*size[0]/float64(samples[0])
			y := from[1] + (float64(j)+0.5)*size[1]/float64(samples[1])
			sum += bilinear(value, k.H, k.W, y, x)
		}
	}
	return sum / float64(samples[0]*samples[1])
}

// largestIn is a bin of ROI_POOLING: the maximum of the pixels that it covers; ok is false
// where it covers none. Edges of bins are products of floats, as the reference has them.
func (k ROI) largestIn(value func(y, x int) int, box [4]float32, oy, ox int) (most int, ok bool) {
	bin := func(axis int, stride float32, bins, at, limit int) (from, to int) {
		low := int(math.Round(float64(box[axis] / stride)))
		size := float32(max(int(math.Round(float64(box[2+axis]/stride)))-low+1, 1)) / float32(bins)
		from = low + int(math.Floor(float64(size*float32(at))))
		to = low + int(math.Ceil(float64(size*float32(at+1))))
		return min(max(from, 0), limit), min(max(to, 0), limit)
	}
	left, right := bin(0, k.StrideW, k.OutW, ox, k.W)
	top, bottom := bin(1, k.StrideH, k.OutH, oy, k.H)
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			if v := value(y, x); !ok || v > most {
				most, ok = v, true
			}
		}
	}
	return most, ok
}

// TestROI cuts random regions out of two images on two threads, by means and by maxima:
// regions inside, half outside and outside of the image, of one point and of all of it.
func TestROI(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 44))
	for _, k := range []ROI{
		{Align: true, H: 9, W: 13, C: 5, OutH: 3, OutW: 2, StrideH: 4, StrideW: 8, SampleH: 2, SampleW: 3},
		{Align: true, H: 6, W: 5, C: 3, OutH: 2, OutW: 5, StrideH: 8, StrideW: 16},
		{Align: true, H: 1, W: 1, C: 1, OutH: 1, OutW: 1, StrideH: 1, StrideW: 2, SampleW: 1},
		{H: 9, W: 13, C: 5, OutH: 3, OutW: 2, StrideH: 4, StrideW: 8},
		{H: 12, W: 7, C: 130, OutH: 7, OutW: 7, StrideH: 8, StrideW: 16},
		{H: 5, W: 8, C: 128, OutH: 1, OutW: 9, StrideH: 2, StrideW: 2},
	} {
		t.Run(fmt.Sprintf("%+v", k), func(t *testing.T) {
			const n = 20
			k.N, k.Box, k.Out = 2, boxes, means
			if !k.Align {
				k.Out = pixels
			}
			image, where, batches := make([]byte, k.N*k.H*k.W*k.C), randomBoxes(r, n), make([]uint32, n)
			for i := range image {
				image[i] = byte(r.Uint32())
			}
			for i := range batches {
				batches[i] = uint32(r.IntN(2))
			}
			edge := [2]uint16{uint16(float32(k.W) * k.StrideW * 8), uint16(float32(k.H) * k.StrideH * 8)}
			copy(where, []uint16{0, 0, edge[0], edge[1]})                                    // the image
			copy(where[4:], []uint16{edge[0] / 2, edge[1] / 2, edge[0] / 2, edge[1] / 2})    // a point
			copy(where[8:], []uint16{edge[0] + 800, edge[1] + 80, 64000, 8000})              // outside
			copy(where[12:], []uint16{edge[0] / 2, edge[1] / 3, 2*edge[0] + 8, 2 * edge[1]}) // half outside
			b := hvxtest.New(t)
			size := k.OutH * k.OutW * k.C
			out, bad := b.Alloc(n*size), b.Alloc(4)
			block := b.Words(b.Load(image), b.Load(halfwords(where)), b.Words(batches...), out, bad, b.Words(pixels.Floats()...))
			b.Run(k, []uint32{block, 0, n / 2, b.Alloc(4 * (RoiFrame + k.C))}, []uint32{block, n / 2, n, b.Alloc(4 * (RoiFrame + k.C))})
			if b.Bytes(bad, 1)[0] != 0 {
				t.Error("a fault was reported")
			}
			got, empty, wrong := b.Bytes(out, n*size), 0, 0
			for i, g := range got {
				region, oy, ox, c := i/size, i/(k.OutW*k.C)%k.OutH, i/k.C%k.OutW, i%k.C
				at := func(y, x int) int { return int(image[((int(batches[region])*k.H+y)*k.W+x)*k.C+c]) }
				if k.Align {
					want := k.mean(func(y, x int) float64 { return float64(real(pixels, at(y, x))) }, boxAt(where, region), oy, ox)
					want = want/float64(means.Scale) + float64(means.Zero)
					if !nearest(int(g), want, means.Hi) {
						t.Errorf("region %d, bin %d,%d, channel %d is %d, want %v", region, oy, ox, c, g, want)
						wrong++
					}
				} else {
					want, ok := k.largestIn(at, boxAt(where, region), oy, ox)
					if !ok {
						want = int(pixels.Zero)
						empty++
					}
					if int(g) != want {
						t.Errorf("region %d, bin %d,%d, channel %d is %d, want %d", region, oy, ox, c, g, want)
						wrong++
					}
				}
				if wrong > 5 {
					t.FailNow()
				}
			}
			if !k.Align && empty == 0 {
				t.Error("no bin is empty")
			}
		})
	}
}

// TestROIFaults reports regions upside down, of no image, and with too many samples.
func TestROIFaults(t *testing.T) {
	for _, align := range []bool{false, true} {
		for _, c := range []struct {
			box   []uint16
			batch uint32
			bad   bool
		}{
			{[]uint16{0, 0, 8, 8}, 1, false}, {[]uint16{0, 0, 8, 8}, 2, true}, {[]uint16{0, 0, 8, 8}, 0xffffffff, true},
			{[]uint16{9, 0, 8, 8}, 0, true}, {[]uint16{0, 9, 8, 8}, 0, true},
			{[]uint16{0, 0, 64000, 64000}, 0, align}, // 64 million samples
		} {
			k := ROI{Align: align, N: 2, H: 2, W: 2, C: 1, OutH: 1, OutW: 1, StrideH: 1, StrideW: 1, Box: boxes, Out: pixels}
			b := hvxtest.New(t)
			bad := b.Alloc(4)
			block := b.Words(b.Alloc(8), b.Load(halfwords(c.box)), b.Words(c.batch), b.Alloc(1), bad, b.Words(pixels.Floats()...))
			b.Run(k, []uint32{block, 0, 1, b.Alloc(4 * (RoiFrame + k.C))})
			if got := b.Bytes(bad, 1)[0] != 0; got != c.bad {
				t.Errorf("align %v, %+v: fault %v", align, c, got)
			}
		}
	}
}
