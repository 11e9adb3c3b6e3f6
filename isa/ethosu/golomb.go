package ethosu

import (
	"encoding/binary"
	mathbits "math/bits"
	"slices"
	"sync"
)

// Chunks of unary bits: so many positions of the first row at a time.
const chunkPositions = 12

// symbol is a weight as Golomb-Rice code: two bits for each of its positions, that of the first row below that of the
// second, which counts where the first is set; above them (from bit 32) how many bits these are, and (from bit 40) the
// remainder.
type symbol uint64

const (
	symbolBits = 32
	symbolRest = 40
)

func (s symbol) bits() uint { return uint(s>>symbolBits) & 63 }

// symbols has the symbol of each weight, from -256, which is none.
type symbols [2 * (maxWeight + 1)]symbol

func (t *symbols) at(v int16) *symbol { return &t[uint16(v+maxWeight+1)%uint16(len(t))] }

// symbolTable is the symbols of a plan. A quotient q needs q/2 positions whose bits are both set, then one whose bits
// tell q odd or even; truncated quotients, 0 to 2, need one position.
func (p *codingPlan) symbolTable() *symbols {
	var table symbols
	rank := ranks(p.palette)
	for v := -maxWeight; v <= maxWeight; v++ {
		index := uint64(rank[weightCode(int16(v))])
		q, rest := index>>p.wdiv, index&(1<<p.wdiv-1)
		code, bits := uint64(0), uint64(2)
		switch {
		case q > maxQuotient || p.trunc && q > 2: // of no weight here
			continue
		case p.trunc:
			code = [...]uint64{0b00, 0b01, 0b11}[q]
		default:
			code, bits = 1<<(q/2*2)-1|q&1<<(q/2*2), q/2*2+2
		}
		*table.at(int16(v)) = symbol(rest<<symbolRest | bits<<symbolBits | code)
	}
	return &table
}

// writeGolomb is write for weights whose zeros are no runs.
func (p *codingPlan) writeGolomb(w *bitWriter, weights []int16, r *golombRows) {
	entry := 2
	for _, c := range p.palette {
		entry = max(entry, mathbits.Len32(c))
	}
	table := p.symbolTable()
	for at := 0; at < len(weights); at += sliceMax {
		part := weights[at:min(at+sliceMax, len(weights))]
		p.header(w, zdivNone, len(part), entry, at == 0)
		r.fill(part, table, p.wdiv)
		r.write(w, len(part), p.wdiv, p.trunc)
	}
}

// golombRows are the bits of a slice in the order of its weights: those of positions, and remainders.
type golombRows struct {
	positions, rests []byte
	bits             uint // of positions
}

// row is a growing row of bits: up to a byte of them waits in acc.
type row struct {
	dst []byte
	acc uint64
	at  int
	n   uint // bits in acc
}

// add appends n bits, at most 57.
func (r *row) add(v uint64, n uint) {
	r.acc |= v << (r.n & 7)
	r.n += n
	binary.LittleEndian.PutUint64(r.dst[r.at:], r.acc)
	r.at += int(r.n >> 3)
	r.acc >>= r.n & 56
	r.n &= 7
}

// copy appends n bits of another row, at most 60, and returns where they end.
func (r *row) copy(from []byte, bit, n uint) (end uint) {
	v := binary.LittleEndian.Uint64(from[bit>>3:]) >> (bit & 7)
	if n > 57 {
		r.add(v&0xFF, 8)
		return r.copy(from, bit+8, n-8)
	}
	r.add(v&(1<<n-1), n)
	return bit + n
}

// fill sets the rows to those of a slice.
func (g *golombRows) fill(weights []int16, table *symbols, wdiv int) {
	const slack = 16 // bytes that a store or load of a word touches after the row
	for _, b := range []struct {
		row  *[]byte
		bits int // of a weight
	}{{&g.positions, maxQuotient + 1}, {&g.rests, wdiv}} {
		size := len(weights)*b.bits/8 + slack
		*b.row = slices.Grow((*b.row)[:0], size)[:size]
	}
	positions, rests := row{dst: g.positions}, row{dst: g.rests}
	one, two := uint64(1)<<wdiv, uint64(1)<<(2*wdiv)
	for ; len(weights) >= 4; weights = weights[4:] { // four symbols as one, where they are short enough
		v := (*[4]int16)(weights)
		a, b, c, d := *table.at(v[0]), *table.at(v[1]), *table.at(v[2]), *table.at(v[3])
		ab, cd := a.bits()+b.bits(), c.bits()+d.bits()
		low := uint64(uint32(a)) | uint64(uint32(b))<<a.bits()
		high := uint64(uint32(c)) | uint64(uint32(d))<<c.bits()
		if ab+cd <= 56 {
			positions.add(low|high<<(ab&63), ab+cd)
		} else {
			for _, s := range [...]symbol{a, b, c, d} {
				positions.add(uint64(uint32(s)), s.bits())
			}
		}
		rests.add(uint64(a>>symbolRest|b>>symbolRest*symbol(one))|uint64(c>>symbolRest|d>>symbolRest*symbol(one))*two, uint(4*wdiv))
	}
	for _, v := range weights {
		s := *table.at(v)
		positions.add(uint64(uint32(s)), s.bits())
		rests.add(uint64(s>>symbolRest), uint(wdiv))
	}
	g.bits = uint(8*positions.at) + positions.n
	clear(positions.dst[positions.at+1 : positions.at+slack/2])
}

// write writes the chunks of a slice of so many symbols: twelve bits of the first row, those of the second
// row that belong to them, and the remainders of the symbols that ended in the chunk before. A
// position whose bits are both set continues its symbol.
func (g *golombRows) write(w *bitWriter, symbols, wdiv int, trunc bool) {
	w.flush()
	w.dst = slices.Grow(w.dst, int(g.bits)/8+symbols*wdiv/8+64)
	out := row{dst: w.dst[len(w.dst):cap(w.dst)], acc: w.acc, n: uint(w.n)}
	var rest, before uint // remainders that are written, and those of the chunk before, in bits
	table := splits()
	for at := uint(0); at < g.bits; at += 2 * chunkPositions {
		v := binary.LittleEndian.Uint32(g.positions[at/8:]) & (1<<(2*chunkPositions) - 1)
		low, high := &table[v%(1<<chunkPositions)], &table[v>>chunkPositions]
		rows := uint64(low.first) | uint64(high.first)<<(chunkPositions/2) |
			(uint64(low.second)|uint64(high.second)<<low.n)<<chunkPositions
		out.add(rows, uint(chunkPositions+low.n+high.n))
		rest = out.copy(g.rests, rest, before)
		ended := chunkPositions
		if !trunc {
			ended -= mathbits.OnesCount32(v & (v >> 1) & 0x555555)
		}
		ended = min(ended, symbols)
		symbols -= ended
		before = uint(ended * wdiv)
	}
	out.copy(g.rests, rest, before)
	w.dst, w.acc, w.n = w.dst[:len(w.dst)+out.at], out.acc, int(out.n)
}

// split is six positions by their rows; the second has a bit for each that is set in the first.
type split struct{ first, second, n uint8 }

// splits has a row for each value of the twelve bits of six positions.
var splits = sync.OnceValue(func() *[1 << chunkPositions]split {
	table := new([1 << chunkPositions]split)
	for v := range table {
		s := &table[v]
		for i := range chunkPositions / 2 {
			bits := v >> (2 * i)
			s.first |= uint8(bits&1) << i
			s.second |= uint8(bits>>1&bits&1) << s.n
			s.n += uint8(bits & 1)
		}
	}
	return table
})

// half is the decoding of six positions of a chunk: quotients that end in them, the first without the carry of the
// positions before, and their own carry.
type half struct {
	quotients [chunkPositions / 2]uint8
	n, carry  uint8
}

// halves has a row for all bits of six positions, the first row below the second.
var halves = sync.OnceValue(func() *[1 << chunkPositions]half {
	table := new([1 << chunkPositions]half)
	for i := range table {
		h, first, second := &table[i], i%(1<<6), i>>6
		for range h.quotients {
			code := first & 1
			more := second & code
			first, second = first>>1, second>>code
			h.carry += uint8(code + more)
			if more == 0 {
				h.quotients[h.n] = h.carry
				h.n, h.carry = h.n+1, 0
			}
		}
	}
	return table
})

// quotients decodes a chunk's rows, of which the second has a bit for each that is set in the first, by the table
// halves. It returns how many quotients end in the chunk, and the carry to the next one.
func quotients(table *[1 << chunkPositions]half, q *[chunkPositions]uint32, first, second, carry uint32) (n int, out uint32) {
	for range 2 {
		low := first % (1 << 6)
		h := &table[low|second%(1<<6)<<6]
		first, second = first>>6, second>>mathbits.OnesCount32(low)
		if h.n == 0 {
			carry += uint32(h.carry)
			continue
		}
		to := q[n:]
		to[0] = carry + uint32(h.quotients[0])
		for i := 1; i < int(h.n); i++ {
			to[i] = uint32(h.quotients[i])
		}
		n, carry = n+int(h.n), uint32(h.carry)
	}
	return n, carry
}

// truncated is quotients where each position is one of 0 to 2.
func truncated(q *[chunkPositions]uint32, first, second uint32) int {
	for i := range q {
		code := first & 1
		q[i] = code + second&code
		first, second = first>>1, second>>code
	}
	return len(q)
}
