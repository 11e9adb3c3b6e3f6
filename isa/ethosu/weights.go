package ethosu

import (
	"encoding/binary"
	"errors"
	"fmt"
	mathbits "math/bits"
	"slices"
)

// bitReader reads little-endian bit fields; past the end it reads ones, as the
// hardware's padding does, and counts how far.
type bitReader struct {
	b   []byte
	pos int // bit
}

func (r *bitReader) end() int { return 8 * len(r.b) }

// get reads n <= 24 bits.
func (r *bitReader) get(n int) uint32 {
	at := r.pos >> 3
	var v uint64
	if at+8 <= len(r.b) {
		p := r.b[at : at+8 : at+8]
		v = uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 | uint64(p[4])<<32
	} else {
		v = 0xFF_FFFF_FFFF
		for i := 0; i < 5 && at+i < len(r.b); i++ {
			v = v&^(0xFF<<(8*i)) | uint64(r.b[at+i])<<(8*i)
		}
	}
	v = v >> (r.pos & 7) & (1<<n - 1)
	r.pos += n
	return uint32(v)
}

// Limits of a weight symbol: an index is at most 511.
const (
	maxWeightCode = 511
	zdivNone      = 6 // slice has no zero runs
	zdivEnd       = 7 // end of stream, then the next one follows at a byte
	wdivRaw       = 7 // weights are not Golomb-Rice coded
	sliceMax      = 32768
)

// WeightStats counts the parts of a decoded stream.
type WeightStats struct {
	Slices, Raw, ZeroRuns, Palettes int
}

// weightDecoder holds the state that outlives a slice and the scratch of one.
type weightDecoder struct {
	bitReader
	pal     [32]uint32
	palSize int
	palBits int
	dirOfs  uint32
	w, z    []uint32 // symbols of the slice
}

// DecodeWeights decodes a compressed weight stream and appends the weights,
// each -255..255, to dst. It stops with an error beyond max weights. The
// stream may be several, each ended by its marker, up to the end of b.
func DecodeWeights(dst []int16, b []byte, max int) ([]int16, WeightStats, error) {
	d := weightDecoder{bitReader: bitReader{b: b}}
	var stats WeightStats
	first := true
	limit := len(dst) + max
	// No more than an uncompressed stream can hold; zero runs grow it later.
	dst = slices.Grow(dst, min(max, 4*len(b)))
	for {
		if d.pos >= d.end() {
			return dst, stats, nil
		}
		start := d.pos
		zdiv := int(d.get(3))
		if zdiv == zdivEnd {
			d.pos = (d.pos + 7) &^ 7
			first = true
			continue
		}
		var err error
		if dst, err = d.slice(dst, zdiv, first, limit, &stats); err != nil {
			return dst, stats, fmt.Errorf("ethosu: weight stream bit %d: %w", start, err)
		}
		first = false
	}
}

var errManyWeights = errors.New("more weights than expected")

// sliceHeader is how a slice codes its weights.
type sliceHeader struct {
	n          int // weights
	wdiv, zdiv int // divisors; wdiv is the width of an index where weights are raw
	raw, trunc bool
	newPalette bool
}

// runs reports whether zeros are coded as runs between the weights.
func (h *sliceHeader) runs() bool { return h.zdiv != zdivNone }

// header reads the header of a slice, and its palette.
func (d *weightDecoder) header(zdiv int, first bool, stats *WeightStats) (h sliceHeader, err error) {
	if zdiv > 3 && zdiv != zdivNone {
		return h, fmt.Errorf("zero-run divisor %d", zdiv)
	}
	h = sliceHeader{zdiv: zdiv, n: int(d.get(15)) + 1, wdiv: int(d.get(3)), trunc: d.get(1) != 0, newPalette: d.get(1) != 0}
	if first && !h.newPalette {
		return h, fmt.Errorf("first slice keeps a palette that does not exist")
	}
	if h.newPalette {
		d.dirOfs = d.get(5)
		if d.palSize = int(d.get(5)); d.palSize > 0 {
			d.palSize++
			stats.Palettes++
		}
		d.palBits = int(d.get(3)) + 2
		for i := 0; i < d.palSize; i++ {
			d.pal[i] = d.get(d.palBits)
		}
	}
	if d.palBits > 9 {
		return h, fmt.Errorf("palette entries of %d bits", d.palBits)
	}
	if h.raw = h.wdiv == wdivRaw; h.raw {
		h.wdiv = d.palBits
		if d.palSize > 0 {
			h.wdiv = mathbits.Len(uint(d.palSize - 1))
		}
		stats.Raw++
	} else if h.wdiv > 5 {
		return h, fmt.Errorf("weight divisor %d", h.wdiv)
	}
	stats.Slices++
	return h, nil
}

func (d *weightDecoder) slice(dst []int16, zdiv int, first bool, limit int, stats *WeightStats) ([]int16, error) {
	h, err := d.header(zdiv, first, stats)
	if err != nil {
		return dst, err
	}
	if h.raw && !h.runs() && d.palSize == 0 {
		return d.plain(dst, h.n, h.wdiv, limit)
	}
	nz := 0
	if h.runs() {
		stats.ZeroRuns++
		if nz = h.n; h.newPalette {
			nz++
		}
	}
	if err := d.symbols(h.n, nz, h.wdiv, h.zdiv, h.raw, h.trunc, limit-len(dst)); err != nil {
		return dst, err
	}
	if len(dst)+h.n > limit {
		return dst, errManyWeights
	}
	z := d.z
	if h.runs() && h.newPalette {
		if len(dst)+int(z[0]) > limit {
			return dst, errManyWeights
		}
		dst = appendZeros(dst, int(z[0]))
		z = z[1:]
	}
	dst = slices.Grow(dst, h.n)
	for i, w := range d.w {
		if int(w) < d.palSize {
			w = d.pal[w]
		} else {
			w = w - uint32(d.palSize) + d.dirOfs
		}
		if w > maxWeightCode {
			return dst, fmt.Errorf("weight code %d is too large", w)
		}
		sign := int16(w & 1)
		dst = append(dst, (int16(w>>1)^-sign)+sign)
		if h.runs() && z[i] != 0 {
			if len(dst)+int(z[i]) > limit {
				return dst, errManyWeights
			}
			dst = appendZeros(dst, int(z[i]))
		}
	}
	if len(dst) > limit {
		return dst, errManyWeights
	}
	return dst, nil
}

// plain reads n uncoded weights, width bits each.
func (d *weightDecoder) plain(dst []int16, n, width, limit int) ([]int16, error) {
	if len(dst)+n > limit {
		return dst, errManyWeights
	}
	if d.pos+n*width > d.end() {
		return dst, fmt.Errorf("cut short")
	}
	at := len(dst)
	dst = slices.Grow(dst, n)[:at+n]
	out := dst[at:]
	mask := uint64(1)<<width - 1
	ofs := int16(d.dirOfs)
	value := func(code uint64) int16 {
		v := int16(code&mask) + ofs
		sign := v & 1
		return (v>>1 ^ -sign) + sign
	}
	// One load holds at least 57 bits: six of the widest values.
	const perLoad = 6
	i := 0
	for ; i+perLoad <= n && d.pos>>3+8 <= len(d.b); i += perLoad {
		x := binary.LittleEndian.Uint64(d.b[d.pos>>3:]) >> (d.pos & 7)
		o := (*[perLoad]int16)(out[i:])
		o[0] = value(x)
		x >>= width
		o[1] = value(x)
		x >>= width
		o[2] = value(x)
		x >>= width
		o[3] = value(x)
		x >>= width
		o[4] = value(x)
		x >>= width
		o[5] = value(x)
		d.pos += perLoad * width
	}
	for ; i < n; i++ {
		out[i] = value(uint64(d.get(width)))
	}
	if ofs == 0 {
		return dst, nil // at most 9 bits
	}
	for _, v := range out {
		if v < -maxWeight || v > maxWeight {
			return dst, fmt.Errorf("weight %d is too large", v)
		}
	}
	return dst, nil
}

func appendZeros(dst []int16, n int) []int16 {
	for ; n > 0; n-- {
		dst = append(dst, 0)
	}
	return dst
}

// remainders appends the symbols of a chunk: quotients, and div bits of each
// from the stream.
func (d *weightDecoder) remainders(dst, quotients []uint32, div int) []uint32 {
	if div > 9 || d.pos>>3+16 > len(d.b) {
		for _, q := range quotients {
			dst = append(dst, q<<div+d.get(div))
		}
		return dst
	}
	mask := uint32(1)<<div - 1
	for len(quotients) > 0 {
		// One load holds six remainders of up to 9 bits.
		x := binary.LittleEndian.Uint64(d.b[d.pos>>3:]) >> (d.pos & 7)
		m := min(6, len(quotients))
		for _, q := range quotients[:m] {
			dst = append(dst, q<<div+uint32(x)&mask)
			x >>= div
		}
		d.pos += m * div
		quotients = quotients[m:]
	}
	return dst
}

// zeroRuns reads the unary lengths in n bits of a chunk into q: ones before each zero, first
// after carry from the chunk before. It returns how many they are and the ones after the last
// zero, or false for a run longer than room.
func zeroRuns(q *[12]uint32, bits uint32, n int, carry uint32, capacity int) (int, uint32, bool) {
	k := 0
	for ; n > 0; n-- {
		if bits&1 != 0 {
			if carry++; int(carry) > capacity {
				return k, carry, false
			}
		} else {
			q[k], carry = carry, 0
			k++
		}
		bits >>= 1
	}
	return k, carry, true
}

// symbols reads the interleaved chunks of a slice: n weight indices into d.w
// and nz run lengths into d.z, none above room.
func (d *weightDecoder) symbols(n, nz, wdiv, zdiv int, raw, trunc bool, capacity int) error {
	d.w, d.z = slices.Grow(d.w[:0], n), slices.Grow(d.z[:0], nz)
	var wq, zq [2][12]uint32 // quotients of the chunk being read and of the previous one
	var wn, zn [2]int
	wpos, zpos := 0, 0
	var wcarry, zcarry uint32
	zlen := 12
	if zdiv == 3 {
		zlen = 8
	}
	rawLen := 12
	if raw && wdiv > 5 {
		rawLen = 8
	}
	prevW, prevZ := false, false
	table := halves()
	for cur := 0; ; cur ^= 1 {
		if d.pos > d.end() {
			return fmt.Errorf("cut short")
		}
		doW := wpos < n
		doZ := false
		if nz > 0 {
			bal := wpos - zpos
			doW = doW && bal < 8
			doZ = bal >= 0 && zpos < nz
		}
		var unary uint32
		if doW && !raw {
			unary = d.get(12)
		}
		if doZ {
			ok := false
			if zn[cur], zcarry, ok = zeroRuns(&zq[cur], d.get(zlen), zlen, zcarry, capacity); !ok {
				return fmt.Errorf("zero run is longer than the weights expected")
			}
			zpos += zn[cur]
		}
		if doW {
			if raw {
				wn[cur] = rawLen
				wq[cur] = [12]uint32{}
			} else {
				second := d.get(mathbits.OnesCount32(unary))
				k := 0
				if trunc {
					k = truncated(&wq[cur], unary, second)
				} else {
					k, wcarry = quotients(table, &wq[cur], unary, second, wcarry)
				}
				if wn[cur] = k; wcarry > maxWeightCode {
					return fmt.Errorf("weight quotient is too large")
				}
			}
			wpos += wn[cur]
		}
		if prevW {
			d.w = d.remainders(d.w, wq[cur^1][:min(wn[cur^1], n-len(d.w))], wdiv)
		}
		if prevZ {
			d.z = d.remainders(d.z, zq[cur^1][:min(zn[cur^1], nz-len(d.z))], zdiv)
		}
		prevW, prevZ = doW, doZ
		if !doW && !doZ {
			break
		}
	}
	if d.pos > d.end() || len(d.w) < n || len(d.z) < nz {
		return fmt.Errorf("cut short")
	}
	return nil
}
