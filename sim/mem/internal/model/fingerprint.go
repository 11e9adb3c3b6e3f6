package model

// FNVBasis is the offset basis of FNV-1a of 64 bits.
const FNVBasis = 14695981039346656037

const fnvPrime = 1099511628211

// Mixed is FNV-1a of a word at a time, high bits folded in.
func Mixed(h, word uint64) uint64 {
	h = (h ^ word) * fnvPrime
	return h ^ h>>29
}
