package ethosu

import (
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"slices"
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

// putWeights is put for each weight's code, four bytes of output at a time.
func (w *bitWriter) putWeights(weights []int16, width int) {
	dst, acc, n := w.dst, w.acc, uint(w.n)
	for _, v := range weights {
		acc |= uint64(weightCode(v)) << n
		if n += uint(width); n >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			n -= 32
		}
	}
	w.dst, w.acc, w.n = dst, acc, int(n)
	w.put(0, 0) // whole bytes
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
