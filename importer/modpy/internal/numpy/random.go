package numpy

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/random"
	"go.starlark.net/starlark"
)

// randomState is numpy.random's RandomState.
type randomState struct{ *random.Twister }

// numpyRandom is a module or object of a random state that is seeded with 0.
func numpyRandom(name string) *builtin.Namespace {
	s := randomState{new(random.Twister)}
	s.Seed(0)
	members := starlark.StringDict{}
	for name, f := range map[string]func(*call) (starlark.Value, error){
		"seed": s.seed, "randint": s.randint,
		"uniform":       s.between("low", "high", func(x, y float64) float64 { return x + (y-x)*s.Float() }),
		"normal":        s.between("loc", "scale", func(x, y float64) float64 { return x + y*s.LegacyNormal() }),
		"random":        s.sized(s.Float),
		"random_sample": s.sized(s.Float), "standard_normal": s.sized(s.LegacyNormal),
		"rand": s.shaped(s.Float), "randn": s.shaped(s.LegacyNormal),
	} {
		members[name] = function(name, f)
	}
	if name == "numpy.random" {
		members["RandomState"] = builtin.Function("RandomState", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			r := numpyRandom("numpy.random.RandomState")
			_, err := starlark.Call(t, r.Members["seed"], args, kwargs)
			return r, err
		})
	}
	return builtin.NewNamespace(name, members)
}

// draw is an array of the given shape, drawn element by element; without one, a number.
func draw(t *starlark.Thread, size starlark.Value, d dtype, f func() float64) (starlark.Value, error) {
	if size == nil || size == starlark.None {
		return d.value(f()), nil
	}
	shape, err := builtin.Ints(t, size)
	if err != nil {
		return nil, err
	}
	a, err := newArray(t, d, shape)
	if err != nil {
		return nil, err
	}
	for i := range a.data {
		a.data[i] = f()
	}
	return a, nil
}

func (s randomState) seed(c *call) (starlark.Value, error) {
	var v int64
	if err := c.unpack("seed?", &v); err != nil {
		return nil, err
	}
	if v < 0 || v > math.MaxUint32 {
		return nil, fmt.Errorf("seed %d is not within 32 bits", v)
	}
	s.Seed(uint32(v))
	return starlark.None, nil
}

// between draws numbers by two parameters, 0 and 1 by default.
func (s randomState) between(first, second string, f func(x, y float64) float64) func(*call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		var size, a, b starlark.Value
		if err := c.unpack(first+"?", &a, second+"?", &b, "size?", &size); err != nil {
			return nil, err
		}
		x, y := 0., 1.
		if v, ok := starlark.AsFloat(a); a != nil && ok {
			x = v
		}
		if v, ok := starlark.AsFloat(b); b != nil && ok {
			y = v
		}
		return draw(c.t, size, dFloat64, func() float64 { return f(x, y) })
	}
}

// sized draws numbers of a size.
func (s randomState) sized(f func() float64) func(*call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		var size starlark.Value
		if err := c.unpack("size?", &size); err != nil {
			return nil, err
		}
		return draw(c.t, size, dFloat64, f)
	}
}

// shaped draws numbers of a size that the arguments are.
func (s randomState) shaped(f func() float64) func(*call) (starlark.Value, error) {
	return func(c *call) (starlark.Value, error) {
		if len(c.args) == 0 {
			return draw(c.t, nil, dFloat64, f)
		}
		return draw(c.t, c.args, dFloat64, f)
	}
}

// randint draws integers from low up to but not high, or from 0 up to low: words under a mask until one is small enough.
func (s randomState) randint(c *call) (starlark.Value, error) {
	var low int
	var high, size, kind starlark.Value
	if err := c.unpack("low", &low, "high?", &high, "size?", &size, "dtype?", &kind); err != nil {
		return nil, err
	}
	from, to := 0, low
	if high != nil && high != starlark.None {
		h, err := starlark.AsInt32(high)
		if err != nil {
			return nil, err
		}
		from, to = low, h
	}
	d, err := parseDtype(kind, dInt64)
	if err != nil || to <= from || to-from > math.MaxUint32 {
		return nil, fmt.Errorf("randint from %d to %d is not possible", from, to)
	}
	limit := uint32(to - from - 1)
	mask := uint32(1)<<bits.Len32(limit) - 1
	return draw(c.t, size, d, func() float64 {
		for limit > 0 {
			if v := s.Uint32() & mask; v <= limit {
				return float64(from + int(v))
			}
		}
		return float64(from)
	})
}
