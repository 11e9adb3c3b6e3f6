package ethosu

import (
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"slices"
)

// bitWriter appends little-endian bit fields; less than a word of them waits in acc.
type bitWriter struct {
	dst []byte
	acc uint64
	n   int
}

// put appends the low n <= 32 bits of v, whose higher bits are 0.
func (w *bitWriter) put(v uint32, n int) {
	w.acc |= uint64(v) << w.n
	if w.n += n; w.n >= 32 {
		w.dst = binary.LittleEndian.AppendUint32(w.dst, uint32(w.acc))
		w.acc >>= 32
		w.n -= 32
	}
}

// flush appends the whole bytes that wait.
func (w *bitWriter) flush() {
	for w.n >= 8 {
		w.dst = append(w.dst, byte(w.acc))
		w.acc >>= 8
		w.n -= 8
	}
}

// finish ends the stream that began at a byte: the marker, then ones up to a multiple of 16 bytes.
func (w *bitWriter) finish(start int) []byte {
	w.put(zdivEnd, 3)
	w.put(0xFF>>((w.n+7)%8+1), (8-w.n%8)%8)
	w.flush()
	for (len(w.dst)-start)%16 != 0 {
		w.dst = append(w.dst, 0xFF)
	}
	return w.dst
}

// putWeights is put for each weight's code of up to 9 bits, six at a time: with the rest of a byte they fit a word.
func (w *bitWriter) putWeights(weights []int16, width int) {
	const perStore = 6
	w.flush()
	w.dst = slices.Grow(w.dst, len(weights)*width/8+16)
	dst, acc, n := w.dst[len(w.dst):cap(w.dst)], w.acc, uint(w.n)
	at, one := 0, uint(width)
	for ; len(weights) >= perStore; weights = weights[perStore:] {
		v := (*[perStore]int16)(weights)
		codes := weightCode(v[0]) | weightCode(v[1])<<one | weightCode(v[2])<<(2*one)
		codes |= (weightCode(v[3]) | weightCode(v[4])<<one | weightCode(v[5])<<(2*one)) << (3 * one)
		acc |= codes << n
		n += perStore * one
		binary.LittleEndian.PutUint64(dst[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7
		n &= 7
	}
	w.dst, w.acc, w.n = w.dst[:len(w.dst)+at], acc, int(n)
	for _, v := range weights {
		w.put(uint32(weightCode(v)), width)
	}
}

// maxWeight is the largest magnitude of a weight.
const maxWeight = maxWeightCode >> 1

// EncodeWeights appends the uncompressed form of a weight stream, each weight
// -255..255: every value as it is, in as few bits as the largest needs, padded
// with ones to a multiple of 16 bytes.
func EncodeWeights(dst []byte, weights []int16) ([]byte, error) {
	least, most := int16(0), int16(0)
	for _, v := range weights {
		least, most = min(least, v), max(most, v)
	}
	for _, v := range [...]int16{least, most} {
		if v < -maxWeight || v > maxWeight {
			return dst, fmt.Errorf("ethosu: weight %d is %d, outside -255..255", slices.Index(weights, v), v)
		}
	}
	width := max(2, mathbits.Len64(weightCode(least)), mathbits.Len64(weightCode(most)))
	start := len(dst)
	w := bitWriter{dst: slices.Grow(dst, len(weights)*width/8+len(weights)/sliceMax*3+64)}
	for at := 0; at < len(weights); at += sliceMax {
		s := weights[at:min(at+sliceMax, len(weights))]
		w.put(zdivNone, 3)
		w.put(uint32(len(s)-1), 15)
		w.put(wdivRaw, 3)
		w.put(0, 1) // no truncated quotients
		if at == 0 {
			w.put(1, 1)
			w.put(0, 5) // direct offset
			w.put(0, 5) // no palette
			w.put(uint32(width-2), 3)
		} else {
			w.put(0, 1)
		}
		w.putWeights(s, width)
	}
	return w.finish(start), nil
}

// weightCode is the sign-magnitude code of a weight, sign in bit 0.
func weightCode(v int16) uint64 {
	sign := v >> 15
	return uint64(uint16(v^sign-sign)<<1 | uint16(sign)&1)
}
