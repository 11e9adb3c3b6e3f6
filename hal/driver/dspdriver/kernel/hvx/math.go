package hvx

// VectorBytes is the size of an HVX vector register (128-byte mode).
const VectorBytes = 128

// Ones is 1 in every byte of a word.
const Ones = 0x01010101

// EndGuard is the mapped bytes after the constants and around the activations:
// kernels may read so far past their operands.
const EndGuard = 1 << 16

// RoundUp is the least multiple of to that is not below n.
func RoundUp(n, to int) int { return (n + to - 1) / to * to }

// CeilDiv is n / d, rounded up.
func CeilDiv(n, d int) int { return (n + d - 1) / d }
