package dsp

import (
	"encoding/binary"
	"slices"
)

// A vector of the result that is made up of short pieces is composed: each
// window of 128 bytes of the source passes through a network that brings its
// bytes to their places, and is merged. Which windows and which controls that
// takes is a pattern; vectors that differ by a distance only share one.

// switches is how a window's bytes are moved.
type switches int

const (
	spreading   switches = iota // vdelta: strides 64 down to 1
	compressing                 // vrdelta: strides 1 up to 64
	looking                     // vlut32 over the four banks of the window
	allSwitches
)

// packets of a window in each network.
var windowCost = [allSwitches]int{3, 3, 6}

// composeWindow is a part of the source, relative to the pattern's first, with the
// controls of its bytes.
type composeWindow struct {
	at       uint32
	controls [vecBytes]byte
}

// unmoved marks places that take nothing from a window: the network controls of
// the others have their top bit set, indexes of vlut32 have not.
func (k switches) unmoved() byte {
	if k == looking {
		return 0xff
	}
	return 0
}

// chunk is a part of a vector: n bytes at place to, from a distance into the
// source.
type chunk struct{ to, from, n uint32 }

// windows covers the chunks by windows and routes them. Chunks are sorted by
// source here.
func (k switches) windows(chunks []chunk) []composeWindow {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b chunk) int { return int(int64(a.from) - int64(b.from)) })
	var out []composeWindow
	var goals [][2]byte // place, byte of the window
	flush := func(at uint32) {
		for len(goals) > 0 {
			w := composeWindow{at: at}
			goals = k.route(&w.controls, goals)
			out = append(out, w)
		}
	}
	start, open := uint32(0), false
	for _, c := range chunks {
		for i := range c.n {
			from := c.from + i
			if !open || from-start >= vecBytes {
				flush(start)
				start, open = from, true
			}
			goals = append(goals, [2]byte{byte(c.to + i), byte(from - start)})
		}
	}
	flush(start)
	return out
}

// route sets the controls that bring bytes to their places and returns those
// that meet others on the way.
func (k switches) route(controls *[vecBytes]byte, goals [][2]byte) (left [][2]byte) {
	for i := range controls {
		controls[i] = k.unmoved()
	}
	if k == looking {
		for _, g := range goals { // banks are interleaved: see lookupVectors
			controls[g[0]] = g[1]>>1 | g[1]&1<<6
		}
		return nil
	}
	var taken [7][vecBytes]byte // 1 + byte that passes
	for _, g := range goals {
		free, at := true, g[1]
		for s := range taken {
			at = k.next(s, at, g[0])
			if b := taken[s][at]; b != 0 && b != g[1]+1 {
				free = false
				break
			}
		}
		if !free {
			left = append(left, g)
			continue
		}
		at = g[1]
		for s := range taken {
			to := k.next(s, at, g[0])
			taken[s][to] = g[1] + 1
			controls[to] |= at ^ to
			at = to
		}
		controls[g[0]] |= 0x80
	}
	return left
}

// next is where a byte at a place is behind stage s of a network that brings it
// to its goal.
func (k switches) next(s int, at, goal byte) byte {
	stride := byte(64) >> s
	if k == compressing {
		stride = 1 << s
	}
	return at&^stride | goal&stride
}

// pattern is windows in memory: pairs of a distance and the address of controls.
type pattern struct{ addr, windows uint32 }

// vectorMove is a vector of the result: its place, the chunks that it is made of
// and the address that they are relative to.
type vectorMove struct {
	dst, src uint32
	chunks   []chunk
	key      string
}

// composer turns pieces into entries of the compose kernel.
type composer struct {
	l        *lowering
	kind     switches
	patterns map[string]pattern
	controls map[[vecBytes]byte]uint32
	entries  []composeEntry
	open     map[pattern]int // entries that vectors of a pattern may still join
	from     uint32          // of the segment of the result that open belongs to
}

// composeEntry is an entry of the kernel's table.
type composeEntry [composeWords]uint32

// composeSegment is how many bytes of the result an entry may span, so that
// threads walk it in order.
const composeSegment = 16 << 10

// composePieces launches the compose kernel. Pieces are sorted by destination.
func (l *lowering) composePieces(s *step, pieces []bytePiece, flip bool) error {
	c := &composer{l: l, kind: chooseNetwork(pieces), patterns: map[string]pattern{}, controls: map[[vecBytes]byte]uint32{}}
	eachVector(pieces, func(v *vectorMove) bool {
		c.add(v)
		return len(l.consts) <= maxConst
	})
	k := composeKernel{kind: c.kind, flip: flip}
	table, costs := c.table()
	kern, err := l.kernel(k.name(), k.generate)
	if err != nil {
		return err
	}
	l.launchShares(s, kern, table, composeWords, costs)
	return nil
}

// eachVector visits the vectors that pieces touch until visit is false.
func eachVector(pieces []bytePiece, visit func(v *vectorMove) bool) {
	var v vectorMove
	var key []byte
	done := func() bool {
		if len(v.chunks) == 0 {
			return true
		}
		v.src = ^uint32(0)
		for _, c := range v.chunks {
			v.src = min(v.src, c.from)
		}
		key = key[:0]
		for i := range v.chunks {
			c := &v.chunks[i]
			c.from -= v.src
			key = append(key, byte(c.to), byte(c.n))
			key = binary.LittleEndian.AppendUint32(key, c.from)
		}
		v.key = string(key)
		ok := visit(&v)
		v.chunks = v.chunks[:0]
		return ok
	}
	for _, p := range pieces {
		for p.n > 0 {
			if at := p.dst &^ (vecBytes - 1); at != v.dst || len(v.chunks) == 0 {
				if !done() {
					return
				}
				v.dst = at
			}
			to := p.dst % vecBytes
			n := min(p.n, vecBytes-to)
			v.chunks = append(v.chunks, chunk{to, p.src, n})
			p = bytePiece{p.dst + n, p.src + n, p.n - n}
		}
	}
	done()
}

// chooseNetwork compares the networks on the first patterns.
func chooseNetwork(pieces []bytePiece) switches {
	var cost [allSwitches]int
	seen := map[string]bool{}
	vectors := 0
	eachVector(pieces, func(v *vectorMove) bool {
		vectors++
		if !seen[v.key] {
			seen[v.key] = true
			for k := range allSwitches {
				cost[k] += windowCost[k] * len(k.windows(v.chunks))
			}
		}
		return vectors < 512 && len(seen) < 16
	})
	best := spreading
	for k := range allSwitches {
		if cost[k] < cost[best] {
			best = k
		}
	}
	return best
}

// add makes a vector part of an entry.
func (c *composer) add(v *vectorMove) {
	p, ok := c.patterns[v.key]
	if !ok {
		p = c.pattern(v.chunks)
		c.patterns[v.key] = p
	}
	if c.open == nil || v.dst-c.from >= composeSegment {
		c.open, c.from = map[pattern]int{}, v.dst
	}
	if i, ok := c.open[p]; ok && c.entries[i].extend(v.src, v.dst) {
		return
	}
	c.open[p] = len(c.entries)
	c.entries = append(c.entries, composeEntry{composeSrc: v.src, composeDst: v.dst, composePattern: p.addr, composeWindows: p.windows, composeCount: 1})
}

// pattern stores the windows of chunks.
func (c *composer) pattern(chunks []chunk) pattern {
	list := c.kind.windows(chunks)
	var words []uint32
	for i := range list {
		w := &list[i]
		addr, ok := c.controls[w.controls]
		if !ok {
			addr = c.l.constant(w.controls[:])
			c.controls[w.controls] = addr
		}
		words = append(words, w.at, addr)
	}
	return pattern{c.l.constWords(words), uint32(len(list))}
}

// extend takes a vector of the same pattern when it continues the sequence.
func (e *composeEntry) extend(src, dst uint32) bool {
	k := e[composeCount]
	if k == 1 {
		e[composeSrcStep], e[composeDstStep] = src-e[composeSrc], dst-e[composeDst]
	}
	if src != e[composeSrc]+k*e[composeSrcStep] || dst != e[composeDst]+k*e[composeDstStep] {
		return false
	}
	e[composeCount]++
	return true
}

// cost is about how many packets n vectors of the entry take.
func (c *composer) cost(e *composeEntry) int {
	n := int(e[composeCount])
	per := 8 + windowCost[c.kind]*int(e[composeWindows])
	return 12 + n/composeUnroll*composeUnroll*per + n%composeUnroll*2*per
}

// table cuts entries that are too large for an even share, and lets each prefetch
// what the following ones read.
func (c *composer) table() (table []uint32, costs []int) {
	total := 0
	for i := range c.entries {
		total += c.cost(&c.entries[i])
	}
	most := max(total/(8*c.l.threads), 1)
	var entries []composeEntry
	for _, e := range c.entries {
		n := e[composeCount]
		part := max(uint32(int(n)*most/c.cost(&e)), 1)
		part = (part + composeUnroll - 1) / composeUnroll * composeUnroll
		for n > 0 {
			e[composeCount] = min(n, part)
			entries = append(entries, e)
			e[composeSrc] += e[composeCount] * e[composeSrcStep]
			e[composeDst] += e[composeCount] * e[composeDstStep]
			n -= e[composeCount]
		}
	}
	for i := range entries {
		costs = append(costs, c.cost(&entries[i]))
	}
	for _, r := range shares(costs, c.l.threads) {
		prefetchEntries(entries[r[0]:r[1]])
	}
	for i := range entries {
		table = append(table, entries[i][:]...)
	}
	return table, costs
}

// span is the part of the source that the vectors of an entry read.
func (e *composeEntry) span() (from, to uint32) {
	last := e[composeSrc] + (e[composeCount]-1)*e[composeSrcStep]
	return min(e[composeSrc], last), max(e[composeSrc], last) + vecBytes
}

// prefetchEntries has the first entry of a thread fetch the source of its first
// two batches of entries, and the first of each batch that of the next.
func prefetchEntries(entries []composeEntry) {
	type batch struct {
		entry    int
		from, to uint32
	}
	var list []batch
	for i := range entries {
		from, to := entries[i].span()
		if n := len(list); n > 0 {
			b := &list[n-1]
			if lo, hi := min(b.from, from), max(b.to, to); hi-lo <= composeSegment {
				b.from, b.to = lo, hi
				continue
			}
		}
		list = append(list, batch{i, from, to})
	}
	set := func(entry int, from, to uint32) {
		if to-from < prefetchLimit {
			entries[entry][composeFrom] = from &^ (vecBytes - 1)
			entries[entry][composeBox] = boxOf(to - from + 2*vecBytes)
		}
	}
	for i := range list {
		switch {
		case i == 0 && len(list) > 1:
			set(0, min(list[0].from, list[1].from), max(list[0].to, list[1].to))
		case i == 0:
			set(0, list[0].from, list[0].to)
		case i+1 < len(list):
			set(list[i].entry, list[i+1].from, list[i+1].to)
		}
	}
}
