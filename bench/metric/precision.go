package metric

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// averagePrecision is COCO's AP: over ten overlaps from 0.50 to 0.95 and all
// classes with an object, the mean precision at 101 points of recall. At most a
// hundred boxes of a class count in a picture, as in COCO's own program; boxes on crowds
// neither hit nor miss.
func averagePrecision(samples []Score) float64 {
	classes := map[int]int{} // objects
	for i := range samples {
		for _, b := range samples[i].Boxes {
			if !b.Crowd {
				classes[b.Class]++
			}
		}
	}
	sum, count := 0.0, 0
	for _, class := range slices.Sorted(maps.Keys(classes)) { // one order of additions
		for step := range 10 {
			sum += precision(samples, class, classes[class], 0.5+0.05*float64(step))
			count++
		}
	}
	if count == 0 {
		return math.NaN()
	}
	return sum / float64(count)
}

// maxFound is the number of boxes of a class that count in a picture.
const maxFound = 100

// hit is a box found, in the order of scores.
type hit struct {
	score float64
	right bool
}

// precision is the interpolated precision of one class at one overlap.
func precision(samples []Score, class, objects int, overlap float64) float64 {
	var hits []hit
	for i := range samples {
		hits = append(hits, match(&samples[i], class, overlap)...)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	recall, exact := make([]float64, len(hits)), make([]float64, len(hits))
	right := 0
	for k, h := range hits {
		if h.right {
			right++
		}
		recall[k], exact[k] = float64(right)/float64(objects), float64(right)/float64(k+1)
	}
	for k := len(exact) - 2; k >= 0; k-- {
		exact[k] = max(exact[k], exact[k+1])
	}
	sum := 0.0
	for point := range 101 {
		if k, _ := slices.BinarySearch(recall, float64(point)/100-1e-12); k < len(exact) {
			sum += exact[k]
		}
	}
	return sum / 101
}

// match assigns each box found, best first, to the free object that it overlaps most.
func match(s *Score, class int, overlap float64) []hit {
	var found, objects []Box
	for _, b := range s.Found {
		if b.Class == class && !math.IsNaN(b.Score) {
			found = append(found, b)
		}
	}
	slices.SortStableFunc(found, func(a, b Box) int { return cmp.Compare(b.Score, a.Score) })
	for _, b := range s.Boxes {
		if b.Class == class {
			objects = append(objects, b)
		}
	}
	used := make([]bool, len(objects))
	var hits []hit
	for _, f := range found[:min(len(found), maxFound)] {
		best, at, crowd := overlap, -1, false
		for k, o := range objects {
			x := shared(f, o)
			switch {
			case o.Crowd:
				crowd = crowd || x >= overlap
			case !used[k] && x >= best:
				best, at = x, k
			}
		}
		if at < 0 && crowd {
			continue
		}
		if at >= 0 {
			used[at] = true
		}
		hits = append(hits, hit{f.Score, at >= 0})
	}
	return hits
}

// shared is the intersection over the union; over the found box for a crowd.
func shared(f, o Box) float64 {
	w, h := min(f.X1, o.X1)-max(f.X0, o.X0), min(f.Y1, o.Y1)-max(f.Y0, o.Y0)
	if !(w > 0 && h > 0) {
		return 0
	}
	area := func(b Box) float64 { return (b.X1 - b.X0) * (b.Y1 - b.Y0) }
	union := area(f) + area(o) - w*h
	if o.Crowd {
		union = area(f)
	}
	return w * h / union
}
