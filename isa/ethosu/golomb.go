package ethosu

import mathbits "math/bits"

// Chunks of unary bits: so many positions of the first row at a time.
const chunkPositions = 12

// symbol is a weight as Golomb-Rice code: bits of the first row, one of the second row for
// each that is set, and the remainder.
type symbol struct {
	first, second      uint32
	positions, seconds uint8
	rest               uint16
}

// symbolTable is the symbols of all weights, from the least one. A quotient q takes q/2 positions
// whose bits are both set, then one whose bits say whether q is odd; truncated quotients,
// 0 to 2, take one position.
func (p *codingPlan) symbolTable() *[2*maxWeight + 1]symbol {
	var table [2*maxWeight + 1]symbol
	rank := ranks(p.palette)
	for v := -maxWeight; v <= maxWeight; v++ {
		index := uint32(rank[weightCode(int16(v))])
		q, s := index>>p.wdiv, &table[v+maxWeight]
		s.rest = uint16(index & (1<<p.wdiv - 1))
		switch {
		case q > maxQuotient || p.trunc && q > 2: // of no weight here
		case p.trunc && q > 0:
			*s = symbol{1, q - 1, 1, 1, s.rest}
		default:
			half := q / 2
			s.first, s.positions = 1<<half-1|q&1<<half, uint8(half+1)
			s.second, s.seconds = 1<<half-1, uint8(half+q&1)
		}
	}
	return &table
}

// writeGolomb is write for weights whose zeros are no runs.
func (p *codingPlan) writeGolomb(w *bitWriter, weights []int16) {
	entry := 2
	for _, c := range p.palette {
		entry = max(entry, mathbits.Len32(c))
	}
	table := p.symbolTable()
	for at := 0; at < len(weights); at += sliceMax {
		part := weights[at:min(at+sliceMax, len(weights))]
		p.header(w, zdivNone, len(part), entry, at == 0)
		golombSlice(w, part, table, p.wdiv)
	}
}

// golombSlice writes the chunks of a slice: twelve bits of the first row, those of the second
// row that belong to them, and the remainders of the symbols that ended in the chunk before.
func golombSlice(w *bitWriter, weights []int16, table *[2*maxWeight + 1]symbol, wdiv int) {
	var first, second uint64     // rows not yet written
	var positions, seconds uint  // bits of them
	var rest, before uint64      // remainders of this chunk and of the one before
	var restBits, beforeBits int // bits of them
	var open bool                // the last symbol reaches into the next chunk
	var openRest uint64
	for {
		rest, restBits = 0, 0
		if open && positions <= chunkPositions {
			rest, restBits, open = openRest, wdiv, false
		}
		for positions < chunkPositions && len(weights) > 0 && !open {
			s := &table[uint(int(weights[0])+maxWeight)%uint(len(table))]
			weights = weights[1:]
			first |= uint64(s.first) << positions
			second |= uint64(s.second) << seconds
			positions += uint(s.positions)
			seconds += uint(s.seconds)
			if positions > chunkPositions {
				openRest, open = uint64(s.rest), true
				break
			}
			rest |= uint64(s.rest) << restBits
			restBits += wdiv
		}
		more := positions > 0
		if more {
			row := first & (1<<chunkPositions - 1)
			n := uint(mathbits.OnesCount64(row))
			w.put(uint32(row|second&(1<<n-1)<<chunkPositions), chunkPositions+int(n))
			first >>= chunkPositions
			positions -= min(positions, chunkPositions)
			second >>= n
			seconds -= n
		}
		low := min(beforeBits, 32)
		w.put(uint32(before)&uint32(1<<low-1), low)
		w.put(uint32(before>>32), beforeBits-low)
		if !more {
			return
		}
		before, beforeBits = rest, restBits
	}
}

// half is what six positions of a chunk stand for: quotients that end in them, the first
// without what the positions before it carry, and what they carry themselves.
type half struct {
	quotients [chunkPositions / 2]uint8
	n, carry  uint8
}

// halves are those of all bits of six positions, the first row below the second.
var halves = func() (table [1 << chunkPositions]half) {
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
}()

// quotients decodes a chunk's rows, of which the second has a bit for each that is set in the
// first. It returns how many quotients end in the chunk, and what it carries to the next one.
func quotients(q *[chunkPositions]uint32, first, second, carry uint32) (n int, out uint32) {
	for range 2 {
		low := first % (1 << 6)
		h := &halves[low|second%(1<<6)<<6]
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
