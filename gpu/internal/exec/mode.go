package exec

import (
	"math"

	"github.com/nnsoc/nnsoc/gpu/internal/float"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// The float modes of a wave: register MODE, of which a wave holds the bits that differ from the modes of compiled
// kernels. An instruction of a program that may run in other modes is executed by execModed, which flushes the
// denormals of its sources, has it executed with its direction of rounding, and flushes its result.

// moved are instructions on floats that compute nothing: they do not flush.
var moved = map[rdna2.Mnemonic]bool{rdna2.M_V_MOV_B32: true, rdna2.M_V_CNDMASK_B32: true,
	rdna2.M_V_CMP_CLASS_F32: true, rdna2.M_V_CMP_CLASS_F16: true, rdna2.M_V_CMPX_CLASS_F32: true, rdna2.M_V_CMPX_CLASS_F16: true}

// bindMode lets an operation that computes floats obey the modes.
func bindMode(p *state.Program, u *state.Op) {
	x := u.Details
	if !p.Moded || u.Handler == nil || moved[x.Form.Mnemonic] {
		return
	}
	x.Plain, u.Handler = u.Handler, execModed
}

func execModed(w *state.Wave, u *state.Op) {
	x := u.Details
	m := w.Exec()
	t := *u
	for i, op := range [...]struct {
		from *state.Source
		v    *uint32
	}{{&t.AFrom, &t.A}, {&t.BFrom, &t.B}, {&t.CFrom, &t.C}} {
		flush := flusher(w.Mode, sourceKind(x, i), state.ModeFlushIn)
		if *op.from == state.SourceNone || flush == nil {
			continue
		}
		from, to := readRow(w, *op.from, *op.v, i), &w.Machine.Prepared[state.FlushedRow+i]
		for l := range w.Lanes {
			to[l] = flush(from[l])
		}
		*op.from, *op.v = state.SourcePrepared, uint32(state.FlushedRow+i)
	}
	if m := rounding(w.Mode, x.Result); x.Directed != nil && m != float.Nearest {
		t.Row = x.Directed[m]
	}
	x.Plain(w, &t)
	kind := map[state.Result]rdna2.Kind{state.ResultF32: rdna2.F32, state.ResultF16: rdna2.V2F16}[x.Result]
	flush := flusher(w.Mode, kind, state.ModeFlushOut)
	if flush == nil {
		return
	}
	d := w.Row(u.Dst)
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		v := flush(d[l])
		switch {
		case !x.Half:
		case x.Form.Format == rdna2.VOP3 && x.Inst.OpSel&8 != 0:
			v = v&^0xFFFF | d[l]&0xFFFF
		default:
			v = v&0xFFFF | d[l]&^0xFFFF
		}
		d[l] = v
	}
}

// sourceKind is the type of source i; the destination that an operation accumulates in has the type of the result, and
// a source of a mixed multiply-add is a half where op_sel_hi says so.
func sourceKind(x *state.Details, i int) rdna2.Kind {
	switch {
	case x.Form.Has(rdna2.FlagNegAbs) && x.Inst.OpSelHi>>i&1 == 0:
		return rdna2.F32
	case i == 2 && x.Accumulates && x.Result == state.ResultF32:
		return rdna2.F32
	case i == 2 && x.Accumulates && x.Result == state.ResultF16:
		return rdna2.V2F16
	}
	return x.Kind[i]
}

// flusher is the function that flushes operands of a kind in a mode, in or out; nil where denormals are kept.
func flusher(mode uint32, k rdna2.Kind, direction uint32) func(uint32) uint32 {
	switch {
	case k == rdna2.F32 && mode&(direction<<state.ModeDenorm32) != 0:
		return float.Flush
	case (k == rdna2.F16 || k == rdna2.V2F16) && mode&(direction<<state.ModeDenorm16) != 0:
		return flushHalves
	}
	return nil
}

// flushHalves flushes both halves.
func flushHalves(v uint32) uint32 {
	for _, half := range [...]uint32{0x0000FFFF, 0xFFFF0000} {
		if v&half&0x7C007C00 == 0 {
			v &^= half & 0x03FF03FF
		}
	}
	return v
}

// outputScale is the factor of an output modifier, 1 where the modes let it have no effect: it needs flushed results and
// a mode that is not that of IEEE 754.
func outputScale(mode uint32, k state.Result, omod uint8) float64 {
	denorm := uint32(state.ModeFlushOut) << state.ModeDenorm16
	if k == state.ResultF32 {
		denorm = state.ModeFlushOut << state.ModeDenorm32
	}
	if mode&state.ModeIEEE == 0 || mode&denorm == 0 {
		return 1
	}
	return [4]float64{1, 2, 4, 0.5}[omod&3]
}

// scaled32 is a float after an output modifier, which makes -0 a 0.
func scaled32(v uint32, by float64) uint32 {
	if float.IsNaN32(v) {
		return v
	}
	return float.Bits32(float32(float64(float.F32(v))*by) + 0)
}

// scaled16 is scaled32 of a half.
func scaled16(h uint32, by float64) uint32 {
	return float.ToHalf(scaled32(float.FromHalf(h), by))
}

// clamp32 limits a float to [0,1]; NaN becomes 0, unless DX10_CLAMP is off.
func clamp32(mode, v uint32) uint32 {
	if mode&state.ModeDX10 != 0 && float.IsNaN32(v) {
		return v
	}
	return float.Clamp(v)
}

func clamp16(mode, h uint32) uint32 { return float.ToHalf(clamp32(mode, float.FromHalf(h))) }

func clamp64(mode uint32, v uint64) uint64 {
	f := float.F64(v)
	switch {
	case math.IsNaN(f) && mode&state.ModeDX10 != 0:
		return v
	case !(f > 0):
		return 0
	}
	return float.Bits64(min(f, 1))
}
