package randgraph

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// FuzzRecipe: any list of decisions yields nothing, or a legal case that runs on the reference and reproduces itself.
// The shrinker relies on it.
func FuzzRecipe(f *testing.F) {
	list := Variants()
	for i := range list {
		f.Add(uint16(i), uint16(i+7), []byte{0, 1, 2, 3, 40, 99, 99, 5, 6, 99, 255, 1, 99, 3, 17, 99, 99, 2}, true)
	}
	f.Fuzz(func(t *testing.T, first, second uint16, choices []byte, two bool) {
		r := recipe{table: Standard(), kind: &kinds[2]}
		at := 0
		for k, v := range []uint16{first, second} {
			if k == 1 && !two {
				break
			}
			s := slot{variant: list[int(v)%len(list)]}
			for ; at < len(choices) && len(s.choices) < 64; at++ {
				x := uint32(choices[at])
				if x > 128 { // large values for seeds
					x <<= 8 * (x % 4)
				}
				s.choices = append(s.choices, x)
			}
			r.slots = append(r.slots, s)
		}
		c := r.build()
		if c == nil {
			return
		}
		require.V(reference(c))(t, c.Variants)
		again := c.recipe.build()
		if again == nil || len(again.Inputs) != len(c.Inputs) || again.recipe.weight() != c.recipe.weight() {
			t.Fatalf("%v: the recipe gives another case", c.Variants)
		}
	})
}
