package exec

import (
	"bytes"
	"testing"
)

// TestWeightCache: weights that differ where they are not hashed are told apart.
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
		wc.keep(key, kept[i])
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
