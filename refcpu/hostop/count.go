package hostop

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// countOperators count sequences of words.
var countOperators = []operator{
	// words [n] or [rows, n], as numbers; sequences to look for, one behind the other; the length of each; the column of each;
	// the weight of each column, which may be omitted. Attributes: columns of the result, how many words may lie between two of a sequence, at
	// equal distances, and what a column is: 0 how often its sequences are there, 1 its weight if one is, 2 the product of both.
	{op: nn.OpHostCountSequences, attributes: 3, unpriced: true, run: countSequences},
}

func countSequences(c *call) []tensor {
	words, pool, lengths, columns := c.tensor(0), c.list(1), c.list(2), c.list(3)
	width, skips, mode := c.attributes[0], c.attributes[1], c.attributes[2]
	rank := len(words.dims)
	if words.kind != nn.TensorInt32 || rank < 1 || rank > 2 || len(lengths) != len(columns) || width < 1 || skips < 0 || mode < 0 || mode > 2 {
		fail("words of shape %v, %d sequences for %d of %d columns, %d skips, mode %d", words.dims, len(lengths), len(columns), width, skips, mode)
	}
	if mode > 0 && c.tensor(4).n() != width {
		fail("%d weights for %d columns", c.tensor(4).n(), width)
	}
	found := map[string]int64{} // columns by the bytes of sequences
	of := map[int]bool{}        // lengths
	c.chargeTimes(len(pool)+len(lengths), 1)
	for i, n := range lengths {
		if n < 1 || n > int64(len(pool)) || columns[i] < 0 || columns[i] >= int64(width) {
			fail("sequence %d of %d words, of which %d are left, for column %d of %d", i, n, len(pool), columns[i], width)
		}
		var key []byte
		for _, w := range pool[:n] {
			key = binary.LittleEndian.AppendUint32(key, uint32(int32(w)))
		}
		if _, ok := found[string(key)]; ok {
			fail("sequence %d, %v, is there twice", i, pool[:n])
		}
		found[string(key)], of[int(n)], pool = columns[i], true, pool[n:]
	}
	n := int(words.dims[rank-1])
	rows := int(nn.Elements(words.dims[:rank-1]))
	y := c.make(&tensor{kind: nn.TensorFloat32}, append(slices.Clone(words.dims[:rank-1]), uint32(width)))
	key := []byte{}
	for _, length := range slices.Sorted(maps.Keys(of)) {
		for apart := 1; apart <= skips+1 && (length-1)*apart < n && (length > 1 || apart == 1); apart++ {
			c.chargeTimes(rows*n, float64(length))
			for row := range rows {
				for first := 0; first+(length-1)*apart < n; first++ {
					key = key[:0]
					for k := range length {
						at := row*n + first + k*apart
						key = append(key, words.bytes(at, at+1)...)
					}
					if column, ok := found[string(key)]; ok {
						at := row*width + int(column)
						y.putNumber(at, y.number(at)+1)
					}
				}
			}
		}
	}
	for i := range y.n() {
		count := y.number(i)
		switch {
		case mode == 1 && count > 0:
			y.putNumber(i, c.tensor(4).number(i%width))
		case mode == 2:
			y.putNumber(i, count*c.tensor(4).number(i%width))
		}
	}
	return []tensor{y}
}
