package onnx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// equation is what an Einsum computes: the indices of each operand and of the result, a letter each. The dimensions that an
// ellipsis stands for are digits, 0 for the last of them, since operands may have different numbers of them.
type equation struct {
	terms  []string
	result string
}

// parseEquation reads an equation for operands of ranks.
func parseEquation(text string, ranks []int) (e equation, err error) {
	left, result, explicit := strings.Cut(strings.ReplaceAll(text, " ", ""), "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(ranks) {
		return e, fmt.Errorf("the equation %q has %d operands, the node %d", text, len(terms), len(ranks))
	}
	most := 0
	for i, term := range terms {
		covered := 0
		if strings.Contains(term, "...") {
			covered = ranks[i] - (len(term) - 3)
			most = max(most, covered)
		}
		if covered < 0 || covered > 8 {
			return e, fmt.Errorf("%q for an operand of rank %d", term, ranks[i])
		}
		term, err := expandEllipsis(term, covered)
		if err != nil {
			return e, err
		}
		if len(term) != ranks[i] {
			return e, fmt.Errorf("%q for an operand of rank %d", terms[i], ranks[i])
		}
		e.terms = append(e.terms, term)
	}
	if !explicit {
		result = implicitResult(left)
	} else if most > 0 && !strings.Contains(result, "...") {
		return e, fmt.Errorf("the equation %q has an ellipsis that its result lacks", text)
	}
	e.result, err = expandEllipsis(result, most)
	return e, err
}

// expandEllipsis replaces "..." by digits for n dimensions; all else must be letters.
func expandEllipsis(term string, n int) (string, error) {
	before, after, found := strings.Cut(term, "...")
	for _, r := range before + after {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return "", fmt.Errorf("%q in %q is no letter", r, term)
		}
	}
	if !found {
		return term, nil
	}
	for n > 0 {
		n--
		before += string(rune('0' + n))
	}
	return before + after, nil
}

// implicitResult are the dimensions of the ellipses, then the letters that occur once, in order of the alphabet.
func implicitResult(left string) string {
	var list []byte
	for k := range left {
		if left[k] != ',' && left[k] != '.' && strings.Count(left, left[k:k+1]) == 1 {
			list = append(list, left[k])
		}
	}
	slices.Sort(list)
	if strings.Contains(left, "...") {
		return "..." + string(list)
	}
	return string(list)
}

// einsum sums products over indices. Operands are contracted from the left, two at a time, which are brought into the
// shape of a product of matrices:
//
//	batch: in both and needed later;  summed: in both alone;  rows, columns: in one and needed later
func einsum(c *conversion) {
	operands, ranks := make([]uint32, len(c.in)), make([]int, len(c.in))
	whole := true
	for i := range operands {
		operands[i] = c.number(c.x(i))
		ranks[i] = c.Rank(operands[i])
		whole = whole && c.Operand(operands[i]).Type == nn.TensorInt32
	}
	if !whole {
		for i, x := range operands {
			operands[i] = c.asReals(x)
		}
	}
	e, err := parseEquation(c.text("equation", ""), ranks)
	c.Check(err)
	for i := range operands {
		operands[i], e.terms[i] = c.diagonals(operands[i], e.terms[i])
	}
	c.broadcastIndices(operands, e.terms)
	y, term := c.sumOver(operands[0], e.terms[0], strings.Join(e.terms[1:], "")+e.result)
	for i := 1; i < len(operands); i++ {
		later := strings.Join(e.terms[i+1:], "") + e.result
		b, tb := c.sumOver(operands[i], e.terms[i], term+later)
		y, term = c.sumOver(y, term, tb+later)
		y, term = c.contract(y, b, term, tb, later)
	}
	c.define(0, c.ordered(y, term, e.result))
}

// diagonals keeps the elements whose places along dimensions of one index are equal.
func (c *conversion) diagonals(x uint32, term string) (uint32, string) {
	for k := 0; k < len(term); k++ {
		other := strings.LastIndexByte(term, term[k])
		if other == k {
			continue
		}
		shape := c.Dims(x)
		if shape[k] != shape[other] {
			c.Failf("index %q has %d and %d elements", term[k:k+1], shape[k], shape[other])
		}
		perm := make([]int, 0, len(term))
		var rest []uint32
		for d := range term {
			if d != k && d != other {
				perm, rest = append(perm, d), append(rest, shape[d])
			}
		}
		n := shape[k]
		if uint64(n)*uint64(n) > 1<<24 {
			c.Refusef("a diagonal of %d elements", n)
		}
		places := make([]int64, n)
		for i := range places {
			places[i] = int64(i) * int64(n+1)
		}
		x = c.reshaped(c.transposed(x, append(perm, k, other)), append(slices.Clone(rest), n*n))
		x = c.GatherAxis(x, len(rest), c.Int32Tensor(places...))
		left := ""
		for _, d := range perm {
			left += term[d : d+1]
		}
		term = left + term[k:k+1]
		k = -1
	}
	return x, term
}

// broadcastIndices repeats dimensions of one element where another operand has more of that index.
func (c *conversion) broadcastIndices(operands []uint32, terms []string) {
	size := map[byte]uint32{}
	for i, term := range terms {
		for k, d := range c.Dims(operands[i]) {
			size[term[k]] = max(size[term[k]], d)
		}
	}
	for i, term := range terms {
		shape := slices.Clone(c.Dims(operands[i]))
		for k := range shape {
			if shape[k] == 1 {
				shape[k] = size[term[k]]
			}
		}
		operands[i] = c.BroadcastTo(operands[i], shape)
	}
}

// sumOver sums over the indices that nothing else has.
func (c *conversion) sumOver(x uint32, term, others string) (uint32, string) {
	var axes []int64
	rest := ""
	for k := range term {
		if strings.IndexByte(others, term[k]) < 0 {
			axes = append(axes, int64(k))
		} else {
			rest += term[k : k+1]
		}
	}
	if len(axes) == 0 {
		return x, term
	}
	return c.Reduce(nn.OpReduceSum, *c.Operand(x), x, axes, false), rest
}

// ordered permutes dimensions named by term into the order of result.
func (c *conversion) ordered(x uint32, term, result string) uint32 {
	perm := make([]int, len(result))
	for i := range perm {
		perm[i] = strings.IndexByte(term, result[i])
		if perm[i] < 0 || strings.Count(result, result[i:i+1]) > 1 {
			c.Failf("the equation's result %q has an index that %q lacks", result, term)
		}
	}
	if len(term) != len(result) {
		c.Failf("the equation's result %q of %q", result, term)
	}
	return c.transposed(x, perm)
}

func (c *conversion) contract(a, b uint32, ta, tb, result string) (uint32, string) {
	var batch, summed, rows, columns string
	for k := range ta {
		index := ta[k : k+1]
		switch {
		case strings.Contains(tb, index) && strings.Contains(result, index):
			batch += index
		case strings.Contains(tb, index):
			summed += index
		default:
			rows += index
		}
	}
	for k := range tb {
		if !strings.Contains(ta, tb[k:k+1]) {
			columns += tb[k : k+1]
		}
	}
	size := map[byte]uint32{}
	for i, term := range []string{ta, tb} {
		dims := c.Dims([]uint32{a, b}[i])
		for k := range term {
			if old, ok := size[term[k]]; ok && old != dims[k] {
				c.Failf("index %q has %d and %d elements", term[k:k+1], old, dims[k])
			}
			size[term[k]] = dims[k]
		}
	}
	extent := func(indices string) []uint32 {
		var list []uint32
		for k := range indices {
			list = append(list, size[indices[k]])
		}
		return list
	}
	merged := func(indices string) uint32 { return uint32(nn.Elements(extent(indices))) }
	left := c.reshaped(c.ordered(a, ta, batch+rows+summed), []uint32{merged(batch), merged(rows), merged(summed)})
	right := c.reshaped(c.ordered(b, tb, batch+summed+columns), []uint32{merged(batch), merged(summed), merged(columns)})
	y := c.BatchMatmul(nn.Operand{Type: c.Operand(a).Type}, left, c.As(right, c.Operand(left).Type), false, false)
	term := batch + rows + columns
	return c.Reshape(y, extent(term)), term
}
