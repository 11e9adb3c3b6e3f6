// Package random is Python's random, and the generator that NumPy has too.
package random

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

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

// functions are the methods of a random.Random, with the least and most arguments.
var functions = map[string]struct {
	low, high int
	of        func(m *Twister, t *starlark.Thread, a starlark.Tuple) (starlark.Value, error)
}{
	"seed": {0, 1, (*Twister).seedCall},
	"random": {0, 0, func(m *Twister, _ *starlark.Thread, _ starlark.Tuple) (starlark.Value, error) {
		return starlark.Float(m.Float()), nil
	}},
	"getrandbits": {1, 1, (*Twister).getrandbits},
	"uniform":     {2, 2, pair(func(m *Twister, x, y float64) float64 { return x + (y-x)*m.Float() })},
	"gauss":       {2, 2, pair(func(m *Twister, x, y float64) float64 { return x + m.normal()*y })},
	"randint":     {2, 2, integers(func(v []int64) (from, to, step int64) { return v[0], v[1] + 1, 1 })},
	"randrange": {1, 3, integers(func(v []int64) (from, to, step int64) {
		switch len(v) {
		case 1:
			return 0, v[0], 1
		case 2:
			return v[0], v[1], 1
		}
		return v[0], v[1], v[2]
	})},
	"choice":  {1, 1, (*Twister).choice},
	"shuffle": {1, 1, (*Twister).shuffle},
	"sample":  {2, 2, (*Twister).sampleCall},
}

// randomObject is a random.Random, seeded with 0.
func randomObject(name string) *builtin.Namespace {
	m := new(Twister)
	m.seedKey([]uint32{0})
	members := starlark.StringDict{}
	for name, f := range functions {
		members[name] = builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			try.E(builtin.Arity(name, args, kwargs, f.low, f.high))
			return f.of(m, t, args)
		})
	}
	return builtin.NewNamespace(name, members)
}

func (m *Twister) seedCall(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	if len(a) == 0 {
		a = starlark.Tuple{starlark.None}
	}
	return starlark.None, m.seedValue(a[0])
}

func (m *Twister) getrandbits(_ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	k, err := starlark.AsInt32(a[0])
	if err != nil || k < 0 || k > builtin.MaxBits {
		return nil, fmt.Errorf("getrandbits takes 0 to %d", builtin.MaxBits)
	}
	return starlark.MakeBigInt(m.bits(k)), nil
}

// pair is a function of two numbers.
func pair(f func(m *Twister, x, y float64) float64) func(*Twister, *starlark.Thread, starlark.Tuple) (starlark.Value, error) {
	return func(m *Twister, _ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		x, ok1 := starlark.AsFloat(a[0])
		y, ok2 := starlark.AsFloat(a[1])
		if !ok1 || !ok2 {
			return nil, errors.New("numbers are needed")
		}
		return starlark.Float(f(m, x, y)), nil
	}
}

// integers draws one of a range that depends on the arguments.
func integers(span func(v []int64) (from, to, step int64)) func(*Twister, *starlark.Thread, starlark.Tuple) (starlark.Value, error) {
	return func(m *Twister, _ *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
		v := make([]int64, len(a))
		for i, x := range a {
			n, ok := builtin.FromBool(x).(starlark.Int)
			k, small := n.Int64()
			if !ok || !small || k > math.MaxInt64/4 || k < math.MinInt64/4 {
				return nil, fmt.Errorf("argument %d is no int within 62 bits", i)
			}
			v[i] = k
		}
		from, to, step := span(v)
		if step < 1 || to <= from || to-from < 0 {
			return nil, fmt.Errorf("range from %d to %d is empty or too wide", from, to)
		}
		return starlark.MakeInt64(from + step*m.below((to-from+step-1)/step)), nil
	}
}

func (m *Twister) choice(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	e, err := builtin.Elements(t, a[0])
	if err == nil && len(e) == 0 {
		err = errors.New("choice of nothing")
	}
	if err != nil {
		return nil, err
	}
	return e[m.below(int64(len(e)))], nil
}

func (m *Twister) shuffle(t *starlark.Thread, a starlark.Tuple) (_ starlark.Value, err error) {
	defer try.Catch(&err)
	l, ok := a[0].(*starlark.List)
	if !ok {
		return nil, errors.New("shuffle needs a list")
	}
	try.E(builtin.Charge(t, l.Len()))
	for i := l.Len() - 1; i > 0; i-- {
		j := int(m.below(int64(i + 1)))
		x, y := l.Index(i), l.Index(j)
		try.E(l.SetIndex(i, y))
		try.E(l.SetIndex(j, x))
	}
	return starlark.None, nil
}

func (m *Twister) sampleCall(t *starlark.Thread, a starlark.Tuple) (starlark.Value, error) {
	e := try.V(builtin.Elements(t, a[0]))
	k, err := starlark.AsInt32(a[1])
	if err != nil || k < 0 || k > len(e) {
		return nil, errors.New("sample is larger than the population")
	}
	return starlark.NewList(m.sample(e, k)), nil
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
