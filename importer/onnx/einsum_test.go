package onnx

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// summed is an Einsum by its definition: the sum, over all values of all indices, of the products of the elements.
// Indices of one element repeat.
func summed(terms []string, result string, shapes [][]int64, data [][]float32) []float64 {
	size := map[byte]int64{}
	for i, term := range terms {
		for k := range term {
			size[term[k]] = max(size[term[k]], shapes[i][k])
		}
	}
	var order []byte
	for b := range size {
		order = append(order, b)
	}
	at := map[byte]int64{}
	n := int64(1)
	for k := range result {
		n *= size[result[k]]
	}
	y := make([]float64, n)
	place := func(term string, shape func(k int) int64) (flat int64) {
		for k := range term {
			flat = flat*shape(k) + at[term[k]]%shape(k)
		}
		return flat
	}
	var walk func(i int)
	walk = func(i int) {
		if i < len(order) {
			for v := range size[order[i]] {
				at[order[i]] = v
				walk(i + 1)
			}
			return
		}
		p := 1.0
		for k, term := range terms {
			p *= float64(data[k][place(term, func(d int) int64 { return shapes[k][d] })])
		}
		y[place(result, func(d int) int64 { return size[result[d]] })] += p
	}
	walk(0)
	return y
}

// TestEinsum compares equations of one to four operands, with diagonals and ellipses, with the definition. expanded is the
// equation with a letter for each dimension that an ellipsis stands for.
func TestEinsum(t *testing.T) {
	for _, c := range []struct {
		equation, expanded string
		shapes             [][]int64
	}{
		{"ij,jk->ik", "", [][]int64{{2, 3}, {3, 4}}},
		{"ij,jk", "ij,jk->ik", [][]int64{{2, 3}, {3, 4}}},
		{"...ij,...jk->...ik", "abij,bjk->abik", [][]int64{{2, 3, 2, 4}, {3, 4, 2}}},
		{"...ij,...jk", "abij,bjk->abik", [][]int64{{2, 3, 2, 4}, {3, 4, 2}}},
		{"i...,j...->...ij", "iab,jab->abij", [][]int64{{2, 3, 2}, {3, 3, 2}}},
		{"...ij->...ji", "abij->abji", [][]int64{{2, 3, 4, 2}}},
		{"b...->...", "bac->ac", [][]int64{{3, 2, 4}}},
		{"...i,...i->...", "abi,bi->ab", [][]int64{{2, 3, 4}, {1, 4}}},
		{"ii->i", "", [][]int64{{4, 4}}},
		{"ii", "ii->", [][]int64{{3, 3}}},
		{"ijik->jk", "", [][]int64{{3, 2, 3, 2}}},
		{"iji,ik->jk", "", [][]int64{{3, 2, 3}, {3, 2}}},
		{"i,j,k->ijk", "", [][]int64{{2}, {3}, {4}}},
		{"ij,jk,kl->il", "", [][]int64{{2, 3}, {3, 4}, {4, 2}}},
		{"bi,bj,ij->b", "", [][]int64{{2, 3}, {2, 4}, {3, 4}}},
		{"...i,ij,...j->...", "ai,ij,aj->a", [][]int64{{2, 3}, {3, 4}, {2, 4}}},
		{"a,ab,abc,abcd->d", "", [][]int64{{2}, {2, 3}, {2, 3, 2}, {2, 3, 2, 4}}},
		{"bhqd,bhkd->bhqk", "", [][]int64{{1, 2, 3, 4}, {1, 2, 5, 4}}},
		{"abcde,ce->abd", "", [][]int64{{2, 1, 3, 2, 2}, {3, 2}}},
	} {
		expanded := c.expanded
		if expanded == "" {
			expanded = c.equation
		}
		left, result, _ := strings.Cut(expanded, "->")
		var inputs []*onnxfile.Value
		var names []string
		var data [][]float32
		for i, shape := range c.shapes {
			n := 1
			for _, d := range shape {
				n *= int(d)
			}
			name := fmt.Sprintf("x%d", i)
			inputs, names, data = append(inputs, value32(name, shape...)), append(names, name), append(data, pattern(n + i)[i:])
		}
		n := node("Einsum", names, []string{"y"}, &onnxfile.Attribute{Name: "equation", Type: onnxfile.AttributeString, String: c.equation})
		near(t, c.equation, summed(strings.Split(left, ","), result, c.shapes, data), one(t, n, inputs, data...))
	}
	for equation, says := range map[string]string{"i1->i": "no letter", "...->": "ellipsis", "ij->k": "index", "i,j->ij": "2 operands"} {
		n := node("Einsum", []string{"x"}, []string{"y"}, &onnxfile.Attribute{Name: "equation", Type: onnxfile.AttributeString, String: equation})
		g := &onnxfile.Graph{Inputs: []*onnxfile.Value{value32("x", 2, 2)}, Outputs: []*onnxfile.Value{value32("y")}, Nodes: []*onnxfile.Node{n}}
		require.ErrorContains(t, require.Err(importFile(model(g, 17), nil)), says, equation)
	}
}
