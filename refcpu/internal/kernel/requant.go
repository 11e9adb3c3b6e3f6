package kernel

import "encoding/binary"

// Requant holds per-column parameters of a requantization, each slice of one
// length that is a multiple of Block (padding columns are arbitrary).
type Requant struct {
	Bias        []int32 // added to the accumulator
	M           []int32 // fraction of the multiplier, Q0.31
	Left, Right []int32 // shifts before and after, 0 to 31
}

// NewRequant makes the parameters for n columns.
func NewRequant(n int) Requant {
	p := Blocks(n) * Block
	v := make([]int32, 4*p)
	return Requant{v[:p:p], v[p : 2*p : 2*p], v[2*p : 3*p : 3*p], v[3*p:]}
}

// Row requantizes acc[i] + add + Bias[c+i] for i < len(dst) into bytes:
// out = clamp(rdpot(srdhm(v << Left, M), Right) + zero, lo, hi).
// c is a multiple of Block and acc is as long as dst rounded up to Block.
func (q *Requant) Row(dst []byte, acc []int32, c int, add, zero, lo, hi int32) {
	n := len(dst)
	if n == 0 {
		return
	}
	p := Blocks(n) * Block
	requantRow(dst, acc[:p], q.Bias[c:c+p], q.M[c:c+p], q.Left[c:c+p], q.Right[c:c+p], add, zero, lo, hi)
}

func requantRowGo(dst []byte, acc, bias, m, left, right []int32, add, zero, lo, hi int32) {
	for i := range dst {
		v := (acc[i] + add + bias[i]) << uint(left[i]&31)
		dst[i] = byte(min(max(scale(v, m[i], right[i])+zero, lo), hi))
	}
}

// RowOnce is Row with a single rounding, halves upwards: (v * M + half) >> (31 + Right).
func (q *Requant) RowOnce(dst []byte, acc []int32, c int, add, zero, lo, hi int32) {
	for i := range dst {
		v := int64((acc[i] + add + q.Bias[c+i]) << uint(q.Left[c+i]&31))
		n := 31 + uint(q.Right[c+i]&31)
		x := int32((v*int64(q.M[c+i]) + int64(1)<<(n-1)) >> n)
		dst[i] = byte(min(max(x+zero, lo), hi))
	}
}

// scale is rdpot(srdhm(v, m), right). m is never the minimum, so nothing saturates.
func scale(v, m, right int32) int32 {
	x := (int64(v)*int64(m) + 1<<30) >> 31
	n := uint(right & 31)
	half := int64(1) << n >> 1
	if x < 0 && half > 0 {
		half--
	}
	return int32((x + half) >> n)
}

// BiasClamp computes dst[i] = clamp(acc[i] + bias[i], lo, hi); NaN stays NaN.
func BiasClamp(dst, acc, bias []float32, lo, hi float32) {
	biasClamp(dst, acc[:len(dst)], bias[:len(dst)], lo, hi)
}

func biasClampGo(dst, acc, bias []float32, lo, hi float32) {
	for i, v := range acc {
		v += bias[i]
		if v < lo {
			v = lo
		}
		if v > hi {
			v = hi
		}
		dst[i] = v
	}
}

// Flip copies src to dst with the top bit of each byte inverted: signed bytes
// become unsigned ones 128 higher and back.
func Flip(dst, src []byte) {
	n := len(src)
	i := 0
	for ; i+8 <= n; i += 8 {
		binary.LittleEndian.PutUint64(dst[i:], binary.LittleEndian.Uint64(src[i:])^0x8080808080808080)
	}
	for ; i < n; i++ {
		dst[i] = src[i] ^ 0x80
	}
}
