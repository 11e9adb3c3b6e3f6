package nn

import (
	"encoding/binary"
	"fmt"
	"math"
)

// codeExtensions are the extensions of this project that have codes. The only one has codes whose values a table
// lists, as mu-law samples and clustered weights have them. Code q stands for real number q of the codebook, which is
// the operand's extension data: 2 to 256 float32, little-endian. Codes beyond the last stand for the last.
var codeExtensions = []*CodeExtension{
	{ExtensionPrefix{"org.nnsoc.codebook", 2}, "TENSOR_QUANT8_CODEBOOK", "DECODE_CODEBOOK", readCodebook, drawCodebook},
}

func readCodebook(data []byte) (values [256]float32, err error) {
	n := len(data) / 4
	if len(data)%4 != 0 || n < 2 || n > len(values) {
		return values, fmt.Errorf("a codebook of %d bytes as extension data, 2 to %d float32 needed", len(data), len(values))
	}
	for q := range values {
		k := min(q, n-1)
		v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*k:]))
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return values, fmt.Errorf("value %d of its codebook is %v", k, v)
		}
		values[q] = v
	}
	return values, nil
}

func drawCodebook(choose func(n int) int) (data []byte) {
	for range 2 + choose(255) {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(choose(4001)-2000)/500))
	}
	return data
}
