package ethosu

import (
	"cmp"
	"fmt"
	"math"
	mathbits "math/bits"
	"slices"
)

// codingPlan is one way to code a weight stream.
type codingPlan struct {
	bits    int64 // estimated size
	runs    bool  // zeros as run lengths
	zdiv    int
	wdiv    int // wdivRaw: indices as they are
	trunc   bool
	palette []uint32 // weight codes, most frequent first; may be empty
}

// Limits of Golomb-Rice symbols.
const (
	maxQuotient = 31
	maxPalette  = 32
	maxZeroRun  = 1 << 12 // a longer run is split by a coded zero
	maxWdiv     = 5
	maxZeroBits = maxWdiv + 2 // of a zero that is coded as a weight, and of the weight beside it
	maxZdiv     = 3
)

// Compressor codes weight streams. It keeps memory from one to the next, and is ready for use.
type Compressor struct{ rows golombRows }

// Append appends a weight stream, each weight -255..255, in the
// smallest of the forms the decoder knows: indices as they are or Golomb-Rice
// coded, with or without a palette, zeros as weights or as run lengths.
// The choice is one for the whole stream.
func (c *Compressor) Append(dst []byte, weights []int16) ([]byte, error) {
	hist, ok := histogram(weights)
	if !ok {
		i := slices.IndexFunc(weights, func(v int16) bool { return v < -maxWeight || v > maxWeight })
		return dst, fmt.Errorf("ethosu: weight %d is %d, outside -255..255", i, weights[i])
	}
	best := codingPlan{bits: math.MaxInt64}
	for _, runs := range []bool{false, true} {
		if runs && hist[0]*maxZeroBits < int64(len(weights)) {
			break // a run costs each other weight a bit at least
		}
		plans(weights, *hist, runs, best.bits, func(p codingPlan) (limit int64) {
			best = p
			return p.bits
		})
	}
	if !best.runs && best.wdiv == wdivRaw && len(best.palette) == 0 {
		return EncodeWeights(dst, weights)
	}
	start := len(dst)
	w := bitWriter{dst: dst}
	best.write(&w, weights, &c.rows)
	return w.finish(start), nil
}

// histogram counts weights by their codes; ok is false where one has none.
func histogram(weights []int16) (hist *[maxWeightCode + 1]int64, ok bool) {
	var count [2][2 * (maxWeight + 1)]uint32 // from -256; of equal neighbours, neither waits for the other
	beyond := uint16(0)
	at := func(v int16) uint16 {
		i := uint16(v + maxWeight + 1)
		beyond |= i
		return i % uint16(len(count[0]))
	}
	for i := 1; i < len(weights); i += 2 {
		count[0][at(weights[i-1])]++
		count[1][at(weights[i])]++
	}
	if len(weights)%2 > 0 {
		count[0][at(weights[len(weights)-1])]++
	}
	hist = &[maxWeightCode + 1]int64{}
	for v := int16(-maxWeight); v <= maxWeight; v++ {
		hist[weightCode(v)] = int64(count[0][at(v)]) + int64(count[1][at(v)])
	}
	return hist, int(beyond) < len(count[0]) && count[0][0]+count[1][0] == 0
}

// plans calls use with the ways to code the weights of a histogram with or without zero runs whose size, estimated from
// frequencies of weights and runs, is below a limit, at first the given one, then what use returned.
func plans(weights []int16, hist [maxWeightCode + 1]int64, runs bool, limit int64, use func(codingPlan) (limit int64)) {
	var runBits [maxZdiv + 1]int64
	n, zdiv := int64(len(weights)), 0
	if runs {
		hist[0] = 0
		run := 0
		endRun := func() {
			for d := range runBits {
				runBits[d] += int64(run>>d) + 1 + int64(d)
			}
			run = 0
		}
		for _, v := range weights {
			switch {
			case v != 0:
			case run < maxZeroRun:
				run++
				n--
				continue
			default:
				hist[0]++
			}
			endRun()
		}
		endRun()
		for d := range runBits {
			if runBits[d] < runBits[zdiv] {
				zdiv = d
			}
		}
	}
	order := make([]uint32, 0, 64)
	for c := range hist {
		if hist[c] > 0 {
			order = append(order, uint32(c))
		}
	}
	top := 0
	if len(order) > 0 {
		top = int(order[len(order)-1])
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Or(cmp.Compare(hist[y], hist[x]), cmp.Compare(x, y)) })
	for _, size := range []int{0, 2, 4, 8, 16, 32} {
		if size > 0 && len(order) < 2 {
			break
		}
		pal := order[:min(size, len(order))]
		if len(pal) == 1 {
			continue
		}
		if len(pal)+top > maxWeightCode && len(order) > len(pal) {
			continue // the codes beyond the palette would not fit
		}
		rank := ranks(pal)
		for wdiv := 0; wdiv <= maxWdiv+1; wdiv++ {
			for _, trunc := range []bool{false, true} {
				p := codingPlan{runs: runs, zdiv: zdiv, wdiv: wdiv, trunc: trunc, palette: pal, bits: runBits[zdiv]}
				if wdiv > maxWdiv {
					p.wdiv = wdivRaw
					if trunc || len(pal) > 0 && len(order) > len(pal) {
						continue
					}
					p.bits += n * int64(p.rawWidth(top))
				} else if bits, ok := p.codedBits(order, &hist, &rank, limit-p.bits); ok {
					p.bits += bits
				} else {
					continue
				}
				if p.bits < limit {
					limit = use(p)
				}
			}
		}
	}
}

// codedBits is the bits of the codes of a histogram, with a divisor; ok is false where a
// quotient is too large for the form, or where they are not below a limit.
func (p *codingPlan) codedBits(codes []uint32, hist *[maxWeightCode + 1]int64, rank *[maxWeightCode + 1]uint16, limit int64) (bits int64, ok bool) {
	for _, c := range codes {
		if bits >= limit {
			return 0, false
		}
		q, k := int(rank[c])>>p.wdiv, hist[c]
		switch {
		case p.trunc && q > 2, q > maxQuotient:
			return 0, false
		case p.trunc:
			bits += k * int64(1+min(q, 1)+p.wdiv)
		default:
			bits += k * int64(q/2*2+1+q&1+p.wdiv)
		}
	}
	return bits, true
}

// ranks is the index of each weight code.
func ranks(palette []uint32) (r [maxWeightCode + 1]uint16) {
	for c := range r {
		r[c] = uint16(len(palette) + c)
	}
	for i, c := range palette {
		r[c] = uint16(i)
	}
	return r
}

// rawWidth is the bits of an index in raw form; top is the largest code.
func (p *codingPlan) rawWidth(top int) int {
	if len(p.palette) > 0 {
		return mathbits.Len(uint(len(p.palette) - 1))
	}
	return max(2, mathbits.Len(uint(top)))
}

// tokens splits the weights into codes and, with zero runs, the zeros before
// the first and after each of them.
func (p *codingPlan) tokens(weights []int16) (codes []uint32, lead uint32, after []uint32) {
	run := uint32(0)
	codes, after = make([]uint32, 0, len(weights)), make([]uint32, 0, len(weights))
	end := func() {
		if len(codes) == 0 {
			lead = run
		} else {
			after = append(after, run)
		}
		run = 0
	}
	for _, v := range weights {
		if p.runs && v == 0 && run < maxZeroRun {
			run++
			continue
		}
		end()
		codes = append(codes, uint32(weightCode(v)))
	}
	if len(codes) == 0 && run > 0 { // a slice has at least one weight
		run--
		end()
		codes = append(codes, 0)
	}
	end()
	return codes, lead, after
}

// write writes the slices of a stream.
func (p *codingPlan) write(w *bitWriter, weights []int16, rows *golombRows) {
	if !p.runs && p.wdiv != wdivRaw {
		p.writeGolomb(w, weights, rows)
		return
	}
	codes, lead, after := p.tokens(weights)
	entry, top := 2, 0
	for _, c := range codes {
		top = max(top, int(c))
	}
	for _, c := range p.palette {
		entry = max(entry, mathbits.Len32(c))
	}
	width, zdiv := p.wdiv, zdivNone
	if p.wdiv == wdivRaw {
		if width = p.rawWidth(top); len(p.palette) == 0 {
			entry = width
		}
	}
	if p.runs {
		zdiv = p.zdiv
	}
	rank := ranks(p.palette)
	for i, c := range codes {
		codes[i] = uint32(rank[c])
	}
	for at := 0; at < len(codes); at += sliceMax {
		end := min(at+sliceMax, len(codes))
		p.header(w, zdiv, end-at, entry, at == 0)
		var zeros []uint32
		if p.runs {
			if at == 0 {
				zeros = append(zeros, lead)
			}
			zeros = append(zeros, after[at:end]...)
		}
		p.symbols(w, codes[at:end], zeros, width)
	}
}

// header writes that of a slice of n weights, and the palette with the first one.
func (p *codingPlan) header(w *bitWriter, zdiv, n, entry int, first bool) {
	w.put(uint32(zdiv), 3)
	w.put(uint32(n-1), 15)
	w.put(uint32(p.wdiv), 3)
	w.put(uint32(flag(p.trunc, 0)), 1)
	w.put(uint32(flag(first, 0)), 1)
	if !first {
		return
	}
	w.put(0, 5) // direct offset
	w.put(uint32(max(0, len(p.palette)-1)), 5)
	w.put(uint32(entry-2), 3)
	for _, c := range p.palette {
		w.put(c, entry)
	}
}

// symbolWriter writes the chunks of one kind of symbol: unary quotients first, the remainders of a chunk one iteration
// later.
type symbolWriter struct {
	v    []uint32
	pos  int    // symbols whose quotient is complete, padding included
	done int    // remainders written
	left uint32 // of the quotient being written
	open bool   // a quotient is being written
}

// next is the quotient of the symbol being written; symbols past the end are 0.
func (s *symbolWriter) next(div int) uint32 {
	if !s.open {
		s.left, s.open = 0, true
		if s.pos < len(s.v) {
			s.left = s.v[s.pos] >> div
		}
	}
	return s.left
}

func (s *symbolWriter) close() { s.pos++; s.open = false }

// remainders writes those of symbols up to end.
func (s *symbolWriter) remainders(w *bitWriter, end, div int) {
	for ; s.done < min(end, len(s.v)); s.done++ {
		w.put(s.v[s.done]&(1<<div-1), div)
	}
}

// symbols writes the interleaved chunks of a slice in the decoder's order.
func (p *codingPlan) symbols(w *bitWriter, index, zeros []uint32, width int) {
	ws, zs := symbolWriter{v: index}, symbolWriter{v: zeros}
	raw := p.wdiv == wdivRaw
	zlen := 12
	if p.zdiv == maxZdiv {
		zlen = 8
	}
	rawLen := 12
	if raw && width > 5 {
		rawLen = 8
	}
	prevW, prevZ := -1, -1
	for {
		doW, doZ := ws.pos < len(index), false
		if len(zeros) > 0 {
			bal := ws.pos - zs.pos
			doW = doW && bal < 8
			doZ = bal >= 0 && zs.pos < len(zeros)
		}
		var first, second uint32 // WUNARY0 and WUNARY1
		n := 0
		if doW && raw {
			ws.pos += rawLen
		} else if doW {
			for i := range 12 {
				q := ws.next(width)
				switch {
				case p.trunc && q > 0:
					first |= 1 << i
					second |= (q - 1) << n
					n++
					ws.close()
				case q > 1:
					first |= 1 << i
					second |= 1 << n
					n++
					ws.left -= 2
				case q == 1:
					first |= 1 << i
					n++
					ws.close()
				default:
					ws.close()
				}
			}
			w.put(first, 12)
		}
		if doZ {
			more := uint32(0)
			for i := range zlen {
				if zs.next(p.zdiv) > 0 {
					more |= 1 << i
					zs.left--
				} else {
					zs.close()
				}
			}
			w.put(more, zlen)
		}
		w.put(second, n)
		if prevW >= 0 {
			ws.remainders(w, prevW, width)
		}
		if prevZ >= 0 {
			zs.remainders(w, prevZ, p.zdiv)
		}
		if !doW && !doZ {
			return
		}
		prevW, prevZ = -1, -1
		if doW {
			prevW = ws.pos
		}
		if doZ {
			prevZ = zs.pos
		}
	}
}
