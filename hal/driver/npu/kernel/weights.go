package kernel

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
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
}

// Form is how a filter operand holds its weights.
type Form uint8

// The forms. A depthwise kernel maps channel i to channel i; with several outputs per
// channel it becomes a convolution whose other weights are zero.
const (
	PerOutput  Form = iota // [output][tap][input]
	PerTap                 // [1][tap][output], one input per output
	Multiplied             // the same, for Conv
	Ones                   // no operand: one tap of 1
)

// PerInput is the inputs that an output reads.
func (w *Weights) PerInput() int {
	if w.Form == PerTap || w.Form == Ones {
		return 1
	}
	return w.Inputs
}

// Plain is the weights minus their zero point, [output][tap][input].
func (w *Weights) Plain() []int16 {
	at := func(i int) int16 {
		if w.Signed {
			return int16(int8(w.Filter[i])) - int16(w.Zero)
		}
		return int16(w.Filter[i]) - int16(w.Zero)
	}
	inputs := w.PerInput()
	p := make([]int16, w.Outputs*w.Taps*inputs)
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
		for i := range p {
			p[i] = at(first + i)
		}
	}
	return p
}

// Packed is where the constants of a kernel lie in region 0: one contiguous part, so
// that one copy fetches it.
type Packed struct {
	Fetch       layout.Buffer
	ScaleBytes  [2]int // per core
	WeightBytes [2]int
	TableOffset int
}

// Pack encodes records, weights and table: per core the scale records, padded, then the
// weight stream; a lookup table by itself.
func (k *Kernel) Pack(s *core.Spec, c *layout.Constants) (p Packed, err error) {
	if k.Table != nil {
		p.TableOffset = c.Add(k.Table)
	}
	w := k.Weights
	if w == nil {
		return p, nil
	}
	plain := w.Plain()
	start := layout.Align(len(c.Data))
	for n := range min(s.Cores, w.Outputs) { // lengths of 0 leave the second core idle
		var part []byte
		for o := n; o < w.Outputs; o += s.Cores {
			if part, err = w.Records[o].Append(part); err != nil {
				return p, fmt.Errorf("output channel %d: %w", o, err)
			}
		}
		part = append(part, make([]byte, layout.Align(len(part))-len(part))...)
		p.ScaleBytes[n] = len(part)
		t := ethosu.Traversal{
			OFMDepth: ethosu.CoreDepth(w.Outputs, s.Cores, n), KernelHeight: k.KH, KernelWidth: k.KW, IFMDepth: w.PerInput(),
			BlockDepth: ethosu.CoreBlockDepth(k.Block.D, s.Cores, n), Depthwise: k.Kind == Depthwise,
			PartKernel: k.PartKernel, IFMBits: 8, UBlockOFM: s.UBlockStream, DilationX: k.DX, DilationY: k.DY,
		}
		stream, err := t.Gather(nil, everyChannel(plain, w.Outputs, n, s.Cores))
		if err != nil {
			return p, err
		}
		before := len(part)
		if part, err = ethosu.EncodeWeights(part, stream); err != nil {
			return p, err
		}
		p.WeightBytes[n] = len(part) - before
		c.Add(part)
	}
	p.Fetch = layout.Buffer{Region: layout.RegionConst, Addr: start, Bytes: layout.Align(len(c.Data)) - start}
	c.Pad()
	return p, nil
}

// everyChannel picks the weights of output channels first, first+step, ...
func everyChannel(w []int16, channels, first, step int) []int16 {
	if step == 1 {
		return w
	}
	n := len(w) / channels
	var part []int16
	for o := first; o < channels; o += step {
		part = append(part, w[o*n:(o+1)*n]...)
	}
	return part
}
