package kernel

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
)

// Weights are the weights of a kernel, as the bytes of a filter operand and how they
// are read, and a scale record per output channel.
type Weights struct {
	Filter  []byte // of the whole operand
	Signed  bool
	Zero    int
	Form    Form
	First   int // output channel of the operand at which the kernel begins
	Outputs int // output channels
	Taps    int
	Inputs  int // channels of the operand's input
	// Channels are the outputs of the operand, Multiplier its outputs per input where it
	// is depthwise.
	Channels, Multiplier int
	Records              []ethosu.ScaleRecord
	// Bits is the estimated bits of an encoded weight: the Entropy of the values.
	Bits float64
}

// entropySample is the bytes of a filter that are looked at for its entropy.
const entropySample = 1 << 12

// Entropy is the lower bound of the bits per weight of a code of single weights, from a sample of
// them; at least 1, the shortest encoded weight.
func (w *Weights) Entropy() float64 {
	step := max(1, len(w.Filter)/entropySample)
	var count [256]int
	n := 0
	for at := 0; at < len(w.Filter); at += step {
		count[w.Filter[at]]++
		n++
	}
	bits := 0.0
	for _, c := range count {
		if c > 0 {
			bits -= float64(c) / float64(n) * math.Log2(float64(c)/float64(n))
		}
	}
	return max(bits, 1)
}

// Form is how a filter operand holds its weights.
type Form uint8

// The forms. A depthwise kernel maps channel i to channel i; with several outputs per
// channel it becomes a convolution whose other weights are zero.
const (
	PerOutput  Form = iota + 1 // [output][tap][input]
	PerTap                     // [1][tap][output], one input per output
	Multiplied                 // the same, for Conv
	Ones                       // no operand: one tap of 1
)

// PerInput is the inputs that an output reads.
func (w *Weights) PerInput() int {
	if w.Form == PerTap || w.Form == Ones {
		return 1
	}
	return w.Inputs
}

// AppendPlain appends the weights minus their zero point, [output][tap][input].
func (w *Weights) AppendPlain(dst []int16) []int16 {
	var value [256]int16 // of each byte
	for b := range value {
		if value[b] = int16(b) - int16(w.Zero); w.Signed {
			value[b] = int16(int8(b)) - int16(w.Zero)
		}
	}
	at := func(i int) int16 { return value[w.Filter[i]] }
	inputs := w.PerInput()
	dst = append(dst, make([]int16, w.Outputs*w.Taps*inputs)...)
	p := dst[len(dst)-w.Outputs*w.Taps*inputs:]
	switch w.Form {
	case Ones:
		for i := range p {
			p[i] = 1
		}
	case PerTap:
		for o := range w.Outputs {
			for t := range w.Taps {
				p[o*w.Taps+t] = at(t*w.Channels + w.First + o)
			}
		}
	case Multiplied:
		for o := range w.Outputs {
			for t := range w.Taps {
				p[(o*w.Taps+t)*inputs+(w.First+o)/w.Multiplier] = at(t*w.Channels + w.First + o)
			}
		}
	default:
		first := w.First * w.Taps * inputs
		for i, b := range w.Filter[first : first+len(p)] {
			p[i] = value[b]
		}
	}
	return dst
}

// PackedBytes is the approximate size of the packed form in bytes: 9 bits for a weight, 10 bytes for a record.
func (w *Weights) PackedBytes() int {
	return w.Outputs*w.Taps*w.PerInput()*9/8 + 10*w.Outputs + 4*layout.Alignment
}

// Packed is the location of a kernel's constants in region 0: one contiguous part, so
// that one copy fetches it.
type Packed struct {
	Fetch       layout.Buffer
	ScaleBytes  [2]int // per core
	WeightBytes [2]int
	TableOffset int
}

// At moves packed constants that were made for the beginning of a region by offset bytes.
func (p Packed) At(offset int) Packed {
	p.Fetch.Addr += offset
	p.TableOffset += offset
	return p
}

// Packer is memory that Pack keeps from one kernel to the next, ready for use.
type Packer struct {
	plain, core, stream []int16
	compressor          ethosu.Compressor
}

// Pack encodes records, weights and table: per core the scale records, padded, then the
// weight stream; a lookup table by itself.
func (m *Packer) Pack(s *npu.Spec, k *Kernel, c *layout.Constants) (p Packed, err error) {
	if k.Table != nil {
		p.TableOffset = c.Add(k.Table)
	}
	w := k.Weights
	if w == nil {
		return p, nil
	}
	m.plain = w.AppendPlain(m.plain[:0])
	start := layout.Align(len(c.Data))
	for n := range min(s.Cores, w.Outputs) { // lengths of 0 leave the second core idle
		c.Pad()
		before := len(c.Data)
		for o := n; o < w.Outputs; o += s.Cores {
			if c.Data, err = w.Records[o].Append(c.Data); err != nil {
				return p, fmt.Errorf("output channel %d: %w", o, err)
			}
		}
		c.Pad()
		p.ScaleBytes[n] = len(c.Data) - before
		t := ethosu.Traversal{
			OFMDepth: ethosu.CoreDepth(w.Outputs, s.Cores, n), KernelHeight: k.KH, KernelWidth: k.KW, IFMDepth: w.PerInput(),
			BlockDepth: ethosu.CoreBlockDepth(k.Block.D, s.Cores, n), Depthwise: k.Kind == Depthwise,
			PartKernel: k.PartKernel, IFMBits: 8, UBlockOFM: s.UBlockStream, DilationX: k.DX, DilationY: k.DY,
		}
		weights := m.plain
		if s.Cores > 1 {
			m.core = everyChannel(m.core[:0], m.plain, w.Outputs, n, s.Cores)
			weights = m.core
		}
		if m.stream, err = t.Gather(m.stream[:0], weights); err != nil {
			return p, err
		}
		before = len(c.Data)
		if c.Data, err = m.compressor.Append(c.Data, m.stream); err != nil {
			return p, err
		}
		p.WeightBytes[n] = len(c.Data) - before
	}
	p.Fetch = layout.Buffer{Region: layout.RegionConst, Addr: start, Bytes: layout.Align(len(c.Data)) - start}
	c.Pad()
	return p, nil
}

// everyChannel appends the weights of output channels first, first+step, ...
func everyChannel(part, w []int16, channels, first, step int) []int16 {
	n := len(w) / channels
	for o := first; o < channels; o += step {
		part = append(part, w[o*n:(o+1)*n]...)
	}
	return part
}
