package numpy

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/random"
	"go.starlark.net/starlark"
)

// numpyRandom is numpy.random's RandomState, seeded with 0.
func numpyRandom(name string) *builtin.Namespace {
	m := new(random.Twister)
	m.Seed(0)
	members := starlark.StringDict{}
	draw := func(t *starlark.Thread, size starlark.Value, d dtype, f func() float64) (starlark.Value, error) {
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
	def := func(name string, f func(c *call) (starlark.Value, error)) {
		members[name] = builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(&call{t, name, args, kwargs})
		})
	}
	def("seed", func(c *call) (starlark.Value, error) {
		var s int64
		if err := c.unpack("seed?", &s); err != nil {
			return nil, err
		}
		if s < 0 || s > math.MaxUint32 {
			return nil, fmt.Errorf("seed %d is not within 32 bits", s)
		}
		m.Seed(uint32(s))
		return starlark.None, nil
	})
	floats := func(name string, f func(x, y float64) float64, x, y float64, kx, ky string) {
		def(name, func(c *call) (starlark.Value, error) {
			var size, a, b starlark.Value
			if err := c.unpack(kx+"?", &a, ky+"?", &b, "size?", &size); err != nil {
				return nil, err
			}
			p, q := x, y
			if v, ok := starlark.AsFloat(a); a != nil && ok {
				p = v
			}
			if v, ok := starlark.AsFloat(b); b != nil && ok {
				q = v
			}
			return draw(c.t, size, dFloat64, func() float64 { return f(p, q) })
		})
	}
	floats("uniform", func(x, y float64) float64 { return x + (y-x)*m.Float() }, 0, 1, "low", "high")
	floats("normal", func(x, y float64) float64 { return x + y*m.LegacyNormal() }, 0, 1, "loc", "scale")
	for name, f := range map[string]func() float64{
		"random": m.Float, "random_sample": m.Float, "standard_normal": m.LegacyNormal,
	} {
		def(name, func(c *call) (starlark.Value, error) {
			var size starlark.Value
			if err := c.unpack("size?", &size); err != nil {
				return nil, err
			}
			return draw(c.t, size, dFloat64, f)
		})
	}
	for name, f := range map[string]func() float64{"rand": m.Float, "randn": m.LegacyNormal} {
		def(name, func(c *call) (starlark.Value, error) {
			if len(c.args) == 0 {
				return draw(c.t, nil, dFloat64, f)
			}
			return draw(c.t, c.args, dFloat64, f)
		})
	}
	def("randint", func(c *call) (starlark.Value, error) {
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
		mask := limit
		for _, s := range []int{1, 2, 4, 8, 16} {
			mask |= mask >> s
		}
		return draw(c.t, size, d, func() float64 {
			for limit > 0 {
				if v := m.Uint32() & mask; v <= limit {
					return float64(from + int(v))
				}
			}
			return float64(from)
		})
	})
	if name == "numpy.random" {
		members["RandomState"] = builtin.Function("RandomState", func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			r := numpyRandom("numpy.random.RandomState")
			_, err := starlark.Call(t, r.Members["seed"], args, kwargs)
			return r, err
		})
	}
	return builtin.NewNamespace(name, members)
}
