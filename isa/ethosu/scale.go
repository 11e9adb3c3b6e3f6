package ethosu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// ScaleRecordSize is the bytes of one bias/scale record; records are packed.
const ScaleRecordSize = 10

// ScaleRecord is the bias and scale of one output channel.
type ScaleRecord struct {
	Bias  int64 // 40 bits, signed
	Scale uint32
	Shift uint8 // 0..63
}

// Append writes the record's 10 bytes.
func (r ScaleRecord) Append(dst []byte) ([]byte, error) {
	if r.Bias < -1<<39 || r.Bias >= 1<<39 || r.Shift > 63 {
		return dst, fmt.Errorf("ethosu: bias %d or shift %d does not fit a scale record", r.Bias, r.Shift)
	}
	b := uint64(r.Bias)
	dst = append(dst, byte(b), byte(b>>8), byte(b>>16), byte(b>>24), byte(b>>32))
	dst = binary.LittleEndian.AppendUint32(dst, r.Scale)
	return append(dst, r.Shift), nil
}

// ReadScale reads a record from at least 10 bytes.
func ReadScale(b []byte) ScaleRecord {
	_ = b[ScaleRecordSize-1]
	v := uint64(binary.LittleEndian.Uint32(b)) | uint64(b[4])<<32
	return ScaleRecord{int64(v<<24) >> 24, binary.LittleEndian.Uint32(b[5:]), b[9] & 63}
}

// Scale is the multiplier and right shift nearest to a real factor: factor ~ scale * 2^-shift with a 31-bit scale. A
// factor too small or too large for a shift of 0..63 becomes 0 and 16.
func Scale(factor float64) (scale uint32, shift uint8) {
	m, e := math.Frexp(factor)
	s := 31 - e
	if factor <= 0 || math.IsInf(factor, 0) || math.IsNaN(factor) || s < 0 || s > 63 {
		return 0, 16
	}
	return uint32(math.Round(m * (1 << 31))), uint8(s)
}

// AverageScale divides a sum of n elements by n, n > 0, with headroom for a factor of 2^rescaleBits (0 when the average
// is not rescaled).
func AverageScale(n, rescaleBits int) (scale uint32, shift uint8) {
	k := bits.Len(uint(n - 1))
	s := 31 - rescaleBits + k
	return uint32((uint64(1)<<s + uint64(1)<<k) / uint64(n)), uint8(s)
}
