package hostop

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// detectOperators choose boxes by score.
var detectOperators = []operator{
	// boxes [batches, n, 4], scores [batches, classes, n], then, each of which may be omitted, the most boxes of a class, the
	// greatest overlap, the score that a box must exceed. Attribute: boxes are 0: two corners [y, x, y, x], 1: [x centre, y
	// centre, width, height]. Result: [chosen, 3] with batch, class, box.
	{op: nn.OpHostNonMaxSuppression, attributes: 1, unpriced: true, run: nonMaxSuppression},
	// boxes [n, 4] by two corners, scores [n], the most boxes, the greatest overlap, the score that a box must exceed, sigma of a
	// Gaussian that lowers scores of neighbours (0 or omitted: none). Results of the fixed length of the most
	// boxes, behind which zeros stand: boxes, their scores, then the number of boxes.
	{op: nn.OpHostNonMaxSuppressionPadded, unpriced: true, run: nonMaxSuppressionPadded},
}

// box is a rectangle by its corners. Areas and overlaps are float32, as the operators compute them: an overlap that is the
// limit in reals is it here too.
type box struct{ y0, x0, y1, x1 float32 }

// boxAt is box i of [.., 4].
func boxAt(t *tensor, i int, centred bool) box {
	at := func(k int) float32 { return float32(t.number(4*i + k)) }
	a, b, c, d := at(0), at(1), at(2), at(3)
	if centred {
		return box{b - d/2, a - c/2, b + d/2, a + c/2}
	}
	return box{min(a, c), min(b, d), max(a, c), max(b, d)}
}

// overlap is the intersection of two boxes over their union, 0 where one has no area.
func overlap(a, b box) float64 {
	area := func(x box) float32 { return float32((x.y1 - x.y0) * (x.x1 - x.x0)) } // a product of its own, nowhere fused with a sum
	if !(area(a) > 0 && area(b) > 0) {
		return 0
	}
	h := min(a.y1, b.y1) - max(a.y0, b.y0)
	w := min(a.x1, b.x1) - max(a.x0, b.x0)
	common := float32(max(h, 0) * max(w, 0))
	return float64(common / (area(a) + area(b) - common))
}

// suppression chooses boxes of one class.
type suppression struct {
	limit          int
	overlap, score float64
	reach          bool    // a box drops out at the greatest overlap, otherwise above it
	sigma          float64 // of the Gaussian that lowers scores of boxes below the overlap, 0: none
}

// chosen is a box with the score that it was chosen with.
type chosen struct {
	box   int
	score float64
}

// run chooses the best of n boxes again and again. Among equal scores the first wins.
func (s suppression) run(c *call, n int, score func(i int) float64, at func(i int) box) (list []chosen) {
	type candidate struct {
		chosen
		seen int // boxes of the list that have lowered its score
	}
	var open []candidate
	try.E(c.x.Charge(int64(n), 64*int64(n)))
	for i := range n {
		if v := score(i); v > s.score {
			open = append(open, candidate{chosen: chosen{i, v}})
		}
	}
	slices.SortStableFunc(open, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	for len(open) > 0 && len(list) < s.limit {
		best := open[0]
		open = open[1:]
		try.E(c.x.Charge(int64(len(list)-best.seen+1), 0))
		before := best.score
		drop := false
		for _, other := range list[best.seen:] {
			v := overlap(at(best.box), at(other.box))
			if v > s.overlap || s.reach && v == s.overlap {
				drop = true
				break
			}
			if s.sigma > 0 {
				best.score = float64(float32(best.score * math.Exp(-v*v/(2*s.sigma))))
			}
		}
		best.seen = len(list)
		switch {
		case drop || !(best.score > s.score):
		case best.score == before:
			list = append(list, best.chosen)
		default: // back into its place
			k := 0
			for k < len(open) && open[k].score >= best.score {
				k++
			}
			try.E(c.x.Charge(int64(len(open)), 0))
			open = slices.Insert(open, k, best)
		}
	}
	return list
}

func nonMaxSuppression(c *call) []tensor {
	boxes, scores := c.tensor(0), c.tensor(1)
	if len(boxes.dims) != 3 || len(scores.dims) != 3 || boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] || boxes.dims[1] != scores.dims[2] {
		fail("boxes of shape %v and scores of shape %v, want [batches, n, 4] and [batches, classes, n]", boxes.dims, scores.dims)
	}
	s := suppression{overlap: c.real(3, 0), score: c.real(4, math.Inf(-1))}
	if c.has(2) {
		s.limit = int(max(c.one(2), 0))
	}
	n, classes := int(boxes.dims[1]), int(scores.dims[1])
	var list []int64
	for b := range int(boxes.dims[0]) {
		for k := range classes {
			found := s.run(c, n, func(i int) float64 { return scores.number((b*classes+k)*n + i) },
				func(i int) box { return boxAt(boxes, b*n+i, c.attributes[0] == 1) })
			for _, f := range found {
				list = append(list, int64(b), int64(k), int64(f.box))
			}
		}
	}
	return []tensor{c.integers([]uint32{uint32(len(list) / 3), 3}, list)}
}

func nonMaxSuppressionPadded(c *call) []tensor {
	boxes, scores := c.tensor(0), c.tensor(1)
	if len(boxes.dims) != 2 || boxes.dims[1] != 4 || scores.n() != int(boxes.dims[0]) {
		fail("boxes of shape %v and scores of shape %v, want [n, 4] and [n]", boxes.dims, scores.dims)
	}
	limit := c.one(2)
	if limit < 0 || limit > nn.MaxElements {
		fail("at most %d boxes", limit)
	}
	s := suppression{limit: int(limit), overlap: c.real(3, 0), score: c.real(4, math.Inf(-1)), reach: true, sigma: c.real(5, 0)}
	index := c.make(&tensor{kind: nn.TensorInt32}, []uint32{uint32(limit)})
	value := c.make(scores, []uint32{uint32(limit)})
	found := s.run(c, scores.n(), scores.number, func(i int) box { return boxAt(boxes, i, false) })
	for i, f := range found {
		index.put(i, int64(f.box))
		value.putNumber(i, f.score)
	}
	return []tensor{index, value, c.integers([]uint32{1}, []int64{int64(len(found))})}
}
