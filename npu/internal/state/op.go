package state

import "github.com/nnsoc/nnsoc/isa/ethosu"

// MaxElements is the maximum number of elements of a feature map, which bounds the memory of a hostile stream.
const MaxElements = 1 << 25

// Kind is the command of an operation.
type Kind uint8

// Kinds. The first two have weights.
const (
	Conv Kind = iota + 1
	Depthwise
	Pool
	Elementwise
)

// Window is the window of a convolution or pool.
type Window struct {
	H, W                 int // taps
	StrideY, StrideX     int
	DilationY, DilationX int
	ExtentH, ExtentW     int // dilated extent
	PartKernel           bool
	Top, Left            int
	Bottom               int
	Right                int
	Upscale              int // 0 none, 1 nearest, 2 zeros
	InH, InW             int // input extent after upscaling, without padding
}

// Op is one operation decoded from the registers.
type Op struct {
	Kind     Kind
	Mode     int
	IFM      FeatureMap
	IFM2     FeatureMap
	HasIFM2  bool // read from memory
	Scalar   int64
	Swap     bool // IFM2 is the first operand
	OFM      FeatureMap
	Window   Window
	Output   Output
	Acc40    bool // 40-bit accumulators
	BlockH   int  // of the output
	BlockW   int
	BlockD   int
	BlockDep int // blocks that may start before the previous operation ends
	Cores    int // that share the output channels

	ScaleMode          int
	OPAScale, OPBScale uint32
	OPAShift           uint8
	Weights            [2]Stream
	Scales             [2]Stream
	WeightData         []byte // the whole weight region
	ScaleData          []byte
	WeightRegion       int
	ScaleRegion        int
	IBEnd, ABStart     int // SHRAM banks: end of the input buffers, start of the accumulators
}

// Stream is the weights or scale records of one core: a part of a region.
type Stream struct{ Base, Length int }

// Output is the output stage of an operation: rounding scale, zero point, clamp, activation.
type Output struct {
	Round      int
	Global     bool // scale and shift are OFM_SCALE's
	Scale      uint32
	Shift      uint8
	ZeroPoint  int64
	Min, Max   int64
	Activation int
	Table      []byte // lookup table, by activation
	TableBias  int64  // added to a value to index an 8-bit table
	ElemSize   int
	Signed     bool
}

var poolNames = [...]string{ethosu.PoolMax: "max_pool", ethosu.PoolAverage: "average_pool", ethosu.PoolReduceSum: "reduce_sum"}

var elementwiseNames = [ethosu.NumElt]string{
	ethosu.EltMul: "mul", ethosu.EltAdd: "add", ethosu.EltSub: "sub", ethosu.EltMin: "min", ethosu.EltMax: "max",
	ethosu.EltLRelu: "leaky_relu", ethosu.EltAbs: "abs", ethosu.EltClz: "clz", ethosu.EltShr: "shr", ethosu.EltShl: "shl",
}

// Name is the name of an operation in reports.
func (o *Op) Name() string {
	switch o.Kind {
	case Conv:
		return "conv"
	case Depthwise:
		return "depthwise"
	case Pool:
		return poolNames[o.Mode]
	}
	return elementwiseNames[o.Mode]
}

// Reduces reports whether every output channel needs all input channels.
func (o *Op) Reduces() bool {
	return o.Kind == Conv || o.Kind == Pool && o.Mode == ethosu.PoolReduceSum
}

// MACs is the multiply-accumulates of an operation with weights.
func (o *Op) MACs() int64 {
	if o.Kind > Depthwise {
		return 0
	}
	n := int64(o.OFM.H) * int64(o.OFM.W) * int64(o.OFM.C) * int64(o.Window.H) * int64(o.Window.W)
	if o.Kind == Conv {
		n *= int64(o.IFM.C)
	}
	return n
}

// TypeRange is the range of integers of esz bytes.
func TypeRange(esz int, signed bool) (lo, hi int64) {
	bits := uint(8 * esz)
	if signed {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, 1<<bits - 1
}
