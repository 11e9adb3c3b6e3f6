package detection

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
)

// peak is the maximum of a map of n by n values, refined: at the first greatest value the map is
// approximated by the quadratic function with its differences there, mirrored at the edges, and
// the result is the maximum of that function, at most 1.5 away: clipped reports that it
// is farther.
func peak(value func(y, x int) float64, n int) (x, y, score float64, clipped bool) {
	row, column := 0, 0
	for i := range n * n {
		if value(i/n, i%n) > value(row, column) {
			row, column = i/n, i%n
		}
	}
	mirrored := func(i int) int {
		switch {
		case i < 0:
			return 1
		case i == n:
			return n - 2
		}
		return i
	}
	at := func(dy, dx int) float64 { return value(mirrored(row+dy), mirrored(column+dx)) }
	slopeX, slopeY := (at(0, 1)-at(0, -1))/2, (at(1, 0)-at(-1, 0))/2
	bendX, bendY := at(0, 1)-2*at(0, 0)+at(0, -1), at(1, 0)-2*at(0, 0)+at(-1, 0)
	twist := (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / 4
	var dx, dy float64
	if det := bendX*bendY - twist*twist; det != 0 { // solve the gradient for 0
		dx, dy = (twist*slopeY-bendY*slopeX)/det, (twist*slopeX-bendX*slopeY)/det
	}
	if far := max(math.Abs(dx), math.Abs(dy)); far > 1.5 {
		dx, dy, clipped = dx*1.5/far, dy*1.5/far, true
	}
	score = at(0, 0) + slopeX*dx + slopeY*dy + (bendX*dx*dx+2*twist*dx*dy+bendY*dy*dy)/2
	return float64(column) + dx, float64(row) + dy, score, clipped
}

// TestHeatmap finds the points of random maps on two threads: rough ones, smooth ones whose
// maximum is far from the greatest value, and constant ones, small and large.
func TestHeatmap(t *testing.T) {
	const n, points = 9, 3
	r := rand.New(rand.NewPCG(13, 43))
	refined, whole, far := 0, 0, 0
	for _, size := range []int{2, 3, 5, 14} {
		maps, where := make([]byte, n*size*size*points), randomBoxes(r, n)
		for i := range maps {
			switch box := i / (size * size * points); box % 3 {
			case 0:
				maps[i] = byte(r.Uint32())
			case 1:
				maps[i] = byte(100 + r.IntN(3))
			default:
				maps[i] = byte(40 * box)
			}
		}
		if size > 3 { // in each smooth map a ridge, whose top is 2 away from its greatest value
			for box := 1; box < n; box += 3 {
				for i, v := range []byte{102, 102, 101, 102, 103, 103, 101, 103, 103} {
					maps[(box*size*size+(1+i/3)*size+1+i%3)*points] = v
				}
			}
		}
		k := Heatmap{Size: size, Points: points, Box: boxes, Score: scores, At: boxes}
		b := hvxtest.New(t)
		outScores, outPoints, bad := b.Alloc(n*points), b.Alloc(4*n*points), b.Alloc(4)
		block := b.Words(b.Load(maps), b.Load(halfwords(where)), outScores, outPoints, bad, b.Words(scores.Floats()...))
		b.Run(k, []uint32{block, 0, n / 2, b.Alloc(4 * HeatFrame)}, []uint32{block, n / 2, n, b.Alloc(4 * HeatFrame)})
		if b.Bytes(bad, 1)[0] != 0 {
			t.Errorf("%d: a fault was reported", size)
		}
		gotScores, gotPoints := b.Bytes(outScores, n*points), b.Bytes(outPoints, 4*n*points)
		for i := range n * points {
			value := func(y, x int) float64 {
				return float64(real(scores, int(maps[(i/points*size*size+y*size+x)*points+i%points])))
			}
			x, y, score, clipped := peak(value, size)
			box := boxAt(where, i/points)
			if got := int(gotScores[i]); !nearest(got, score/float64(scores.Scale), scores.Hi) {
				t.Errorf("%dx%d, point %d has score %d, want %v", size, size, i, got, score/float64(scores.Scale))
			}
			for axis, at := range [2]float64{x, y} {
				want := float64(box[axis]) + (at+0.5)/float64(size)*float64(box[2+axis]-box[axis])
				got := int(binary.LittleEndian.Uint16(gotPoints[4*i+2*axis:]))
				if !nearest(got, want/float64(boxes.Scale), boxes.Hi) {
					t.Errorf("%dx%d, point %d is at %d on axis %d, want %v", size, size, i, got, axis, want/float64(boxes.Scale))
				}
			}
			switch {
			case clipped:
				far++
			case x == math.Round(x) && y == math.Round(y):
				whole++
			default:
				refined++
			}
		}
		where[4*7], where[4*7+2] = 500, 400
		b = hvxtest.New(t)
		bad = b.Alloc(4)
		block = b.Words(b.Load(maps), b.Load(halfwords(where)), b.Alloc(n*points), b.Alloc(4*n*points), bad, b.Words(scores.Floats()...))
		if b.Run(k, []uint32{block, 0, n, b.Alloc(4 * HeatFrame)}); b.Bytes(bad, 1)[0] == 0 {
			t.Error("a box upside down was not reported")
		}
	}
	if min(refined, whole, far) < 4 {
		t.Errorf("%d refined maxima, %d that stay and %d that are too far: some of each are needed", refined, whole, far)
	}
}

// nearest reports whether got is what v is rounded to, at least 0 and at most hi, when v is
// computed to more bits than got was.
func nearest(got int, v float64, hi int32) bool {
	v = min(max(v, 0), float64(hi))
	return math.Abs(float64(got)-v) <= 0.5+1e-3*max(1, math.Abs(v)*1e-3)
}
