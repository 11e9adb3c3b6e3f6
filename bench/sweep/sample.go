package sweep

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nnsoc/nnsoc/sim/soc"
)

// Sample plans n points of a Latin hypercube: each axis is cut into n strata of equal size, each of which holds one
// sample, at a random place of it (McKay, Beckman and Conover 1979). Each value of an axis with values occurs as often
// as any other, but for the rest of n. The same seed draws the same points.
func Sample(models, devices []string, axes []*Axis, n int, seed uint64) (*Plan, error) {
	if n < 1 || n > maxPoints {
		return nil, fmt.Errorf("%d samples, want 1 to %d", n, maxPoints)
	}
	if len(axes) == 0 {
		return nil, errors.New("samples of nothing: no key varies")
	}
	p := &Plan{}
	var err error
	if p.Keys, err = keys(axes); err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15))
	sets := make([][]soc.Change, n)
	for _, a := range axes {
		for i, stratum := range random.Perm(n) {
			var v string
			if a.Values == nil {
				v = a.at(a.Lo + (a.Hi-a.Lo)*(float64(stratum)+random.Float64())/float64(n))
			} else {
				v = a.Values[stratum*len(a.Values)/n]
			}
			sets[i] = slices.Concat(sets[i], a.changes(v))
		}
	}
	return p, p.spread(models, devices, sets)
}
