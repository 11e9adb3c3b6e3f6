package rdna2

// half are the bits of the inline floats in half precision, from code
// ConstHalf on: 0.5 -0.5 1 -1 2 -2 4 -4 1/(2 pi).
var half = [9]uint16{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118}

// single are the same in single precision.
var single = [9]uint32{0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983}

// double are the same in double precision.
var double = [9]uint64{0x3fe0000000000000, 0xbfe0000000000000, 0x3ff0000000000000, 0xbff0000000000000,
	0x4000000000000000, 0xc000000000000000, 0x4010000000000000, 0xc010000000000000, 0x3fc45f306dc9c882}

// inline32 is the inline constant with these bits as a 32-bit operand.
func inline32(v uint32) (uint16, bool) {
	if n := int32(v); n >= -16 && n <= 64 {
		return Int(int(n))
	}
	for i, s := range single {
		if s == v {
			return uint16(ConstHalf + i), true
		}
	}
	return 0, false
}

// Value32 is the value of an inline constant code (128..248) as a 32-bit operand of kind k; ok is false for codes that
// are no constants. Half kinds read their 16 bits zero-extended, packed ones in the low half.
func Value32(code uint16, k Kind) (v uint32, ok bool) {
	switch {
	case code >= Const0 && code <= 192:
		return uint32(code) - Const0, true
	case code >= ConstM1 && code <= 208:
		n := 192 - int32(code)
		if k == B16 || k == F16 {
			return uint32(uint16(n)), true
		}
		return uint32(n), true
	case code >= ConstHalf && code <= ConstInv:
		switch k {
		case B16, F16, V2F16:
			return uint32(half[code-ConstHalf]), true
		}
		return single[code-ConstHalf], true
	}
	return 0, false
}

// Value64 is Value32 for operands of two registers.
func Value64(code uint16, k Kind) (v uint64, ok bool) {
	switch {
	case code >= Const0 && code <= 192:
		return uint64(code) - Const0, true
	case code >= ConstM1 && code <= 208:
		return uint64(192 - int64(code)), true
	case code >= ConstHalf && code <= ConstInv:
		return double[code-ConstHalf], true
	}
	return 0, false
}
