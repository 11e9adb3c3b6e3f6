package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/farm"
)

// prepareLsh is LSH_PROJECTION: each bit is the sign of the weighted sum of
// the hashes of all items under one seed.
func prepareLsh(v opspec.View, op *nn.Operation) (kern, error) {
	l, err := v.Lsh(op)
	if err != nil {
		return nil, err
	}
	return func(x *run) error {
		items, seeds := x.bytes(l.Input), x.floats(l.Hash, &x.shared)
		var weights []float32
		if l.Weight != opspec.None {
			weights = x.floats(l.Weight, &x.shared)
		}
		if x.left.work -= int64(len(seeds)) * int64(len(items)+16*l.Items); x.left.work < 0 {
			return fmt.Errorf("%d hashes of %d items: %w", len(seeds), l.Items, errLimit)
		}
		out := x.int32s(l.Output)
		key := make([]byte, 4+l.ItemBytes)
		for h := range l.Hashes {
			signature := int32(0)
			for b := range l.Bits {
				seed := seeds[h*l.Bits+b]
				binary.LittleEndian.PutUint32(key, math.Float32bits(seed))
				if l.Type == nn.TensorFloat16 {
					binary.LittleEndian.PutUint16(key[2:], opspec.Float32ToFloat16(seed))
				}
				own := key
				if l.Type == nn.TensorFloat16 {
					own = key[2:]
				}
				sum := 0.
				for i := range l.Items {
					copy(own[len(own)-l.ItemBytes:], items[i*l.ItemBytes:(i+1)*l.ItemBytes])
					s := float64(int64(farm.Fingerprint64(own)))
					if weights != nil {
						s = float64(weights[i]) * s
					}
					sum += float64(s)
				}
				bit := int32(0)
				if sum > 0 {
					bit = 1
				}
				if l.Kind == opspec.LshDense {
					out[h*l.Bits+b] = bit
				}
				signature = signature<<1 | bit
			}
			switch l.Kind {
			case opspec.LshSparse:
				out[h] = signature + int32(h)<<uint(l.Bits)
			case opspec.LshSparseDeprecated:
				out[h] = signature
			}
		}
		return nil
	}, nil
}
