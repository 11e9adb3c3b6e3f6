package scalar

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var dotRows = []family.Row{
	// Complex and vector multiplies.
	{hexagon.M2_cmpyi_s0, dots(16, 16, "+10+01").total()},
	{hexagon.M2_cmaci_s0, dots(16, 16, "+10+01").add().total()},
	{hexagon.M2_cmpyr_s0, dots(16, 16, "+00-11").total()},
	{hexagon.M2_cmacr_s0, dots(16, 16, "+00-11").add().total()},
	{hexagon.M2_vcmpy_s0_sat_i, dots(16, 16, "+10+01 +32+23").sat().words()},
	{hexagon.M2_vcmpy_s1_sat_i, dots(16, 16, "+10+01 +32+23").doubled().sat().words()},
	{hexagon.M2_vcmac_s0_sat_i, dots(16, 16, "+10+01 +32+23").add().sat().words()},
	{hexagon.M2_vcmpy_s0_sat_r, dots(16, 16, "+00-11 +22-33").sat().words()},
	{hexagon.M2_vcmpy_s1_sat_r, dots(16, 16, "+00-11 +22-33").doubled().sat().words()},
	{hexagon.M2_vcmac_s0_sat_r, dots(16, 16, "+00-11 +22-33").add().sat().words()},
	{hexagon.M2_vrcmpyi_s0, dots(16, 16, "+10+01+32+23").total()},
	{hexagon.M2_vrcmaci_s0, dots(16, 16, "+10+01+32+23").add().total()},
	{hexagon.M2_vrcmpyi_s0c, dots(16, 16, "+10-01+32-23").total()},
	{hexagon.M2_vrcmaci_s0c, dots(16, 16, "+10-01+32-23").add().total()},
	{hexagon.M2_vrcmpyr_s0, dots(16, 16, "+00-11+22-33").total()},
	{hexagon.M2_vrcmacr_s0, dots(16, 16, "+00-11+22-33").add().total()},
	{hexagon.M2_vrcmpyr_s0c, dots(16, 16, "+00+11+22+33").total()},
	{hexagon.M2_vrcmacr_s0c, dots(16, 16, "+00+11+22+33").add().total()},
	{hexagon.M2_vrcmpys_s1_h, dots(16, 16, "+02+23 +12+33").doubled().sat().words()},
	{hexagon.M2_vrcmpys_acc_s1_h, dots(16, 16, "+02+23 +12+33").doubled().add().sat().words()},
	{hexagon.M2_vrcmpys_s1rp_h, dots(16, 16, "+02+23 +12+33").doubled().packs()},
	{hexagon.M2_vrcmpys_s1_l, dots(16, 16, "+00+21 +10+31").doubled().sat().words()},
	{hexagon.M2_vrcmpys_acc_s1_l, dots(16, 16, "+00+21 +10+31").doubled().add().sat().words()},
	{hexagon.M2_vrcmpys_s1rp_l, dots(16, 16, "+00+21 +10+31").doubled().packs()},
	{hexagon.M2_vrmpy_s0, dots(16, 16, "+00+11+22+33").total()},
	{hexagon.M2_vrmac_s0, dots(16, 16, "+00+11+22+33").add().total()},
	{hexagon.M2_vdmpys_s0, dots(16, 16, "+00+11 +22+33").sat().words()},
	{hexagon.M2_vdmacs_s0, dots(16, 16, "+00+11 +22+33").add().sat().words()},
	{hexagon.M2_vdmpyrs_s0, dots(16, 16, "+00+11 +22+33").packs()},
	{hexagon.M2_vmpy2es_s0, dots(16, 16, "+00 +22").sat().words()},
	{hexagon.M2_vmac2es_s0, dots(16, 16, "+00 +22").add().sat().words()},
	{hexagon.M2_vmpy2s_s0, dots(16, 16, "+00 +11").sat().words()},
	{hexagon.M2_vmac2s_s0, dots(16, 16, "+00 +11").add().sat().words()},
	{hexagon.M2_vmpy2s_s0pack, dots(16, 16, "+00 +11").packs()},
	{hexagon.M2_vmpy2su_s0, dots(16, 16, "+00 +11").unsigned(false, true).sat().words()},
	{hexagon.M2_vmac2su_s0, dots(16, 16, "+00 +11").unsigned(false, true).add().sat().words()},
	{hexagon.M4_vrmpyeh_s0, dots(32, 16, "+00+12").total()},
	{hexagon.M4_vrmpyeh_acc_s0, dots(32, 16, "+00+12").add().total()},
	{hexagon.M4_vrmpyoh_s0, dots(32, 16, "+01+13").total()},
	{hexagon.M4_vrmpyoh_acc_s0, dots(32, 16, "+01+13").add().total()},
	{hexagon.M2_vdmpys_s1, dots(16, 16, "+00+11 +22+33").doubled().sat().words()},
	{hexagon.M2_vdmacs_s1, dots(16, 16, "+00+11 +22+33").doubled().add().sat().words()},
	{hexagon.M2_vdmpyrs_s1, dots(16, 16, "+00+11 +22+33").doubled().packs()},
	{hexagon.M2_vmpy2es_s1, dots(16, 16, "+00 +22").doubled().sat().words()},
	{hexagon.M2_vmac2es_s1, dots(16, 16, "+00 +22").doubled().add().sat().words()},
	{hexagon.M2_vmpy2s_s1, dots(16, 16, "+00 +11").doubled().sat().words()},
	{hexagon.M2_vmac2s_s1, dots(16, 16, "+00 +11").doubled().add().sat().words()},
	{hexagon.M2_vmpy2s_s1pack, dots(16, 16, "+00 +11").doubled().packs()},
	{hexagon.M2_vmpy2su_s1, dots(16, 16, "+00 +11").unsigned(false, true).doubled().sat().words()},
	{hexagon.M2_vmac2su_s1, dots(16, 16, "+00 +11").unsigned(false, true).doubled().add().sat().words()},
	{hexagon.M4_vrmpyeh_s1, dots(32, 16, "+00+12").doubled().total()},
	{hexagon.M4_vrmpyeh_acc_s1, dots(32, 16, "+00+12").doubled().add().total()},
	{hexagon.M4_vrmpyoh_s1, dots(32, 16, "+01+13").doubled().total()},
	{hexagon.M4_vrmpyoh_acc_s1, dots(32, 16, "+01+13").doubled().add().total()},
	{hexagon.M2_vmac2, dots(16, 16, "+00 +11").add().words()},
	{hexagon.M2_vmac2es, dots(16, 16, "+00 +22").add().words()},
	{hexagon.M5_vmpybsu, dots(8, 8, "+00 +11 +22 +33").unsigned(false, true).halves()},
	{hexagon.M5_vmpybuu, dots(8, 8, "+00 +11 +22 +33").unsigned(true, true).halves()},
	{hexagon.M5_vmacbsu, dots(8, 8, "+00 +11 +22 +33").unsigned(false, true).add().halves()},
	{hexagon.M5_vdmpybsu, dots(8, 8, "+00+11 +22+33 +44+55 +66+77").unsigned(false, true).sat().halves()},
	{hexagon.M5_vdmacbsu, dots(8, 8, "+00+11 +22+33 +44+55 +66+77").unsigned(false, true).add().sat().halves()},
}

// Multiplies of lanes whose products are summed: complex products, dot
// products, words times halves.

// term is one product: a lane of the first and a lane of the second source.
type term struct {
	a, b uint
	sub  bool
}

// dot describes such a multiply. Each lane of the result has its terms.
type dot struct {
	lanes    [][]term
	wa, wb   uint // width of the source lanes in bits
	ua, ub   bool // they are unsigned
	shift    uint // of each product to the left
	round    int64
	right    uint  // shift of the sum to the right
	acc      int64 // 1 adds to the destination, -1 subtracts from it, 0 replaces it
	saturate bool
}

// dots reads the terms of each result lane, low lane first: "+00-11 +10+01"
// is the real and the imaginary part of a complex product. Lanes are wa and wb
// bits wide.
func dots(wa, wb uint, terms string) dot {
	d := dot{wa: wa, wb: wb, lanes: [][]term{nil}}
	for i := 0; i < len(terms); i++ {
		if terms[i] == ' ' {
			d.lanes = append(d.lanes, nil)
			continue
		}
		l := &d.lanes[len(d.lanes)-1]
		*l = append(*l, term{a: uint(terms[i+1] - '0'), b: uint(terms[i+2] - '0'), sub: terms[i] == '-'})
		i += 2
	}
	return d
}

func (d dot) unsigned(a, b bool) dot { d.ua, d.ub = a, b; return d }
func (d dot) doubled() dot           { d.shift = 1; return d }
func (d dot) plus(c int64) dot       { d.round = c; return d }
func (d dot) by(right uint) dot      { d.right = right; return d }
func (d dot) add() dot               { d.acc = 1; return d }
func (d dot) subtract() dot          { d.acc = -1; return d }
func (d dot) sat() dot               { d.saturate = true; return d }

// wide reads 64 bits from a register on. Of a single register only the lanes
// of the low word are used.
func wide(t *state.Thread, o uint16) uint64 { return pair(*t.R(o + 4), *t.R(o)) }

func (d *dot) sum(l []term, x, y uint64) int64 {
	var s int64
	for _, m := range l {
		p := lane(x, m.a*d.wa, d.wa, !d.ua) * lane(y, m.b*d.wb, d.wb, !d.ub) << d.shift
		if m.sub {
			p = -p
		}
		s += p
	}
	return (s + d.round) >> d.right
}

// results computes the lanes of w bits of the result from the sources and the
// old destination.
func (d *dot) results(t *state.Thread, u *state.Uop, w uint, old uint64) (out uint64) {
	x, y := wide(t, u.Arg[1]), wide(t, u.Arg[2])
	limit := int64(1) << (w - 1)
	for k, l := range d.lanes {
		s := d.sum(l, x, y)
		if d.acc != 0 {
			s = lane(old, uint(k)*w, w, true) + d.acc*s
		}
		if d.saturate {
			c := simd.Clamp(s, -limit, limit-1)
			if c != s {
				saturated(t)
			}
			s = c
		}
		out |= uint64(s) & (1<<w - 1) << (uint(k) * w)
	}
	return out
}

// words, halves: a pair of two words, of four halves.
func (d dot) words() state.Semantic {
	return func(t *state.Thread, u *state.Uop) { p := t.D(u.Arg[0]); *p = d.results(t, u, 32, *p) }
}
func (d dot) halves() state.Semantic {
	return func(t *state.Thread, u *state.Uop) { p := t.D(u.Arg[0]); *p = d.results(t, u, 16, *p) }
}

// word is one word.
func (d dot) word() state.Semantic {
	return func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = uint32(d.results(t, u, 32, 0)) }
}

// packs rounds two saturated words to their high halves.
func (d dot) packs() state.Semantic {
	d = d.plus(0x8000).sat()
	return func(t *state.Thread, u *state.Uop) {
		v := d.results(t, u, 32, 0)
		*t.R(u.Arg[0]) = uint32(v>>48<<16 | v>>16&0xffff)
	}
}

// total is one sum of 64 bits.
func (d dot) total() state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		s := d.sum(d.lanes[0], wide(t, u.Arg[1]), wide(t, u.Arg[2]))
		if d.acc != 0 {
			s = s64(t, u.Arg[0]) + d.acc*s
		}
		*t.D(u.Arg[0]) = uint64(s)
	}
}

// highWord keeps bits 62..31 of the sum of two products of words, which has up
// to 65 bits.
func (d dot) highWord() state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		x, y := wide(t, u.Arg[1]), wide(t, u.Arg[2])
		high, low := int64(0), d.round
		for _, m := range d.lanes[0] {
			p := lane(x, m.a*32, 32, true) * lane(y, m.b*32, 32, true)
			if m.sub {
				p = -p
			}
			high += p >> 31
			low += p & (1<<31 - 1)
		}
		*t.R(u.Arg[0]) = satTo(t, high+low>>31, simd.MinW, simd.MaxW)
	}
}

// wordsTimesHalves is the product of words and even (0) or odd (1) halves.
func wordsTimesHalves(odd int, unsigned bool, shift uint, rounded bool) dot {
	d := dots(32, 16, []string{"+00 +12", "+01 +13"}[odd]).unsigned(false, unsigned).by(16).sat()
	d.shift = shift
	if rounded {
		d.round = 0x8000
	}
	return d
}
