package zoo

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// Sizes of MobileBERT (Sun et al., arXiv 2004.02984, table 1; released
// configuration uncased_L-24_H-128_B-512_A-4_F-4_OPT).
const (
	bertVocabulary = 30522
	bertPositions  = 512
	bertEmbedding  = 128
	bertHidden     = 512
	bertBottleneck = 128
	bertHeads      = 4
	bertLayers     = 24
	bertFeeds      = 4
)

// mobileBERT is MobileBERT with the head for question answering (SQuAD): word
// and segment ids of a sequence to logits of the start and the end of an
// answer, [1, length] each.
func mobileBERT(length uint32) architecture {
	return func(g *builder.Builder) {
		b := bert{g, int32(length)}
		x := b.embed(b.ids("input_ids"), b.ids("segment_ids"))
		for range bertLayers {
			x = b.layer(x)
		}
		logits := b.Dense(x, 2, builder.NoActivation)
		for i, name := range []string{"start_logits", "end_logits"} {
			part := b.Slice(logits, []int32{0, int32(i)}, []int32{b.length, 1})
			b.Output(b.Reshape(part, 1, b.length), name)
		}
	}
}

// bert adds the layers of MobileBERT. Activations are [length, channels].
type bert struct {
	*builder.Builder
	length int32
}

func (b bert) ids(name string) tensor {
	return b.Input(b.Operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(b.length)}}), name)
}

// embed sums embeddings of words, positions and segments. A word's consists of those of itself and its two neighbours.
func (b bert) embed(words, segments tensor) tensor {
	e := b.lookup(b.Table("embeddings/word", 1, bertVocabulary, bertEmbedding), words)
	next := b.Pad(b.Slice(e, []int32{1, 0}, []int32{b.length - 1, bertEmbedding}), 0, 1, 0, 0)
	last := b.Pad(b.Slice(e, []int32{0, 0}, []int32{b.length - 1, bertEmbedding}), 1, 0, 0, 0)
	x := b.Dense(b.Concat(next, e, last), bertHidden, builder.NoActivation)
	x = b.Add(x, b.lookup(b.Table("embeddings/segment", 1, 2, bertHidden), segments), builder.NoActivation)
	positions := b.Table("embeddings/position", 1, bertPositions, bertHidden)
	x = b.Add(x, b.Slice(positions, []int32{0, 0}, []int32{b.length, bertHidden}), builder.NoActivation)
	return b.norm(x)
}

// lookup gathers rows of a table.
func (b bert) lookup(table, ids tensor) tensor {
	y := b.Apply(nn.OpGather, nn.TensorFloat32, builder.Quant{}, table, b.Int32(0), ids)
	b.SetSpread(y, b.SpreadOf(table))
	return y
}

// norm is MobileBERT's replacement of layer normalization: a factor and an
// offset per channel.
func (b bert) norm(x tensor) tensor { return b.Affine(x, builder.NoActivation) }

// layer is one of the 24: a narrow transformer between two projections.
func (b bert) layer(x tensor) tensor {
	narrow := b.norm(b.Dense(x, bertBottleneck, builder.NoActivation))
	shared := b.norm(b.Dense(x, bertBottleneck, builder.NoActivation))
	y := b.attention(shared, x)
	y = b.norm(b.Add(b.Dense(y, bertBottleneck, builder.NoActivation), narrow, builder.NoActivation))
	for range bertFeeds {
		wide := b.Dense(y, bertHidden, builder.ReLU)
		y = b.norm(b.Add(b.Dense(wide, bertBottleneck, builder.NoActivation), y, builder.NoActivation))
	}
	return b.norm(b.Add(b.Dense(y, bertHidden, builder.NoActivation), x, builder.NoActivation))
}

// attention is multi-head attention with queries and keys from shared and
// values from wide.
func (b bert) attention(shared, wide tensor) tensor {
	const size = bertBottleneck / bertHeads
	heads := func(x tensor) tensor { // [1, heads, length, size]
		return b.Transpose(b.Reshape(x, 1, b.length, bertHeads, size), 0, 2, 1, 3)
	}
	query := heads(b.DenseTo(shared, bertBottleneck, builder.NoActivation, 1))
	key := heads(b.DenseTo(shared, bertBottleneck, builder.NoActivation, 1))
	value := heads(b.Dense(wide, bertBottleneck, builder.NoActivation))
	scores := b.product(query, key, true, math.Sqrt(size))
	scores = b.Mul(scores, b.Scalar(float32(1/math.Sqrt(size))))
	weights := b.Softmax(scores)
	// A mean of values deviates at most as they do, and does when softmax picks one. With a smaller assumption, layers
	// would grow with depth.
	mixed := b.product(weights, value, false, builder.PreActivation)
	return b.Reshape(b.Transpose(mixed, 0, 2, 1, 3), b.length, bertBottleneck)
}

// product is a batch of matrix products x*y, or x*transpose(y), whose values have the given deviation.
func (b bert) product(x, y tensor, transposed bool, deviation float64) tensor {
	z := b.Apply(nn.OpBatchMatmul, nn.TensorFloat32, builder.Quant{}, x, y, b.Bool(false), b.Bool(transposed))
	b.SetSpread(z, builder.Spread{Deviation: deviation})
	return z
}
