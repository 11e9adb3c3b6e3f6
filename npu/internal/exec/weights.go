package exec

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/mac"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// weightForm is how decoded weights are laid out.
type weightForm uint8

const (
	formPlain     weightForm = iota + 1 // [o][tap][i], int16
	formU8                              // mac.PackU8, less an offset
	formI16                             // mac.PackI16
	formDepthwise                       // mac.PackDepthwise
)

// weightKey is everything the decoded form depends on besides the bytes.
type weightKey struct {
	hash         uint64 // of some of the bytes
	oc, ic, h, w int
	block        int
	ublock       int // of the stream
	bits         int
	dx, dy       int
	cores        int
	depthwise    bool
	partKernel   bool
	form         weightForm
}

// weightSet is the decoded weights of one operation.
type weightSet struct {
	raw    []byte // the encoded streams, for comparison
	plain  []int16
	u8     []int8
	i16    []int16
	offset int     // formU8: weight = packed + offset
	sums   []int32 // over the taps and inputs of each output channel
	maxAbs int
}

// size is the memory that the set occupies.
func (w *weightSet) size() int {
	return len(w.raw) + len(w.u8) + 2*len(w.i16) + 2*len(w.plain) + 4*len(w.sums)
}

// WeightCache keeps the decoded weights of a program: they are a function of the
// bytes, which are compared in full, and do not change, so that runs share them.
type WeightCache struct {
	mu    sync.Mutex
	seed  maphash.Seed
	sets  map[weightKey][]*weightSet
	bytes int
}

// hashed is how many bytes at each end of weights are hashed: most weights differ there,
// and all are compared.
const hashed = 256

func (wc *WeightCache) hash(raw []byte) uint64 {
	n := min(hashed, len(raw))
	return maphash.Bytes(wc.seed, raw[:n]) + 3*maphash.Bytes(wc.seed, raw[len(raw)-n:]) + uint64(len(raw))
}

// find returns the decoded form of raw, nil when there is none, and completes its
// key.
func (wc *WeightCache) find(key *weightKey, raw []byte) *weightSet {
	wc.mu.Lock()
	defer wc.mu.Unlock()
	if wc.sets == nil {
		wc.seed, wc.sets = maphash.MakeSeed(), map[weightKey][]*weightSet{}
	}
	key.hash = wc.hash(raw)
	for _, w := range wc.sets[*key] {
		if bytes.Equal(w.raw, raw) {
			return w
		}
	}
	return nil
}

// add remembers a decoded form.
func (wc *WeightCache) add(key weightKey, w *weightSet) {
	wc.mu.Lock()
	defer wc.mu.Unlock()
	size := w.size()
	if wc.bytes += size; wc.bytes > maxWeightCache {
		clear(wc.sets)
		wc.bytes = size
	}
	wc.sets[key] = append(wc.sets[key], w)
}

// weightScratch is host memory for decoding.
type weightScratch struct {
	stream, plain []int16
	raw           []byte
}

// maxWeightCache bounds the cache; it is emptied when full.
const maxWeightCache = 256 << 20

func weightKeyOf(o *state.Op, form weightForm) weightKey {
	k := weightKey{oc: o.OFM.C, ic: o.IFM.C, h: o.Window.H, w: o.Window.W, block: o.BlockD, bits: 8 * o.IFM.ElemSize,
		dx: o.Window.DilationX, dy: o.Window.DilationY, cores: o.Cores, depthwise: o.Kind == state.Depthwise,
		partKernel: o.Window.PartKernel && o.Kind == state.Conv, form: form}
	if k.depthwise {
		k.ic = 1
	}
	return k
}

// weights decodes the weights of a convolution, or finds them in the program.
func (e *Engine) weights(o *state.Op, form weightForm) (*weightSet, error) {
	raw := e.weightBytes(o)
	key := weightKeyOf(o, form)
	key.ublock = e.UBlock
	if w := e.Cache.find(&key, raw); w != nil {
		return w, nil
	}
	w, err := e.decodeWeights(o, key, raw)
	if err != nil {
		return nil, err
	}
	w.raw = bytes.Clone(raw)
	e.Cache.add(key, w)
	return w, nil
}

// weightBytes is the streams of all cores, one after the other.
func (e *Engine) weightBytes(o *state.Op) []byte {
	first := o.Weights[0]
	if o.Cores == 1 {
		return o.WeightData[first.Base : first.Base+first.Length]
	}
	raw := e.scratch.weights.raw[:0]
	for _, s := range o.Weights[:o.Cores] {
		raw = append(raw, o.WeightData[s.Base:s.Base+s.Length]...)
	}
	e.scratch.weights.raw = raw
	return raw
}

// decodeWeights decodes the streams of all cores and lays the weights out.
func (e *Engine) decodeWeights(o *state.Op, key weightKey, raw []byte) (*weightSet, error) {
	wc := &e.scratch.weights
	per := key.h * key.w * key.ic
	if int64(per)*int64(key.oc) > state.MaxElements {
		return nil, fmt.Errorf("%dx%d weights are too many", key.oc, per)
	}
	if n := key.oc * per; cap(wc.plain) < n {
		wc.plain = make([]int16, n)
	} else {
		wc.plain = wc.plain[:n]
		clear(wc.plain)
	}
	set := &weightSet{}
	for i := range key.cores {
		stream := raw[:o.Weights[i].Length]
		raw = raw[len(stream):]
		depth := ethosu.CoreDepth(key.oc, key.cores, i)
		if depth == 0 {
			continue
		}
		t := ethosu.Traversal{
			OFMDepth: depth, KernelHeight: key.h, KernelWidth: key.w, IFMDepth: key.ic,
			BlockDepth: ethosu.CoreBlockDepth(key.block, key.cores, i),
			Depthwise:  key.depthwise, PartKernel: key.partKernel, IFMBits: key.bits,
			UBlockOFM: e.UBlock, DilationX: key.dx, DilationY: key.dy,
		}
		n, err := t.Len()
		if err != nil {
			return nil, err
		}
		if n > 4*state.MaxElements {
			return nil, fmt.Errorf("%d weights are too many", n)
		}
		if wc.stream, _, err = ethosu.DecodeWeights(wc.stream[:0], stream, int(n)); err != nil {
			return nil, err
		}
		if err := t.Scatter(wc.plain[i*per:], wc.stream, key.cores*per); err != nil {
			return nil, err
		}
	}
	set.layout(wc.plain, key, per)
	return set, nil
}

// layout packs plain weights [o][tap][i] into the form requested.
func (s *weightSet) layout(plain []int16, key weightKey, per int) {
	s.sums = make([]int32, key.oc)
	lo, hi := int16(0), int16(0)
	for o := range s.sums {
		var sum int32
		for _, v := range plain[o*per : (o+1)*per] {
			sum += int32(v)
			lo, hi = min(lo, v), max(hi, v)
		}
		s.sums[o] = sum
	}
	s.maxAbs = max(int(hi), -int(lo))
	taps := key.h * key.w
	switch key.form {
	case formU8:
		if lo < -128 || hi > 127 {
			s.offset = int(lo) + 128
		}
		if int(hi)-s.offset > 127 {
			// The span needs more than 8 bits: the caller uses another form.
			s.plain = nil
			return
		}
		// With an offset a column of ones sums the input.
		s.u8 = mac.PackU8(plain, key.oc, taps, key.ic, s.offset, s.offset != 0)
	case formI16:
		s.i16 = mac.PackI16(plain, key.oc, taps, key.ic)
	case formDepthwise:
		s.i16 = mac.PackDepthwise(key.oc, taps, func(c, t int) int16 { return plain[c*per+t] })
	case formPlain:
		s.plain = append([]int16(nil), plain...)
	}
}
