package detection

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// The quantizations of the tests: boxes of eighths, and scores and deltas of bytes.
var (
	boxes  = hvxmath.Quant{Scale: 0.125, Lo: 0, Hi: math.MaxUint16}
	scores = hvxmath.Quant{Scale: 1. / 256, Lo: 0, Hi: 255}
	deltas = hvxmath.Quant{Scale: 1. / 32, Zero: 128, Lo: 0, Hi: 255}
)

// real is the value of a stored number, and stored the number of a value.
func real(q hvxmath.Quant, v int) float32 { return float32(int32(v)-q.Zero) * q.Scale }

func stored(q hvxmath.Quant, v float32) int {
	return int(min(max(int32(math.Round(float64(v/q.Scale)))+q.Zero, q.Lo), q.Hi))
}

// randomBoxes are n upright boxes in an image of 100 by 100, as they are stored.
func randomBoxes(r *rand.Rand, n int) []uint16 {
	var list []uint16
	for range n {
		x, y := r.IntN(600), r.IntN(600)
		list = append(list, uint16(x), uint16(y), uint16(x+r.IntN(200)), uint16(y+r.IntN(200)))
	}
	return list
}

func halfwords(v []uint16) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint16(b, x)
	}
	return b
}

func boxAt(v []uint16, i int) (b [4]float32) {
	for k := range b {
		b[k] = real(boxes, int(v[4*i+k]))
	}
	return b
}

func overlap(x, y [4]float32) float32 {
	w, h := min(x[2], y[2])-max(x[0], y[0]), min(x[3], y[3])-max(x[1], y[1])
	if w <= 0 || h <= 0 {
		return 0
	}
	area := func(b [4]float32) float32 { return float32((b[2] - b[0]) * (b[3] - b[1])) }
	both := float32(w * h)
	return both / (area(x) + area(y) - both)
}

// moved is a box moved and scaled by four stored deltas, and clipped to an image: its centre
// by two of them times its size, its size by e to the other two.
func moved(box [4]float32, by []byte, height, width float32) (b [4]float32) {
	for axis, limit := range [2]float32{width, height} {
		size, centre := box[2+axis]-box[axis], (box[axis]+box[2+axis])*0.5
		centre += float32(real(deltas, int(by[axis])) * size)
		reach := float32(float32(math.Exp(float64(real(deltas, int(by[2+axis])))))*size) * 0.5
		b[axis], b[2+axis] = min(max(centre-reach, 0), limit), min(max(centre+reach, 0), limit)
	}
	return b
}

// candidate is a box of an image with a score for a class.
type candidate struct {
	box, class int
	score      float32
}

// reference is non-maximum suppression of one class: the best box stays, the scores of the
// others fall by their overlap with it, and so on with what is left.
func (k NMS) reference(list []candidate, at func(box int) [4]float32) (kept []candidate) {
	for len(list) > 0 {
		best := 0
		for i := range list {
			if list[i].score > list[best].score {
				best = i
			}
		}
		c := list[best]
		kept = append(kept, c)
		list[best] = list[0]
		list = list[1:]
		for i := 0; i < len(list); {
			o := overlap(at(c.box), at(list[i].box))
			f := float32(1)
			switch {
			case k.Kind == 2:
				f = float32(math.Exp(float64(-float32(o*o) / k.Sigma)))
			case o >= k.Overlap && k.Kind == 1:
				f = 1 - o
			case o >= k.Overlap:
				f = 0
			}
			if list[i].score *= f; list[i].score >= k.Least {
				i++
				continue
			}
			last := len(list) - 1
			list[i], list = list[last], list[:last]
		}
	}
	return kept
}

// TestNMS suppresses random boxes of two images by each kernel, with and without a limit.
func TestNMS(t *testing.T) {
	const n, classes, second = 40, 4, 25 // boxes from second on are of image 1
	r := rand.New(rand.NewPCG(13, 41))
	for _, k := range []NMS{
		{Limit: -1, AtLeast: 0.2, Overlap: 0.3},
		{Limit: 6, AtLeast: 0.1, Overlap: 0.25},
		{Limit: -1, Kind: 1, AtLeast: 0.2, Overlap: 0.2, Least: 0.15},
		{Limit: 9, Kind: 2, AtLeast: 0.1, Sigma: 0.4, Least: 0.2},
	} {
		k.Boxes, k.Classes, k.In, k.OutScore, k.OutBox = n, classes, boxes, scores, boxes
		values, where := make([]byte, n*classes), randomBoxes(r, n*classes)
		for i := range values {
			values[i] = byte(r.Uint32())
		}
		images := make([]uint32, n)
		for i := second; i < n; i++ {
			images[i] = 1
		}
		b := hvxtest.New(t)
		bad, count, most := b.Alloc(4), b.Alloc(4), n*classes
		outScores, outBoxes, outClasses, outImages := b.Alloc(most), b.Alloc(8*most), b.Alloc(4*most), b.Alloc(4*most)
		block := b.Words(b.Load(values), b.Load(halfwords(where)), b.Words(images...), bad, b.Words(scores.Floats()...), b.Words(Reciprocals()...),
			count, outScores, outBoxes, outClasses, outImages)
		b.Run(k, []uint32{block, b.Alloc(4*NmsFrame + 4*most + 8 + 8*most)})

		var want []candidate
		for _, image := range [2][2]int{{0, second}, {second, n}} {
			var found []candidate
			for c := 1; c < classes; c++ {
				var list []candidate
				for i := image[0]; i < image[1]; i++ {
					if s := real(scores, int(values[i*classes+c])); s > k.AtLeast {
						list = append(list, candidate{i*classes + c, c, s})
					}
				}
				found = append(found, k.reference(list, func(i int) [4]float32 { return boxAt(where, i) })...)
			}
			if k.Limit >= 0 && len(found) > int(k.Limit) {
				slices.SortStableFunc(found, func(x, y candidate) int { return int(math.Copysign(1, float64(y.score-x.score))) })
				found = found[:k.Limit]
				slices.SortStableFunc(found, func(x, y candidate) int { return x.class - y.class })
			}
			want = append(want, found...)
		}
		got := int(binary.LittleEndian.Uint32(b.Bytes(count, 4)))
		if got != len(want) || got < 5 || b.Bytes(bad, 1)[0] != 0 {
			t.Fatalf("%+v: %d detections, want %d", k, got, len(want))
		}
		for i, w := range want {
			place := halfwords(where[4*w.box : 4*w.box+4])
			s, class := int(b.Bytes(outScores, got)[i]), binary.LittleEndian.Uint32(b.Bytes(outClasses, 4*got)[4*i:])
			image := binary.LittleEndian.Uint32(b.Bytes(outImages, 4*got)[4*i:])
			if s != stored(scores, w.score) || int(class) != w.class || image != images[w.box/classes] || !slices.Equal(b.Bytes(outBoxes, 8*got)[8*i:8*i+8], place) {
				t.Errorf("%+v: detection %d has score %d, class %d, image %d, want %d, %d, %d at %v", k, i, s, class, image,
					stored(scores, w.score), w.class, images[w.box/classes], place)
			}
		}
	}
}

// TestBoxes moves regions by deltas of two classes and clips them to their images, on two
// threads. A region upside down is reported.
func TestBoxes(t *testing.T) {
	const n, classes = 30, 2
	r := rand.New(rand.NewPCG(13, 42))
	sizes := []uint16{720, 800, 400, 560} // height and width of two images
	where, moves, images := randomBoxes(r, n), make([]byte, 4*n*classes), make([]uint32, n)
	for i := range moves {
		moves[i] = byte(64 + r.IntN(128))
	}
	for i := range images {
		images[i] = uint32(r.IntN(2))
	}
	k := Boxes{Classes: classes, Images: 2, Box: boxes, Image: boxes, Out: boxes}
	run := func() (out []byte, bad bool) {
		b := hvxtest.New(t)
		to, fault := b.Alloc(8*n*classes), b.Alloc(4)
		block := b.Words(b.Load(halfwords(where)), b.Load(moves), b.Words(images...), b.Load(halfwords(sizes)), to, fault,
			b.Words(deltas.Floats()...), b.Words(deltas.Exponentials()...))
		b.Run(k, []uint32{block, 0, n / 2, b.Alloc(4)}, []uint32{block, n / 2, n, b.Alloc(4)})
		return b.Bytes(to, 8*n*classes), b.Bytes(fault, 1)[0] != 0
	}
	got, bad := run()
	if bad {
		t.Error("a fault was reported")
	}
	for i := range n * classes {
		size := sizes[2*images[i/classes]:]
		var want [4]int
		for c, v := range moved(boxAt(where, i/classes), moves[4*i:], real(boxes, int(size[0])), real(boxes, int(size[1]))) {
			want[c] = stored(boxes, v)
		}
		for c, w := range want {
			if g := int(binary.LittleEndian.Uint16(got[8*i+2*c:])); g != w {
				t.Errorf("region %d, class %d, corner %d is %d, want %d", i/classes, i%classes, c, g, w)
			}
		}
	}
	where[4*7], where[4*7+2] = 500, 400
	if _, bad := run(); !bad {
		t.Error("a region upside down was not reported")
	}
}
