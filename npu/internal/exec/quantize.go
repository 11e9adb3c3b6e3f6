package exec

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/mac"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// quantizer is the output stage of a convolution over chunks of sums.
type quantizer struct {
	padded       int
	bias         []int32 // added to the sums, per channel
	scale, shift []int32 // of the fast path
	recs         []ethosu.ScaleRecord
	fast         bool
	single       bool
}

// quantizer prepares the output stage; the caller fills bias.
func (e *Engine) quantizer(o *state.Op, recs []ethosu.ScaleRecord, padded int, single bool) *quantizer {
	e.scratch.bias, e.scratch.scale, e.scratch.shift = grow(e.scratch.bias, padded), grow(e.scratch.scale, padded), grow(e.scratch.shift, padded)
	clear(e.scratch.bias)
	clear(e.scratch.scale)
	clear(e.scratch.shift)
	q := &e.q
	*q = quantizer{padded: padded, bias: e.scratch.bias, scale: e.scratch.scale, shift: e.scratch.shift, recs: recs, single: single}
	q.fast = o.OFM.ElemSize == 1 && o.Output.Round == ethosu.RoundDouble && !single &&
		o.Output.ZeroPoint >= -1<<16 && o.Output.ZeroPoint <= 1<<16
	for i, r := range recs {
		if r.Scale >= 1<<31 || r.Shift < 31 || r.Shift > 61 {
			q.fast = false
			break
		}
		q.scale[i], q.shift[i] = int32(r.Scale), int32(r.Shift)-31
	}
	return q
}

// run converts the sums of n pixels, the first being p of the strip, to output.
func (q *quantizer) run(e *Engine, o *state.Op, p, n int, ws *weightSet) {
	s := &o.Output
	for i := range n {
		acc := e.scratch.acc[i*q.padded:][:q.padded]
		add := int32(0)
		if ws.offset != 0 {
			add = int32(ws.offset) * acc[o.OFM.C] // the column of ones
		}
		if q.fast {
			dst := e.scratch.out[(p+i)*q.padded:][:q.padded]
			mac.Requant(dst, acc, q.bias, add, q.scale, q.shift, int32(s.ZeroPoint), int32(s.Min), int32(s.Max))
			if s.Table != nil {
				t := (*[256]byte)(s.Table)
				for j, v := range dst[:o.OFM.C] {
					dst[j] = t[v+byte(s.TableBias)]
				}
			}
			continue
		}
		if o.OFM.ElemSize == 1 {
			dst := e.scratch.out[(p+i)*q.padded:][:o.OFM.C]
			for j := range dst {
				dst[j] = byte(finish(s, convScale(int64(acc[j]+q.bias[j]+add), q.recs[j], s.Round, q.single)))
			}
			continue
		}
		dst := e.scratch.outRow[(p+i)*o.OFM.C:][:o.OFM.C]
		for j := range dst {
			dst[j] = finish(s, convScale(int64(acc[j]+q.bias[j]+add), q.recs[j], s.Round, q.single))
		}
	}
}
