package soc

import (
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/internal/limittest"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestLimits holds, for every number that a preset writes and that may not go as far as its range, from where to where
// it may go while all others stay.
func TestLimits(t *testing.T) {
	for _, name := range []string{"pixel4", "xclipse920", "ethos-u65-512"} {
		keys := require.V(Keys(name))(t)
		s := require.V(open(name))(t)
		c := require.V(decode(s.file, s.data))(t)
		pos := require.V(positions(s.data))(t)
		lines := []string{}
		for _, key := range keys {
			f := require.V(find(reflect.ValueOf(c).Elem(), key.Path))(t)
			accepts := func(x float64) bool {
				if x < key.Lo || x > key.Hi {
					return false
				}
				v := reflect.New(f.v.Type()).Elem()
				if key.Integer {
					v.SetInt(int64(x))
				} else {
					v.SetFloat(x)
				}
				before := reflect.New(f.v.Type()).Elem()
				before.Set(f.v)
				f.store(v)
				defer f.store(before)
				k := checker{file: s.file, pos: pos}
				k.combinations(c)
				return k.err() == nil
			}
			if accepts(key.Lo) && accepts(key.Hi) {
				continue
			}
			least, most := limittest.Bounds(key.Value, key.Integer, accepts)
			lines = append(lines, limittest.Line(key.Path, least, most))
		}
		if len(lines) < 20 {
			t.Errorf("%s: %d numbers only that cannot go as far as their range", name, len(lines))
		}
		limittest.Check(t, name+"_limits.txt", lines)
	}
}
