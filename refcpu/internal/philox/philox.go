// Package philox is the counter-based random number generator Philox4x32-10 (Salmon and others,
// "Parallel random numbers: as easy as 1, 2, 3", 2011), which RANDOM_MULTINOMIAL draws with: any
// number of the stream is known without those before it.
package philox

import "math/bits"

// Multipliers and steps of the key.
const (
	m0, m1 = 0xd2511f53, 0xcd9e8d57
	w0, w1 = 0x9e3779b9, 0xbb67ae85
	rounds = 10
)

// words are the four random words of a counter under a key.
func words(c [4]uint32, k [2]uint32) [4]uint32 {
	for range rounds {
		hi0, lo0 := bits.Mul32(m0, c[0])
		hi1, lo1 := bits.Mul32(m1, c[2])
		c = [4]uint32{hi1 ^ c[1] ^ k[0], lo1, hi0 ^ c[3] ^ k[1], lo0}
		k[0] += w0
		k[1] += w1
	}
	return c
}

// Float64 is number i of the stream of a key, in [0, 1) with 53 bits.
func Float64(i uint32, k [2]uint32) float64 {
	w := words([4]uint32{i}, k)
	return (float64(w[0]>>5)*(1<<26) + float64(w[1]>>6)) / (1 << 53)
}
