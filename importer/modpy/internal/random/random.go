// Package random is Python's random, and the generator that NumPy has too.
package random

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"go.starlark.net/starlark"
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

// seedValue seeds as random.seed does: integers by their magnitude.
func (m *Twister) seedValue(v starlark.Value) error {
	i, ok := builtin.FromBool(v).(starlark.Int)
	if v == starlark.None {
		i, ok = starlark.MakeInt(0), true // runs are reproducible
	}
	if !ok {
		return fmt.Errorf("a seed is an int, not a %s", v.Type())
	}
	b := new(big.Int).Abs(i.BigInt())
	var key []uint32
	mask := big.NewInt(math.MaxUint32)
	for b.Sign() > 0 {
		key = append(key, uint32(new(big.Int).And(b, mask).Uint64()))
		b.Rsh(b, 32)
	}
	if key == nil {
		key = []uint32{0}
	}
	m.seedKey(key)
	return nil
}

// Module is Python's random.
func Module() *builtin.Namespace {
	shared := randomObject("random")
	shared.Members["Random"] = builtin.Function("Random", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := builtin.Arity("Random", args, kwargs, 0, 1); err != nil {
			return nil, err
		}
		r := randomObject("random.Random")
		_, err := starlark.Call(t, r.Members["seed"], args, nil)
		return r, err
	})
	return shared
}

// randomObject is a random.Random, seeded with 0.
func randomObject(name string) *builtin.Namespace {
	m := new(Twister)
	m.seedKey([]uint32{0})
	members := starlark.StringDict{}
	def := func(name string, low, high int, f func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error)) {
		members[name] = builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := builtin.Arity(name, args, kwargs, low, high); err != nil {
				return nil, err
			}
			return f(t, args)
		})
	}
	def("seed", 0, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		if len(a) == 0 {
			a = starlark.Tuple{starlark.None}
		}
		return starlark.None, m.seedValue(a[0])
	})
	def("random", 0, 0, func(*starlark.Thread, starlark.Tuple) (starlark.Value, error) {
		return starlark.Float(m.Float()), nil
	})
	def("getrandbits", 1, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		k, err := starlark.AsInt32(a[0])
		if err != nil || k < 0 || k > builtin.MaxBits {
			return nil, fmt.Errorf("getrandbits takes 0 to %d", builtin.MaxBits)
		}
		return starlark.MakeBigInt(m.bits(k)), nil
	})
	pair := func(a starlark.Tuple) (x, y float64, err error) {
		x, ok1 := starlark.AsFloat(a[0])
		y, ok2 := starlark.AsFloat(a[1])
		if !ok1 || !ok2 {
			err = errors.New("numbers are needed")
		}
		return x, y, err
	}
	def("uniform", 2, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		x, y, err := pair(a)
		return starlark.Float(x + (y-x)*m.Float()), err
	})
	def("gauss", 2, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		x, y, err := pair(a)
		return starlark.Float(x + m.normal()*y), err
	})
	span := func(from, to, step int64) (starlark.Value, error) {
		if step < 1 || to <= from || to-from < 0 {
			return nil, fmt.Errorf("range from %d to %d is empty or too wide", from, to)
		}
		return starlark.MakeInt64(from + step*m.below((to-from+step-1)/step)), nil
	}
	ints := func(a starlark.Tuple) ([]int64, error) {
		out := make([]int64, len(a))
		for i, v := range a {
			n, ok := builtin.FromBool(v).(starlark.Int)
			x, small := n.Int64()
			if !ok || !small || x > math.MaxInt64/4 || x < math.MinInt64/4 {
				return nil, fmt.Errorf("argument %d is no int within 62 bits", i)
			}
			out[i] = x
		}
		return out, nil
	}
	def("randint", 2, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		v, err := ints(a)
		if err != nil {
			return nil, err
		}
		return span(v[0], v[1]+1, 1)
	})
	def("randrange", 1, 3, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		v, err := ints(a)
		if err != nil {
			return nil, err
		}
		switch len(v) {
		case 1:
			return span(0, v[0], 1)
		case 2:
			return span(v[0], v[1], 1)
		}
		return span(v[0], v[1], v[2])
	})
	def("choice", 1, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		e, err := builtin.Elements(t, a[0])
		if err == nil && len(e) == 0 {
			err = errors.New("choice of nothing")
		}
		if err != nil {
			return nil, err
		}
		return e[m.below(int64(len(e)))], nil
	})
	def("shuffle", 1, 1, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		l, ok := a[0].(*starlark.List)
		if !ok {
			return nil, errors.New("shuffle needs a list")
		}
		if err := builtin.Charge(t, l.Len()); err != nil {
			return nil, err
		}
		for i := l.Len() - 1; i > 0; i-- {
			j := int(m.below(int64(i + 1)))
			x, y := l.Index(i), l.Index(j)
			if err := l.SetIndex(i, y); err != nil {
				return nil, err
			}
			if err := l.SetIndex(j, x); err != nil {
				return nil, err
			}
		}
		return starlark.None, nil
	})
	def("sample", 2, 2, func(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		e, err := builtin.Elements(t, a[0])
		if err != nil {
			return nil, err
		}
		k, err := starlark.AsInt32(a[1])
		if err != nil || k < 0 || k > len(e) {
			return nil, errors.New("sample is larger than the population")
		}
		return starlark.NewList(m.sample(e, k)), nil
	})
	return builtin.NewNamespace(name, members)
}

// sample draws k of e without repetition, by a pool or, for few of many, by
// remembering what was drawn, with CPython's threshold.
func (m *Twister) sample(e []starlark.Value, k int) []starlark.Value {
	n := len(e)
	limit := 21
	if k > 5 {
		limit += 1 << (2 * int(math.Ceil(math.Log(float64(3*k))/math.Log(4))))
	}
	out := make([]starlark.Value, k)
	if n <= limit {
		pool := append([]starlark.Value(nil), e...)
		for i := range out {
			j := m.below(int64(n - i))
			out[i] = pool[j]
			pool[j] = pool[n-i-1]
		}
		return out
	}
	seen := map[int64]bool{}
	for i := range out {
		j := m.below(int64(n))
		for seen[j] {
			j = m.below(int64(n))
		}
		seen[j] = true
		out[i] = e[j]
	}
	return out
}
