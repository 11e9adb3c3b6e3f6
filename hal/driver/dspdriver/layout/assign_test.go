package layout

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAssign compares the choice with that of all assignments, for random chains, trees and joins.
func TestAssign(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		n := 1 + r.IntN(7)
		values := make([][]Form, n)
		for v := range values {
			values[v] = []Form{Usual, Small, Plain}[:1+r.IntN(3)]
		}
		var factors []Factor
		costs := map[[4]int]int{}
		for f := range 1 + r.IntN(8) {
			k := min(1+r.IntN(3), n)
			list := r.Perm(n)[:k]
			slices.Sort(list)
			factors = append(factors, Factor{list, func(forms []Form) int {
				key := [4]int{f}
				for i, x := range forms {
					key[i+1] = int(x)
				}
				if _, ok := costs[key]; !ok {
					costs[key] = r.IntN(100)
					if r.IntN(6) == 0 && slices.Max(forms) > Usual {
						costs[key] = Impossible
					}
				}
				return costs[key]
			}})
		}
		sum := func(forms []Form) (sum int) {
			for _, f := range factors {
				own := make([]Form, len(f.Values))
				for i, v := range f.Values {
					own[i] = forms[v]
				}
				sum = min(sum+f.Cost(own), Impossible)
			}
			return sum
		}
		a := Assign(values, factors)
		got := sum(a.Forms)
		want := make([][]int, n)
		for v := range want {
			for range values[v] {
				want[v] = append(want[v], Impossible)
			}
		}
		forms := make([]Form, n)
		var all func(v int)
		all = func(v int) {
			if v == n {
				c := sum(forms)
				for x := range want {
					k := slices.Index(values[x], forms[x])
					want[x][k] = min(want[x][k], c)
				}
				return
			}
			for _, forms[v] = range values[v] {
				all(v + 1)
			}
		}
		all(0)
		for v := range values {
			if got != slices.Min(want[v]) {
				t.Fatalf("seed %d: %v costs %d, the best %d", seed, a.Forms, got, slices.Min(want[v]))
			}
			if costs := a.Costs(v); !slices.Equal(costs, want[v]) {
				t.Fatalf("seed %d: value %d: costs %v, want %v", seed, v, costs, want[v])
			}
		}
	}
}

// TestAssignWide: values with more neighbours than are looked at together have their first form,
// until those that are left have few.
func TestAssignWide(t *testing.T) {
	const n = 40
	values := make([][]Form, n)
	list := make([]int, n)
	for v := range values {
		values[v], list[v] = []Form{Usual, Small}, v
	}
	var pairs []Factor
	for v := range values {
		for w := range v {
			pairs = append(pairs, Factor{[]int{w, v}, func(forms []Form) int { return 4 - int(forms[0]) - int(forms[1]) }})
		}
	}
	small := 0
	for _, f := range Assign(values, pairs).Forms {
		if f == Small {
			small++
		}
	}
	if small != maxJoint+1 {
		t.Errorf("%d of %d values have the cheaper form", small, n)
	}
	one := Factor{list, func(forms []Form) int { return int(forms[0]) }}
	if f := Assign(values, []Factor{one}).Forms; slices.Max(f) != Usual {
		t.Errorf("values of a wide factor have the forms %v", f)
	}
}

// TestFewest: in a ring of pairs all values have two neighbours, and the first goes; in a star the first leaf.
func TestFewest(t *testing.T) {
	for _, c := range []struct {
		pairs      [][]int
		want       int
		neighbours []int
	}{
		{[][]int{{3, 1}, {1, 2}, {2, 0}, {0, 3}}, 0, []int{2, 3}},
		{[][]int{{0, 1}, {0, 2}, {3, 0}, {1, 0}}, 1, []int{0}},
		{[][]int{{0, 1, 2}, {3, 2}}, 3, []int{2}},
		{[][]int{{0, 1, 2, 3}}, 0, []int{1, 2, 3}},
	} {
		var tables []table
		left := map[int]bool{0: true, 1: true, 2: true, 3: true}
		for _, p := range c.pairs {
			tables = append(tables, table{values: p})
		}
		for range 20 { // maps have no order
			if v, around := fewest(left, tables); v != c.want || !slices.Equal(around, c.neighbours) {
				t.Fatalf("%v: %d beside %v, want %d beside %v", c.pairs, v, around, c.want, c.neighbours)
			}
		}
	}
}
