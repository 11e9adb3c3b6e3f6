package random

import (
	"math"
	"math/big"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Twister is the MT19937 generator, seeded and read as CPython's random and
// NumPy's RandomState do, so that a specification that draws its data gets the
// same numbers.
type Twister struct {
	prng.MT19937
	spare float64 // the second of a pair of normal deviates
	has   bool
}

// Seed is the reference init_genrand, as NumPy seeds.
func (m *Twister) Seed(s uint32) {
	m.MT19937.Seed(uint64(s))
	m.has = false
}

// seedKey is the reference init_by_array, as CPython seeds.
func (m *Twister) seedKey(key []uint32) {
	m.SeedFromKeys(key)
	m.has = false
}

// Float is in [0, 1) with 53 random bits.
func (m *Twister) Float() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// bits returns k random bits, low words first, as CPython's getrandbits.
func (m *Twister) bits(k int) *big.Int {
	v := new(big.Int)
	for at := 0; at < k; at += 32 {
		w := m.Uint32()
		if rest := k - at; rest < 32 {
			w >>= 32 - rest
		}
		v.Or(v, new(big.Int).Lsh(big.NewInt(int64(w)), uint(at)))
	}
	return v
}

// below is CPython's _randbelow: rejection on the bits of n.
func (m *Twister) below(n int64) int64 {
	k := bits.Len64(uint64(n))
	for {
		if v := m.bits(k).Int64(); v < n {
			return v
		}
	}
}

// normal is CPython's gauss.
func (m *Twister) normal() float64 {
	if m.has {
		m.has = false
		return m.spare
	}
	angle := m.Float() * 2 * math.Pi
	radius := math.Sqrt(-2 * math.Log(1-m.Float()))
	m.spare, m.has = math.Sin(angle)*radius, true
	return math.Cos(angle) * radius
}

// LegacyNormal is NumPy's RandomState gauss: the polar method.
func (m *Twister) LegacyNormal() float64 {
	if m.has {
		m.has = false
		return m.spare
	}
	for {
		x, y := 2*m.Float()-1, 2*m.Float()-1
		if r := x*x + y*y; r < 1 && r != 0 {
			f := math.Sqrt(-2 * math.Log(r) / r)
			m.spare, m.has = f*x, true
			return f * y
		}
	}
}
