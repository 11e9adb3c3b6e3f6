package onnx

import (
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

// TfIdfVectorizer counts n-grams, sequences of words, which are numbers here, on the host.

// ngrams are the sequences to look for: their words one behind the other, the length of each and its column.
type ngrams struct{ words, lengths, columns []int64 }

// ngrams reads the attributes of the node. The pool has the sequences of one word first, then those of two and so on;
// ngram_counts says where each of these groups begins.
func (c *conversion) ngrams() (s ngrams) {
	pool, groups, columns := c.ints("pool_int64s"), c.ints("ngram_counts"), c.ints("ngram_indexes")
	if len(c.texts("pool_strings")) > 0 {
		c.Refusef(noStrings)
	}
	lowest, highest := c.int("min_gram_length", 1), c.int("max_gram_length", 1)
	if lowest < 1 || highest < lowest || highest > int64(len(groups)) {
		c.Failf("sequences of %d to %d words, ngram_counts has %d groups", lowest, highest, len(groups))
	}
	at := 0 // of all sequences
	for i, begin := range groups {
		end := int64(len(pool))
		if i+1 < len(groups) {
			end = groups[i+1]
		}
		n := int64(i + 1)
		if begin < 0 || end < begin || end > int64(len(pool)) || (end-begin)%n != 0 {
			c.Failf("ngram_counts is %v for a pool of %d words", groups, len(pool))
		}
		for ; begin < end; begin, at = begin+n, at+1 {
			if at >= len(columns) {
				c.Failf("ngram_indexes has %d elements for the sequences of ngram_counts %v in a pool of %d words", len(columns), groups, len(pool))
			}
			if n >= lowest && n <= highest {
				s.words, s.lengths, s.columns = append(s.words, pool[begin:begin+n]...), append(s.lengths, n), append(s.columns, columns[at])
			}
		}
	}
	if at != len(columns) || len(columns) == 0 {
		c.Failf("ngram_indexes has %d elements for %d sequences", len(columns), at)
	}
	if len(s.words) == 0 {
		c.Refusef("no sequence has %d to %d words", lowest, highest)
	}
	return s
}

// ngramColumns is the number of columns.
func (c *conversion) ngramColumns() int64 {
	columns := c.ints("ngram_indexes")
	if len(columns) == 0 || slices.Min(columns) < 0 || slices.Max(columns) >= maxTable {
		c.Failf("ngram_indexes is %v", columns)
	}
	return slices.Max(columns) + 1
}

// ngramModes are the modes in the order of the host's.
var ngramModes = []string{"TF", "IDF", "TFIDF"}

// ngramOperands are the words, the sequences and the weight of each column: the standard speaks of a weight for each
// sequence, its reference and ONNX Runtime take them by column.
func ngramOperands(c *conversion) []uint32 {
	s, width, list := c.ngrams(), c.ngramColumns(), none
	if c.text("mode", "") != ngramModes[0] {
		weights := c.floats("weights")
		if weights == nil {
			weights = slices.Repeat([]float32{1}, int(width))
		}
		if int64(len(weights)) < width {
			c.Failf("%d weights for %d columns", len(weights), width)
		}
		list = c.FloatTensor([]uint32{uint32(width)}, weights[:width])
	}
	return []uint32{c.hostData(0), c.Int32Tensor(s.words...), c.Int32Tensor(s.lengths...), c.Int32Tensor(s.columns...), list}
}

func ngramAttributes(c *conversion) []int64 {
	mode := slices.Index(ngramModes, c.text("mode", ""))
	skips := c.int("max_skip_count", 0)
	if mode < 0 || skips < 0 {
		c.Failf("mode %q, max_skip_count %d", c.text("mode", ""), skips)
	}
	return []int64{c.ngramColumns(), min(skips, nn.MaxElements-1), int64(mode)}
}

func ngramResults(c *conversion) []nn.Operand {
	x := c.hostData(0)
	if c.Operand(x).Type != nn.TensorInt32 || c.Rank(x) < 1 || c.Rank(x) > 2 {
		c.Failf("words of type %v and rank %d, integers of rank 1 or 2 needed", c.Operand(x).Type, c.Rank(x))
	}
	o := nn.Operand{Type: nn.TensorFloat32, Dimensions: make([]uint32, c.Rank(x))}
	if c.ShapeKnown(x) {
		o.Dimensions = slices.Clone(c.Dims(x))
	}
	o.Dimensions[c.Rank(x)-1] = uint32(c.ngramColumns())
	return []nn.Operand{o}
}
