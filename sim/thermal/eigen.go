package thermal

import "math"

// eigen returns the eigenvalues of a symmetric matrix, and eigenvectors of length 1,
// by Jacobi's method: rotations in the plane of two coordinates, each of which makes the
// element of the two zero, until all outside the diagonal are. It changes a.
func eigen(a [][]float64) (values []float64, vectors [][]float64) {
	n := len(a)
	vectors = make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, n)
		vectors[i][i] = 1
	}
	const sweeps = 60 // it converges quadratically: six or seven are enough
	for range sweeps {
		rest, size := 0.0, 0.0
		for p := range n {
			for q := range n {
				if size += a[p][q] * a[p][q]; p != q {
					rest += a[p][q] * a[p][q]
				}
			}
		}
		if rest <= size*1e-30 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				if a[p][q] != 0 {
					rotate(a, vectors, p, q)
				}
			}
		}
	}
	values = make([]float64, n)
	for i := range values {
		values[i] = a[i][i]
	}
	return values, vectors
}

// rotate makes a[p][q] zero. Conversions keep the compiler from fusing multiply and add, which would change the last
// bits on machines that have the instruction.
func rotate(a, vectors [][]float64, p, q int) {
	theta := (a[q][q] - a[p][p]) / (2 * a[p][q])
	t := 1 / (math.Abs(theta) + math.Sqrt(float64(theta*theta)+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(float64(t*t)+1)
	s := t * c
	turn := func(x, y float64) (float64, float64) {
		return float64(c*x) - float64(s*y), float64(s*x) + float64(c*y)
	}
	for i := range a {
		a[i][p], a[i][q] = turn(a[i][p], a[i][q])
	}
	for i := range a {
		a[p][i], a[q][i] = turn(a[p][i], a[q][i])
	}
	for i := range a {
		vectors[p][i], vectors[q][i] = turn(vectors[p][i], vectors[q][i])
	}
}
