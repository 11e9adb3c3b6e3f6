package kernel

import "math"

// Exp is e^x. math.Exp is written in assembly on some processors and may be fused on others; this one rounds every
// step, so that all hosts compute the same bits. Its error is below 2 ulp.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	const (
		ln2Hi = 6.93147180369123816490e-01 // the upper bits: k*ln2Hi is exact
		ln2Lo = 1.90821492927058770002e-10
	)
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	// Even and odd terms apart: two short chains instead of a long one.
	r2 := r * r
	even, odd := inverseFactorials[12], inverseFactorials[13]
	for i := 10; i >= 0; i -= 2 {
		even = float64(even*r2) + inverseFactorials[i]
		odd = float64(odd*r2) + inverseFactorials[i+1]
	}
	p := even + float64(odd*r)
	if k > -1000 && k < 1000 {
		return p * math.Float64frombits(uint64(1023+int(k))<<52)
	}
	return math.Ldexp(p, int(k))
}

// inverseFactorials are 1/0! to 1/13!: the Taylor series to 4e-18 for |r| <= ln(2)/2.
var inverseFactorials = [...]float64{
	1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800,
	1. / 39916800, 1. / 479001600, 1. / 6227020800,
}
