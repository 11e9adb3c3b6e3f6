package npu

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/mac"
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
func (st *State) quantizer(o *op, recs []ethosu.ScaleRecord, padded int, single bool) *quantizer {
	st.scratch.bias, st.scratch.scale, st.scratch.shift = grow(st.scratch.bias, padded), grow(st.scratch.scale, padded), grow(st.scratch.shift, padded)
	clear(st.scratch.bias)
	clear(st.scratch.scale)
	clear(st.scratch.shift)
	q := &st.q
	*q = quantizer{padded: padded, bias: st.scratch.bias, scale: st.scratch.scale, shift: st.scratch.shift, recs: recs, single: single}
	q.fast = o.ofm.esz == 1 && o.out.round == ethosu.RoundDouble && !single &&
		(o.out.act == ethosu.ActNone || o.out.table != nil) &&
		o.out.zp >= -1<<16 && o.out.zp <= 1<<16
	for i, r := range recs {
		if r.Scale >= 1<<31 || r.Shift < 31 || r.Shift > 61 {
			q.fast = false
			break
		}
		q.scale[i], q.shift[i] = int32(r.Scale), int32(r.Shift)-31
	}
	return q
}

// run turns the sums of n pixels, the first being p of the strip, into output.
func (q *quantizer) run(st *State, o *op, p, n int, ws *weightSet) {
	s := &o.out
	for i := range n {
		acc := st.scratch.acc[i*q.padded:][:q.padded]
		add := int32(0)
		if ws.offset != 0 {
			add = int32(ws.offset) * acc[o.ofm.c] // the column of ones
		}
		if q.fast {
			dst := st.scratch.out[(p+i)*q.padded:][:q.padded]
			mac.Requant(dst, acc, q.bias, add, q.scale, q.shift, int32(s.zp), int32(s.lo), int32(s.hi))
			if s.table != nil {
				t := (*[256]byte)(s.table)
				for j, v := range dst[:o.ofm.c] {
					dst[j] = t[v+byte(s.bias)]
				}
			}
			continue
		}
		if o.ofm.esz == 1 {
			dst := st.scratch.out[(p+i)*q.padded:][:o.ofm.c]
			for j := range dst {
				dst[j] = byte(s.finish(convScale(int64(acc[j]+q.bias[j]+add), q.recs[j], s.round, q.single)))
			}
			continue
		}
		dst := st.scratch.outRow[(p+i)*o.ofm.c:][:o.ofm.c]
		for j := range dst {
			dst[j] = s.finish(convScale(int64(acc[j]+q.bias[j]+add), q.recs[j], s.round, q.single))
		}
	}
}
