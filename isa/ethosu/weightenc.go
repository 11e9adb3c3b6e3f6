package ethosu

import (
	"fmt"
	mathbits "math/bits"
)

// bitWriter appends little-endian bit fields.
type bitWriter struct {
	dst []byte
	acc uint64
	n   int
}

func (w *bitWriter) put(v uint32, n int) {
	w.acc |= uint64(v) << w.n
	w.n += n
	for w.n >= 8 {
		w.dst = append(w.dst, byte(w.acc))
		w.acc >>= 8
		w.n -= 8
	}
}

// EncodeWeights appends the uncompressed form of a weight stream, each weight
// -255..255: every value as it is, in as few bits as the largest needs, padded
// with ones to a multiple of 16 bytes.
func EncodeWeights(dst []byte, weights []int16) ([]byte, error) {
	width := 2
	for i, v := range weights {
		if v < -255 || v > 255 {
			return dst, fmt.Errorf("ethosu: weight %d is %d, outside -255..255", i, v)
		}
		width = max(width, mathbits.Len32(weightCode(v)))
	}
	start := len(dst)
	w := bitWriter{dst: dst}
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
		for _, v := range s {
			w.put(weightCode(v), width)
		}
	}
	w.put(zdivEnd, 3)
	for w.n != 0 || (len(w.dst)-start)%16 != 0 {
		w.put(1, 1)
	}
	return w.dst, nil
}

// weightCode is the sign-magnitude code of a weight, sign in bit 0.
func weightCode(v int16) uint32 {
	if v < 0 {
		return uint32(-v)<<1 | 1
	}
	return uint32(v) << 1
}
