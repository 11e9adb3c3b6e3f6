package tflitefile

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// Types of FlexBuffers.
const (
	flexFloat = 3
	flexMap   = 9
)

// FlexMap writes a FlexBuffers map of float32 values, as options of custom operators are.
func FlexMap(values map[string]float32) []byte {
	names := slices.Sorted(maps.Keys(values))
	var b []byte
	at := make([]int, len(names))
	for i, n := range names {
		at[i] = len(b)
		b = append(append(b, n...), 0)
	}
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	word := func(v int) { b = binary.LittleEndian.AppendUint32(b, uint32(v)) }
	word(len(names))
	keys := len(b)
	for i := range names {
		word(len(b) - at[i])
	}
	word(len(b) - keys) // offset to the keys, their width, how many values
	word(4)
	word(len(names))
	vector := len(b)
	for _, n := range names {
		word(int(math.Float32bits(values[n])))
	}
	for range names {
		b = append(b, flexFloat<<2|2)
	}
	return append(b, byte(len(b)-vector), flexMap<<2|2, 1)
}
