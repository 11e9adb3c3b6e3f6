package detection

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// proposal is an anchor moved by its deltas.
type proposal struct {
	score byte
	box   [4]float32
}

// reference is what the kernel proposes for one image: of the anchors at every pixel, moved
// and clipped, the best that are large enough, have their centre inside and overlap none
// that was proposed before.
func (k Proposals) reference(values, moves []byte, anchors []uint16, height, width float32) (kept []proposal) {
	order := make([]int, k.All())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(values[j]) - int(values[i]) })
	least := max(k.Least, 1)
	for _, i := range order[:k.Before] {
		box := boxAt(anchors, i%k.Anchors)
		x, y := float32(i/k.Anchors%k.W)*k.StrideW, float32(i/k.Anchors/k.W)*k.StrideH
		box = moved([4]float32{box[0] + x, box[1] + y, box[2] + x, box[3] + y}, moves[4*i:], height, width)
		if box[2]-box[0] <= least || box[3]-box[1] <= least || (box[0]+box[2])/2 >= width || (box[1]+box[3])/2 >= height {
			continue
		}
		if slices.ContainsFunc(kept, func(p proposal) bool { return overlap(box, p.box) >= k.Overlap }) {
			continue
		}
		if kept = append(kept, proposal{values[i], box}); len(kept) == k.After {
			break
		}
	}
	return kept
}

// TestProposals proposes boxes for two images: few of many anchors and all of few, with many
// equal scores and with none, with small boxes left out.
func TestProposals(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 45))
	limited, short := 0, 0
	for _, k := range []Proposals{
		{H: 7, W: 5, Anchors: 3, StrideH: 8, StrideW: 16, Overlap: 0.3, Before: 105, After: 105},
		{H: 4, W: 9, Anchors: 4, StrideH: 16, StrideW: 4, Overlap: 0.6, Least: 12, Before: 60, After: 10},
		{H: 1, W: 1, Anchors: 1, StrideH: 1, StrideW: 1, Overlap: 0.5, Before: 1, After: 1},
		{H: 6, W: 6, Anchors: 2, StrideH: 10, StrideW: 10, Overlap: 1e-6, Least: 5, Before: 72, After: 30},
	} {
		k.Batches, k.Anchor, k.Image, k.Score, k.OutScore, k.Box = 2, boxes, boxes, scores, scores, boxes
		values, moves := make([]byte, k.Batches*k.All()), make([]byte, 4*k.Batches*k.All())
		for i := range values {
			values[i] = byte(r.IntN(256))
			if i < k.All() { // image 0 has few different scores
				values[i] &= 0xc0
			}
		}
		values[len(values)-1], values[k.All()] = 0, 255
		for i := range moves {
			moves[i] = byte(64 + r.IntN(128))
		}
		anchors, sizes := randomBoxes(r, k.Anchors), []uint16{560, 640, 800, 480} // height and width of two images
		for i := range anchors {
			anchors[i] /= 2
		}
		b := hvxtest.New(t)
		most := k.Batches * k.After
		count, outScores, outBoxes, outImages := b.Alloc(4), b.Alloc(most), b.Alloc(8*most), b.Alloc(4*most)
		block := b.Words(b.Load(values), b.Load(moves), b.Load(halfwords(anchors)), b.Load(halfwords(sizes)), b.Words(scores.Floats()...),
			b.Words(deltas.Floats()...), b.Words(deltas.Exponentials()...), count, outScores, outBoxes, outImages)
		b.Run(k, []uint32{block, b.Alloc(4*(ProposalFrame+256+k.All()) + 16*k.After)})

		n := 0
		for image := range k.Batches {
			from := image * k.All()
			list := k.reference(values[from:from+k.All()], moves[4*from:], anchors, real(boxes, int(sizes[2*image])), real(boxes, int(sizes[2*image+1])))
			if len(list) == k.After {
				limited++
			} else {
				short++
			}
			for _, w := range list {
				s, in := b.Bytes(outScores, most)[n], binary.LittleEndian.Uint32(b.Bytes(outImages, 4*most)[4*n:])
				if s != w.score || int(in) != image {
					t.Errorf("%+v: proposal %d has score %d in image %d, want %d in %d", k, n, s, in, w.score, image)
				}
				for c, v := range w.box {
					if got := int(binary.LittleEndian.Uint16(b.Bytes(outBoxes, 8*most)[8*n+2*c:])); got != stored(boxes, v) {
						t.Errorf("%+v: proposal %d has corner %d at %d, want %d", k, n, c, got, stored(boxes, v))
					}
				}
				if n++; t.Failed() {
					break
				}
			}
		}
		if got := int(binary.LittleEndian.Uint32(b.Bytes(count, 4))); got != n {
			t.Fatalf("%+v: %d proposals, want %d", k, got, n)
		}
	}
	if limited < 2 || short < 2 {
		t.Errorf("%d images with as many proposals as may be, %d with fewer: some of each are needed", limited, short)
	}
}
