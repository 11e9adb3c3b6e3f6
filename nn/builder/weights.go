package builder

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// PreActivation is the standard deviation that layers aim at before their
// activation. With it RELU6 clips beyond three deviations.
const PreActivation = 2

// weightDeviation is the standard deviation of quantized weights around their
// zero point (assumed, D-365).
const weightDeviation = 28

// kernel describes the weights of a layer: n channels of k weights each.
type kernel struct {
	n, k int
	// interleaved: weight i of channel c is at i*n+c, as in depthwise filters;
	// otherwise at c*k+i.
	interleaved bool
	channelDim  uint32   // of dims
	dims        []uint32 // shape of the filter operand
	perChannel  bool     // the operation supports TENSOR_QUANT8_SYMM_PER_CHANNEL
	noBias      bool
	deviation   float64 // wanted of the output, 0 is PreActivation
}

// weights adds the filter and the bias of a layer that reads x.
func (b *Builder) weights(x Tensor, w kernel) (filter, bias Tensor) {
	name := fmt.Sprintf("layer%d", len(b.graph.Operations))
	b.parameters += int64(w.n) * int64(w.k)
	if !w.noBias {
		b.parameters += int64(w.n)
	}
	w.deviation = cmp.Or(w.deviation, PreActivation)
	spread := b.SpreadOf(x).Deviation
	if !(spread > 0) || w.n <= 0 || w.k <= 0 {
		b.fail("a layer of %d channels of %d weights on values of deviation %g", w.n, w.k, spread)
		return b.Ints(0), b.Ints(0)
	}
	scale := float32(w.deviation / (spread * weightDeviation * math.Sqrt(float64(w.k))))
	scales := b.channelScales(scale, w)
	f := nn.Operand{Name: name + "/weights", Dimensions: w.dims, Lifetime: nn.ConstantReference}
	switch {
	case b.Type() == nn.TensorFloat32:
		f.Type = nn.TensorFloat32
	case b.Format == Quant8:
		f.Type, f.Scale, f.ZeroPoint = nn.TensorQuant8Asymm, scale, 128
	case w.perChannel:
		f.Type = nn.TensorQuant8SymmPerChannel
		f.Channel = &nn.ChannelQuant{Dim: w.channelDim, Scales: scales}
	default:
		f.Type, f.Scale = nn.TensorQuant8AsymmSigned, scale
	}
	biases := make([]float32, w.n)
	if b.ShapesOnly {
		return b.Operand(f), b.bias(x, f, name, biases)
	}
	f.Data = b.values(&f, w, scales)
	if !w.noBias {
		for i := range biases {
			biases[i] = float32(b.seed.bell(w.deviation / 8))
		}
	}
	return b.Operand(f), b.bias(x, f, name, biases)
}

// channelScales is the weight scale of each channel: all the same, or within
// 20 % of the layer's (assumed, D-365).
func (b *Builder) channelScales(scale float32, w kernel) []float32 {
	scales := make([]float32, w.n)
	for c := range scales {
		scales[c] = scale
		if b.ChannelScales && b.Format != Quant8 && w.perChannel {
			scales[c] *= 0.8 + 0.4*float32(b.scales.next()>>8)/(1<<24)
		}
	}
	return scales
}

// values makes the data of a filter.
func (b *Builder) values(f *nn.Operand, w kernel, scales []float32) []byte {
	data := make([]byte, w.n*w.k*f.Type.ElementBytes())
	channel := make([]int32, w.k)
	zero, low := f.ZeroPoint, int32(-128)
	if f.Type == nn.TensorQuant8SymmPerChannel {
		low = -127
	}
	for c := range w.n {
		b.seed.channel(channel)
		at, step := c*w.k, 1
		if w.interleaved {
			at, step = c, w.n
		}
		scale := scales[c]
		if f.Type == nn.TensorFloat32 {
			for _, v := range channel {
				x := scale * float32(min(max(v, low), 127))
				binary.LittleEndian.PutUint32(data[4*at:], math.Float32bits(x))
				at += step
			}
			continue
		}
		for _, v := range channel {
			data[at] = byte(zero + min(max(v, low), 127))
			at += step
		}
	}
	return data
}

// bias adds the bias of a layer that reads x through filter f.
func (b *Builder) bias(x Tensor, f nn.Operand, name string, values []float32) Tensor {
	n := uint32(len(values))
	if b.Type() == nn.TensorFloat32 {
		return b.Constant(name+"/bias", nn.TensorFloat32, Quant{}, b.data(floats, values), n)
	}
	input := b.operand(x).Scale
	q := Quant{Scale: input * f.Scale}
	steps := make([]int32, n)
	for i, v := range values {
		scale := q.Scale
		if f.Channel != nil {
			scale = input * f.Channel.Scales[i]
		}
		steps[i] = int32(math.Round(float64(v) / float64(scale)))
	}
	if b.ShapesOnly {
		return b.Constant(name+"/bias", nn.TensorInt32, q, nil, n)
	}
	return b.Constant(name+"/bias", nn.TensorInt32, q, int32s(steps...), n)
}

func (b *Builder) data(encode func(...float32) []byte, values []float32) []byte {
	if b.ShapesOnly {
		return nil
	}
	return encode(values...)
}

// Table adds a constant of random values with the deviation given that counts
// as parameters: embeddings and the like. Float networks only.
func (b *Builder) Table(name string, deviation float64, dims ...uint32) Tensor {
	n := nn.Elements(dims)
	b.parameters += n
	o := nn.Operand{Name: name, Type: nn.TensorFloat32, Dimensions: dims, Lifetime: nn.ConstantReference}
	if b.Type() != nn.TensorFloat32 {
		b.fail("a table of floats in a quantized network")
	} else if !b.ShapesOnly {
		o.Data = make([]byte, 4*n)
		for i := range n {
			binary.LittleEndian.PutUint32(o.Data[4*i:], math.Float32bits(float32(b.seed.bell(deviation))))
		}
	}
	t := b.Operand(o)
	b.spread[t] = Spread{0, deviation}
	return t
}

// noise is the xorshift32 generator: small, and the same everywhere.
type noise uint32

// defaultSeed is the state of a Builder of seed 0; the state must not be 0.
const defaultSeed = 0x2545F491

func (n *noise) next() uint32 {
	x := *n
	x = cmp.Or(x, defaultSeed)
	x ^= x << 13
	x ^= x >> 17
	x ^= x << 5
	*n = x
	return uint32(x)
}

// bellDeviation is the deviation of the sum of four bytes, sqrt(4*(256^2-1)/12).
const bellDeviation = 147.8

// bytes is the sum of four random bytes less its mean 510: bell-shaped.
func (n *noise) bytes() int {
	x := n.next()
	pairs := x&0x00ff00ff + x>>8&0x00ff00ff
	return int(pairs&0xffff+pairs>>16) - 510
}

// bell is a bell-shaped value with mean 0 and the deviation given.
func (n *noise) bell(deviation float64) float64 {
	return float64(n.bytes()) * deviation / bellDeviation
}

// channel fills the weights of one output channel: bell-shaped integers of
// deviation weightDeviation whose sum is zero. A single weight
// stays, but is not zero.
func (n *noise) channel(w []int32) {
	surplus := int32(0)
	for i := range w {
		w[i] = bellSteps[n.bytes()+510]
		surplus += w[i]
	}
	// surplus/(k-i) is subtracted from weight i, so the last ones absorb the
	// remainder. A surplus of at most k is subtracted as ones from the last |surplus| weights.
	k := int32(len(w))
	if k == 1 {
		w[0] = cmp.Or(w[0], weightDeviation)
		return
	}
	if size := max(surplus, -surplus); size <= k {
		one := int32(1)
		if surplus < 0 {
			one = -1
		}
		for i := k - size; i < k; i++ {
			w[i] -= one
		}
		return
	}
	for i := range w {
		share := surplus / (k - int32(i))
		w[i] -= share
		surplus -= share
	}
}

// bellSteps is the weight of each sum of four bytes.
var bellSteps = func() (t [1021]int32) {
	for s := range t {
		t[s] = int32(math.Round(float64(s-510) * weightDeviation / bellDeviation))
	}
	return t
}()

// Matrix adds synthetic weights [n, channels of x] for an operation with several
// separate weight operands, such as LSTM. Products with x have the given
// deviation. Float networks only.
func (b *Builder) Matrix(name string, x Tensor, n uint32, deviation float64) Tensor {
	k := b.Channels(x)
	s := b.SpreadOf(x).Deviation
	if !(s > 0) {
		b.fail("%s: weights for values of deviation %g", name, s)
		return x
	}
	return b.Table(name, deviation/(s*math.Sqrt(float64(k))), n, k)
}
