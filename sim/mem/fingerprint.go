package mem

// fnvBasis and fnvPrime are those of FNV-1a of 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// mixed is FNV-1a of a word at a time, high bits folded in.
func mixed(h, word uint64) uint64 {
	h = (h ^ word) * fnvPrime
	return h ^ h>>29
}
