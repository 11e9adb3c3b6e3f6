package hostop

import (
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
)

// mathOperators compute functions of reals. Two inputs broadcast.
var mathOperators = []operator{
	{op: nn.OpHostAtan2, steps: 16, run: atan2},                     // y, x: the angle of (x, y)
	{op: nn.OpHostDeterminant, unpriced: true, run: determinantsOf}, // matrices [.., n, n]
}

func atan2(c *call) []tensor {
	a, b := c.tensor(0), c.tensor(1)
	dims := broadcast(a.dims, b.dims)
	y := c.make(a, dims)
	from, to := aligned(a.dims, dims), aligned(b.dims, dims)
	each(dims, func(i int, at []int) {
		y.putNumber(i, math.Atan2(a.number(offset(at, from)), b.number(offset(at, to))))
	})
	return []tensor{y}
}

func determinantsOf(c *call) []tensor {
	x := c.tensor(0)
	rank := len(x.dims)
	if rank < 2 || x.dims[rank-1] != x.dims[rank-2] {
		fail("matrices of shape %v, they must be square", x.dims)
	}
	n := int(x.dims[rank-1])
	y := c.make(x, x.dims[:rank-2])
	c.chargeTimes(y.n(), float64(n)*float64(n)*float64(n))
	try.E(c.x.Charge(0, 8*int64(n)*int64(n)))
	m := make([]float64, n*n)
	for k := range y.n() {
		for i := range m {
			m[i] = x.number(k*n*n + i)
		}
		y.putNumber(k, determinant(m, n))
	}
	return []tensor{y}
}

// determinant is the product of the pivots of Gaussian elimination, each the greatest of its column. It destroys m.
func determinant(m []float64, n int) float64 {
	product := 1.0
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if math.Abs(m[i*n+k]) > math.Abs(m[pivot*n+k]) {
				pivot = i
			}
		}
		if pivot != k {
			product = -product
			for j := k; j < n; j++ {
				m[k*n+j], m[pivot*n+j] = m[pivot*n+j], m[k*n+j]
			}
		}
		product *= m[k*n+k]
		if m[k*n+k] == 0 {
			return product
		}
		for i := k + 1; i < n; i++ {
			factor := m[i*n+k] / m[k*n+k]
			for j := k + 1; j < n; j++ {
				m[i*n+j] -= float64(factor * m[k*n+j])
			}
		}
	}
	return product
}
