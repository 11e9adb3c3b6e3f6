package nn

// AlignBytesNeeded is how many bytes to skip at an offset so that a value of a length
// is aligned as in Android's runtime: values of 1 byte anywhere, of 2 or 3 at even
// offsets, of 4 and more at multiples of 4.
func AlignBytesNeeded(offset, length uint32) uint32 {
	switch {
	case length < 2:
		return 0
	case length < 4:
		return offset & 1
	}
	return -offset & 3
}

// HasUnspecifiedDimensions reports whether the shape of an operand of a model is not
// fully stated: a tensor without dimensions, or with a dimension of 0.
func HasUnspecifiedDimensions(t OperandType, dims []uint32) bool {
	o := Operand{Type: t, Dimensions: dims}
	return !o.Known()
}

// SizeOfData is the size in bytes of a value: 0 when the shape is not fully stated; ok is
// false when it does not fit 32 bits.
func SizeOfData(t OperandType, dims []uint32) (bytes uint32, ok bool) {
	if HasUnspecifiedDimensions(t, dims) {
		return 0, true
	}
	o := Operand{Type: t, Dimensions: dims}
	n := o.Bytes()
	if n < 0 || n > 1<<32-1 {
		return 0, false
	}
	return uint32(n), true
}
