package exec

import (
	"math"
	"math/big"
	"sync"
)

// twoOverPi is 2/pi in fixed point, its first bit worth 1/2: the table of v_trig_preop_f64.
var twoOverPi = sync.OnceValue(func() *big.Int {
	// Machin: pi/4 = 4 atan(1/5) - atan(1/239).
	const guard = 64
	one := new(big.Int).Lsh(big.NewInt(1), twoOverPiBits+guard)
	atan := func(n int64) *big.Int {
		sum, term := new(big.Int), new(big.Int).Quo(one, big.NewInt(n))
		for k := int64(1); term.Sign() != 0; k += 2 {
			sum.Add(sum, new(big.Int).Quo(term, big.NewInt(k)))
			term.Quo(term, big.NewInt(-n*n))
		}
		return sum
	}
	quarter := atan(5)
	quarter.Sub(quarter.Lsh(quarter, 2), atan(239))
	// 2/pi = (1/2) / (pi/4).
	half := new(big.Int).Lsh(one, twoOverPiBits-1)
	return half.Quo(half, quarter)
})

const twoOverPiBits = 1201

// trigPreop is the segment of 2/pi that the reduction of a double by pi/2 needs: 53 bits from 53 times the segment on,
// and further where the double is so large that the bits before give whole turns. Those for the largest doubles are
// scaled by 2^128.
func trigPreop(double uint64, segment uint) float64 {
	const whole, large = 1077, 1968 // exponents
	shift, exponent := 53*int(segment&31), int(double>>52&0x7FF)
	shift += max(exponent-whole, 0)
	scale := -53 - shift
	if exponent >= large {
		scale += 128
	}
	// A segment that begins before the end of the table has zeros behind it.
	bits := new(big.Int).Lsh(twoOverPi(), uint(shift))
	bits.Rsh(bits, twoOverPiBits-53)
	return math.Ldexp(float64(bits.Uint64()&(1<<53-1)), scale)
}
