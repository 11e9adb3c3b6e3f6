package exec

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWeightCache: weights that differ where they are not hashed are distinguished.
func TestWeightCache(t *testing.T) {
	var wc WeightCache
	one := make([]byte, 5*hashed)
	other := bytes.Clone(one)
	other[2*hashed] = 1
	var kept [2]*weightSet
	for i, raw := range [][]byte{one, other} {
		key := weightKey{oc: 8}
		if wc.find(&key, raw) != nil {
			t.Errorf("weights %d are found before they are kept", i)
		}
		kept[i] = &weightSet{raw: bytes.Clone(raw)}
		wc.add(key, kept[i])
	}
	for i, raw := range [][]byte{one, other} {
		key := weightKey{oc: 8}
		if wc.find(&key, raw) != kept[i] {
			t.Errorf("weights %d are not found", i)
		}
		key = weightKey{oc: 16}
		if wc.find(&key, raw) != nil {
			t.Errorf("weights %d are found for another operation", i)
		}
	}
}

// TestWeightCacheIsBounded: sets count with all their parts, and one that does not fit empties the cache.
func TestWeightCacheIsBounded(t *testing.T) {
	w := weightSet{raw: make([]byte, 1), u8: make([]int8, 10), i16: make([]int16, 100), plain: make([]int16, 1000), sums: make([]int32, 10_000)}
	require.Same(t, 1+10+200+2000+40_000, w.size(), "bytes")
	var wc WeightCache
	most := make([]byte, maxWeightCache)
	sizes := []int{maxWeightCache / 2, maxWeightCache / 2, 1, maxWeightCache - 1, maxWeightCache}
	for i, left := range []int{1, 2, 1, 2, 1} {
		key := weightKey{oc: i}
		wc.find(&key, most[:sizes[i]])
		wc.add(key, &weightSet{raw: most[:sizes[i]]})
		if len(wc.sets) != left {
			t.Errorf("%d sets after the one of %d bytes, want %d", len(wc.sets), sizes[i], left)
		}
	}
}
