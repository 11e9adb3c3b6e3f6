package language

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/internal/try"
)

// itertoolsModule is itertools, whose iterators are lists.
func itertoolsModule() *builtin.Namespace {
	return builtin.NewNamespace("itertools", starlark.StringDict{
		"product": builtin.Function("product", iterProduct), "chain": builtin.Function("chain", unpacked),
		"permutations": choices("permutations", true), "combinations": choices("combinations", false),
	})
}

// iterProduct lists the tuples with an element of each iterable, the last changing fastest.
func iterProduct(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	repeat := 1
	try.E(starlark.UnpackArgs("product", nil, kwargs, "repeat?", &repeat))
	if repeat < 0 || repeat*len(args) > 64 {
		return nil, errors.New("product of more than 64 iterables")
	}
	one := make([][]starlark.Value, len(args))
	for i, a := range args {
		one[i] = try.V(builtin.Elements(t, a))
	}
	out := []starlark.Value{starlark.Tuple{}}
	for i := range repeat * len(one) {
		pool := one[i%len(one)]
		try.E(builtin.Charge(t, len(out)*len(pool)))
		next := make([]starlark.Value, 0, len(out)*len(pool))
		for _, head := range out {
			for _, v := range pool {
				h := head.(starlark.Tuple)
				next = append(next, append(h[:len(h):len(h)], v))
			}
		}
		out = next
	}
	return starlark.NewList(out), nil
}

// choices lists tuples of r different elements, in every order or in that of the iterable.
func choices(name string, ordered bool) *starlark.Builtin {
	return builtin.Function(name, func(t *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var x starlark.Value
		r := -1
		try.E(starlark.UnpackArgs(name, args, kwargs, "iterable", &x, "r?", &r))
		pool := try.V(builtin.Elements(t, x))
		if r < 0 {
			r = len(pool)
		}
		if r > 64 {
			return nil, fmt.Errorf("%s of %d elements", name, r)
		}
		c := chooser{t: t, pool: pool, used: make([]bool, len(pool)), r: r, ordered: ordered}
		err := c.pick(nil, 0)
		return starlark.NewList(c.out), err
	})
}

// chooser collects the choices of r elements of a pool.
type chooser struct {
	t       *starlark.Thread
	pool    []starlark.Value
	used    []bool
	r       int
	ordered bool
	out     []starlark.Value
}

// pick completes the choices that begin with head, by elements from a given one on.
func (c *chooser) pick(head starlark.Tuple, from int) error {
	if len(head) == c.r {
		c.out = append(c.out, append(starlark.Tuple(nil), head...))
		return builtin.Charge(c.t, c.r+1)
	}
	for i := from; i < len(c.pool); i++ {
		if c.used[i] {
			continue
		}
		if err := builtin.Charge(c.t, 1); err != nil {
			return err
		}
		c.used[i] = true
		next := i + 1
		if c.ordered {
			next = 0
		}
		if err := c.pick(append(head, c.pool[i]), next); err != nil {
			return err
		}
		c.used[i] = false
	}
	return nil
}
