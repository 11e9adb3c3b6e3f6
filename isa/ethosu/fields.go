package ethosu

// Values of fields that are more than a number. See the table for the bits.
const (
	PoolMax = iota
	PoolAverage
	PoolReduceSum
)

// Elementwise modes, the parameter of OpElementwise.
const (
	EltMul = iota
	EltAdd
	EltSub
	EltMin
	EltMax
	EltLRelu
	EltAbs
	EltClz
	EltShr
	EltShl
	NumElt
)

// Rounding modes of OFM_PRECISION.
const (
	RoundDouble   = 0 // at bit 31 half up, then the rest half away from zero (TFLite)
	RoundTruncate = 1
	RoundNatural  = 2 // half up
)

// Layouts of a feature map.
const (
	NHWC    = 0
	NHCWB16 = 1
)

// Scale modes of IFM_PRECISION for ADD and SUB.
const (
	ScaleBoth16 = 0
	ScaleOPA32  = 1
	ScaleOPB32  = 2
)

// Activation functions and clip ranges.
const (
	ActNone    = 0
	ActTanh    = 3
	ActSigmoid = 4
	ActTable   = 16 // plus the slot, 0..7

	ClipOFM   = 0
	ClipUint8 = 2
	ClipInt8  = 3
	ClipInt16 = 5
)

// Bits of IFM2_BROADCAST and of the DMA regions.
const (
	BroadcastH      = 1 << 0
	BroadcastW      = 1 << 1
	BroadcastC      = 1 << 2
	BroadcastSwap   = 1 << 6 // IFM2 is the first operand
	BroadcastScalar = 1 << 7

	DMAInternal = 1 << 8
)

func flag(b bool, bit uint) int {
	if b {
		return 1 << bit
	}
	return 0
}

// log2Size is the precision code of an element of 1, 2 or 4 bytes.
func log2Size(bytes int) int { return bytes >> 1 }

// IFMPrecision is the value of IFM_PRECISION, and with scaleMode 0 that of
// IFM2_PRECISION, for elements of 1, 2 or 4 bytes.
func IFMPrecision(signed bool, bytes, layout, scaleMode int) int {
	return flag(signed, 0) | log2Size(bytes)<<2 | layout<<6 | scaleMode<<8
}

// OFMPrecision is the value of OFM_PRECISION; global selects OFM_SCALE in
// place of the per-channel records.
func OFMPrecision(signed bool, bytes, layout int, global bool, round int) int {
	return flag(signed, 0) | log2Size(bytes)<<1 | layout<<6 | flag(global, 8) | round<<14
}

// KernelStride is the value of KERNEL_STRIDE: strides 1..4, dilations 1..2.
func KernelStride(sx, sy, dx, dy int, partKernel bool) int {
	x, y := sx-1, sy-1
	return x&1 | y&1<<1 | flag(partKernel, 2) | (dx-1)&1<<3 | (dy-1)&1<<4 | x>>1&1<<6 | y>>1&1<<9
}
