package random

import (
	"math"
	"math/big"
	"math/bits"
)

// Twister is the MT19937 generator of Matsumoto and Nishimura, seeded and read
// as CPython's random and NumPy's RandomState do, so that a specification that
// draws its data gets the same numbers.
type Twister struct {
	state [624]uint32
	next  int
	spare float64 // the second of a pair of normal deviates
	has   bool
}

// Seed is the reference init_genrand.
func (m *Twister) Seed(s uint32) {
	m.state[0] = s
	for i := 1; i < len(m.state); i++ {
		p := m.state[i-1]
		m.state[i] = 1812433253*(p^p>>30) + uint32(i)
	}
	m.next, m.has = len(m.state), false
}

// seedKey is the reference init_by_array.
func (m *Twister) seedKey(key []uint32) {
	m.Seed(19650218)
	n := len(m.state)
	i, j := 1, 0
	for range max(n, len(key)) {
		p := m.state[i-1]
		m.state[i] = (m.state[i] ^ (p^p>>30)*1664525) + key[j] + uint32(j)
		if i++; i == n {
			m.state[0], i = m.state[n-1], 1
		}
		if j++; j == len(key) {
			j = 0
		}
	}
	for range n - 1 {
		p := m.state[i-1]
		m.state[i] = (m.state[i] ^ (p^p>>30)*1566083941) - uint32(i)
		if i++; i == n {
			m.state[0], i = m.state[n-1], 1
		}
	}
	m.state[0] = 1 << 31
}

func (m *Twister) Uint32() uint32 {
	const n, half = 624, 397
	if m.next >= n {
		for i := range n {
			y := m.state[i]&(1<<31) | m.state[(i+1)%n]&(1<<31-1)
			m.state[i] = m.state[(i+half)%n] ^ y>>1 ^ (y&1)*0x9908b0df
		}
		m.next = 0
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Float is in [0, 1) with 53 random bits.
func (m *Twister) Float() float64 {
	a, b := m.Uint32()>>5, m.Uint32()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// bits gives k random bits, low words first, as CPython's getrandbits.
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

// legacyNormal is NumPy's RandomState gauss: the polar method.
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
