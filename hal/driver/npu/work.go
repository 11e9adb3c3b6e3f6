package npu

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// fm is a feature map as commands see it: height, width and channels with
// byte strides, in a region. Channels are dense.
type fm struct {
	region, addr     int
	h, w, c          int
	strideY, strideX int
	bytes            int // per element: 1 or 4
	signed           bool
	zero             int // subtracted from, or added to, elements
}

// dense is a map of h x w x c elements without gaps at an offset of a value.
func dense(at, h, w, c, bytes int, signed bool) fm {
	return fm{addr: at, h: h, w: w, c: c, strideY: w * c * bytes, strideX: c * bytes, bytes: bytes, signed: signed}
}

// end is the address behind the last byte.
func (f *fm) end() int { return f.addr + (f.h-1)*f.strideY + (f.w-1)*f.strideX + f.c*f.bytes }

func (f *fm) overlaps(o *fm) bool {
	return f.region == o.region && f.addr < o.end() && o.addr < f.end()
}

// ref is a feature map inside a value that gets its address later. With the
// value placed, region and address of the map are final.
type ref struct {
	value int
	fm
}

// placed is the value of a ref whose region and address are final already.
const placed = -1

// workKind is what a piece of work issues.
type workKind uint8

const (
	kindConv workKind = iota
	kindDepthwise
	kindPool
	kindElementwise
	kindCopy // DMA of ifm's bytes to ofm
)

// work is one kernel or copy before addresses of activations are known.
type work struct {
	op   int // operation of the model; -1 for inputs and outputs of the model
	kind workKind
	mode int // of a pool or an elementwise kernel
	ifm  ref
	ifm2 *ref
	ofm  ref
	// broadcast: IFM2_BROADCAST bits.
	broadcast int

	kh, kw, sy, sx, dy, dx   int // kernel in taps, dilation 1 or 2
	top, left, right, bottom int
	partKernel               bool

	weights *weights
	table   []byte // lookup table of the output stage, 256 or 1024 bytes
	clip    int    // forced clip range

	global    bool // OFM_SCALE instead of a record per channel
	scale     uint32
	shift     int
	scaleMode int // of ADD and SUB
	opaScale  uint32
	opaShift  int
	opbScale  uint32
	round     int
	lo, hi    int

	block block

	// Filled when constants are laid out: the copy from region 0.
	fetch       buffer
	scaleLen    [2]int // bytes per core
	weightLen   [2]int
	tableOffset int
}

// weights are a kernel's weights in plain form: dense [o][y][x][i] of a
// convolution, i = 1 for depthwise, already minus their zero point.
type weights struct {
	w       func() []int16
	o, i    int
	records []ethosu.ScaleRecord
}
