package layout

import (
	"math"
	"slices"
)

// Form is how a value may lie in memory.
type Form uint8

const (
	Usual Form = iota + 1 // positions at a pitch of 32, 64 or a multiple of 128 bytes
	Small                 // at a pitch of 4, 8 or 16: less memory, words that waste no multiplications
	Plain                 // bytes without anything between them, as a client has them
)

func (f Form) String() string { return [...]string{Usual: "usual", Small: "small", Plain: "plain"}[f] }

// Impossible is the cost of forms that an operation cannot have.
const Impossible = math.MaxInt / 4

// Factor is the cost of an operation as a function of the forms of some values.
type Factor struct {
	Values []int                  // rising
	Cost   func(forms []Form) int // of these values; Impossible where they cannot be combined
}

// Assignment is the forms of values, and what they are estimated to cost.
type Assignment struct {
	Forms []Form

	values [][]Form
	tables []table
}

// Costs are, of each form of a value, the least of the whole with that form. Each is as much
// work as the assignment was.
func (a *Assignment) Costs(v int) (list []int) {
	fixed := slices.Clone(a.values)
	for k, f := range a.values[v] {
		tables := a.tables
		if fixed[v] = []Form{f}; len(a.values[v]) > 1 {
			tables = restrict(tables, v, k)
		}
		_, c := eliminate(fixed, tables)
		list = append(list, c)
	}
	return list
}

// maxJoint bounds the values whose forms are looked at together.
const maxJoint = 12

// Assign chooses one of the forms of each value so that the sum of all factors is least. Values are
// eliminated one after the other, the one with the fewest neighbours first: the least cost of the factors
// around it is a factor between its neighbours. On chains and trees that is dynamic programming; for
// graphs with joins it is exact too, and factors have a few values more. Where
// they would have more than maxJoint, the value has its first form instead, and so have those of a
// factor of more values.
func Assign(values [][]Form, factors []Factor) Assignment {
	values = slices.Clone(values)
	for _, f := range factors {
		if len(f.Values) > maxJoint {
			for _, v := range f.Values {
				values[v] = values[v][:1]
			}
		}
	}
	var tables []table
	for _, f := range factors {
		tables = append(tables, tabulate(values, f))
	}
	a := Assignment{Forms: make([]Form, len(values)), values: values, tables: tables}
	choice, _ := eliminate(values, tables)
	for v, k := range choice {
		a.Forms[v] = values[v][k]
	}
	return a
}

// table is a factor by the numbers of the forms of its values, the last of which counts fastest.
type table struct {
	values []int
	sizes  []int
	costs  []int
}

// tabulate evaluates a factor for all forms.
func tabulate(values [][]Form, f Factor) table {
	t := table{values: f.Values}
	n := 1
	for _, v := range f.Values {
		t.sizes = append(t.sizes, len(values[v]))
		n *= len(values[v])
	}
	t.costs = make([]int, n)
	forms := make([]Form, len(f.Values))
	for i := range t.costs {
		t.each(i, func(at, k int) { forms[at] = values[f.Values[at]][k] })
		t.costs[i] = f.Cost(forms)
	}
	return t
}

// each calls visit with the number of each value's form in entry i.
func (t *table) each(i int, visit func(at, k int)) {
	for at := len(t.sizes) - 1; at >= 0; at-- {
		visit(at, i%t.sizes[at])
		i /= t.sizes[at]
	}
}

// at is the entry of the numbers of all values' forms.
func (t *table) at(forms []int) int {
	i := 0
	for k, v := range t.values {
		i = i*t.sizes[k] + forms[v]
	}
	return i
}

// restrict leaves one form of a value, which the tables then do not have.
func restrict(tables []table, v, form int) []table {
	list := slices.Clone(tables)
	for i, t := range list {
		at := slices.Index(t.values, v)
		if at < 0 {
			continue
		}
		r := table{values: slices.Delete(slices.Clone(t.values), at, at+1), sizes: slices.Delete(slices.Clone(t.sizes), at, at+1)}
		for e, c := range t.costs {
			t.each(e, func(k, n int) {
				if k == at && n == form {
					r.costs = append(r.costs, c)
				}
			})
		}
		list[i] = r
	}
	return list
}

// eliminate returns the number of the best form of each value, and the least sum.
func eliminate(values [][]Form, tables []table) (choice []int, cost int) {
	type step struct {
		value int
		best  table // number of its best form by those of its neighbours
	}
	var steps []step
	left := map[int]bool{}
	for v := range values {
		left[v] = true
	}
	forms := make([]int, len(values))
	for len(left) > 0 {
		v, neighbours := fewest(left, tables)
		delete(left, v)
		if len(neighbours) > maxJoint {
			tables = restrict(tables, v, 0)
			steps = append(steps, step{v, table{costs: []int{0}}})
			continue
		}
		var around, rest []table
		for _, t := range tables {
			if slices.Contains(t.values, v) {
				around = append(around, t)
			} else {
				rest = append(rest, t)
			}
		}
		n := len(values[v])
		least := table{values: neighbours}
		size := 1
		for _, x := range neighbours {
			least.sizes = append(least.sizes, len(values[x]))
			size *= len(values[x])
		}
		best := least
		least.costs, best.costs = make([]int, size), make([]int, size)
		for e := range size {
			least.each(e, func(at, k int) { forms[neighbours[at]] = k })
			least.costs[e] = math.MaxInt
			for forms[v] = range n {
				sum := 0
				for i := range around {
					sum = min(sum+around[i].costs[around[i].at(forms)], Impossible)
				}
				if sum < least.costs[e] {
					least.costs[e], best.costs[e] = sum, forms[v]
				}
			}
		}
		steps = append(steps, step{v, best})
		tables = append(rest, least)
	}
	for _, t := range tables {
		cost = min(cost+t.costs[0], Impossible)
	}
	choice = make([]int, len(values))
	for _, s := range slices.Backward(steps) {
		choice[s.value] = s.best.costs[s.best.at(choice)]
	}
	return choice, cost
}

// fewest is the value with the fewest neighbours, the first of equal ones, and these.
func fewest(left map[int]bool, tables []table) (v int, neighbours []int) {
	around := map[int]map[int]bool{}
	for x := range left {
		around[x] = map[int]bool{}
	}
	for _, t := range tables {
		for _, x := range t.values {
			for _, y := range t.values {
				if x != y {
					around[x][y] = true
				}
			}
		}
	}
	v = -1
	for x := range left {
		if v < 0 || len(around[x]) < len(around[v]) || len(around[x]) == len(around[v]) && x < v {
			v = x
		}
	}
	for y := range around[v] {
		neighbours = append(neighbours, y)
	}
	slices.Sort(neighbours)
	return v, neighbours
}
