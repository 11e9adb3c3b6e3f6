package tflitefile

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
)

// Types of FlexBuffers.
const (
	flexFloat     = 3
	flexMap       = 9
	flexVectorInt = 11
)

// FlexMap writes a FlexBuffers map of float32 values and of vectors of integers, as options of
// custom operators are.
func FlexMap(values map[string]float32, vectors map[string][]int32) []byte {
	names := slices.Sorted(maps.Keys(values))
	names = slices.AppendSeq(names, maps.Keys(vectors))
	slices.Sort(names)
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
	elements := map[string]int{} // of each vector, behind their number
	for _, n := range slices.Sorted(maps.Keys(vectors)) {
		list := vectors[n]
		word(len(list))
		elements[n] = len(b)
		for _, v := range list {
			word(int(v))
		}
	}
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
		if at, ok := elements[n]; ok {
			word(len(b) - at)
			continue
		}
		word(int(math.Float32bits(values[n])))
	}
	for _, n := range names {
		kind := byte(flexFloat)
		if _, ok := vectors[n]; ok {
			kind = flexVectorInt
		}
		b = append(b, kind<<2|2)
	}
	return append(b, byte(len(b)-vector), flexMap<<2|2, 1)
}
