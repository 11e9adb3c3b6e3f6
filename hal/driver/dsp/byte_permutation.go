package dsp

import (
	"encoding/binary"
	"slices"
)

// The byte permutation kernel makes each vector of the result that consists of short runs.
// Windows of 128 source bytes pass through a permutation network (vdelta, vrdelta or vlut32)
// that brings their bytes to their places, and are merged. A pattern is the list of windows
// with their controls; vectors that differ by a distance only share one pattern.

// permuteNetwork is the instruction that moves the bytes of a window.
type permuteNetwork int

const (
	vdeltaNetwork  permuteNetwork = iota // vdelta: strides 64 down to 1
	vrdeltaNetwork                       // vrdelta: strides 1 up to 64
	vlut32Network                        // vlut32 over the four banks of the window
	allNetworks
)

// packets of a window in each network.
var windowCost = [allNetworks]int{3, 3, 6}

// permuteWindow is a part of the source, relative to the pattern's first, with the
// controls of its bytes.
type permuteWindow struct {
	at       uint32
	controls [vecBytes]byte
}

// unmoved marks places that take nothing from a window: the network controls of
// the others have their top bit set, indexes of vlut32 have not.
func (k permuteNetwork) unmoved() byte {
	if k == vlut32Network {
		return 0xff
	}
	return 0
}

// chunk is a part of a vector: n bytes at place to, from a distance into the
// source.
type chunk struct{ to, from, n uint32 }

// windows covers the chunks by windows and routes them. Chunks are sorted by
// source here.
func (k permuteNetwork) windows(chunks []chunk) []permuteWindow {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(a, b chunk) int { return int(int64(a.from) - int64(b.from)) })
	var out []permuteWindow
	var goals [][2]byte // place, byte of the window
	flush := func(at uint32) {
		for len(goals) > 0 {
			w := permuteWindow{at: at}
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
func (k permuteNetwork) route(controls *[vecBytes]byte, goals [][2]byte) (left [][2]byte) {
	for i := range controls {
		controls[i] = k.unmoved()
	}
	if k == vlut32Network {
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
func (k permuteNetwork) next(s int, at, goal byte) byte {
	stride := byte(64) >> s
	if k == vrdeltaNetwork {
		stride = 1 << s
	}
	return at&^stride | goal&stride
}

// pattern is a range of the planner's words: pairs of a distance and the address
// of controls.
type pattern struct{ first, windows uint32 }

// vectorMove is a vector of the result: its place, the chunks that it is made of
// and the address that they are relative to.
type vectorMove struct {
	dst, src uint32
	chunks   []chunk
	key      string
}

// permutePlanner turns runs into entries of the byte permutation kernel.
type permutePlanner struct {
	l        *lowering
	kind     permuteNetwork
	patterns map[string]pattern
	controls map[[vecBytes]byte]uint32
	words    []uint32 // of all patterns
	entries  []permuteEntry
	open     map[pattern]int // entries of the segment
	from     uint32          // of the segment of the result that open belongs to
	segment  uint32          // how many bytes it has
}

// permuteEntry is vectors of one pattern and segment: pairs of source and
// destination.
type permuteEntry struct {
	pattern
	segment   uint32
	vectors   [][2]uint32
	from, box uint32 // what l2fetch is to bring in
}

// permuteSegments are how many bytes of the result an entry may span, so that
// threads walk it in order: the least with which entries have vectors enough to
// share the controls.
var permuteSegments = [...]uint32{16 << 10, 64 << 10, 256 << 10}

// launchPermutation launches the byte permutation kernel. Runs are sorted by destination.
func (l *lowering) launchPermutation(s *step, runs []copyRun, flip bool) error {
	c := &permutePlanner{l: l, kind: chooseNetwork(runs), patterns: map[string]pattern{}, controls: map[[vecBytes]byte]uint32{}}
	for _, n := range permuteSegments {
		c.segment, c.entries, c.open = n, nil, nil
		vectors := 0
		eachVector(runs, func(v *vectorMove) bool {
			vectors++
			c.add(v)
			return len(l.consts) <= maxConst
		})
		if len(c.entries)*permuteUnroll <= vectors {
			break
		}
	}
	k := permuteKernel{kind: c.kind, flip: flip}
	table, costs := c.table()
	kern, err := l.kernel(k.name(), k.generate)
	if err != nil {
		return err
	}
	l.launchShares(s, kern, table, permuteWords, costs)
	return nil
}

// eachVector visits the vectors that runs touch until visit is false.
func eachVector(runs []copyRun, visit func(v *vectorMove) bool) {
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
	for _, p := range runs {
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
			p = copyRun{p.dst + n, p.src + n, p.n - n}
		}
	}
	done()
}

// chooseNetwork compares the networks on the first patterns.
func chooseNetwork(runs []copyRun) permuteNetwork {
	var cost [allNetworks]int
	seen := map[string]bool{}
	vectors := 0
	eachVector(runs, func(v *vectorMove) bool {
		vectors++
		if !seen[v.key] {
			seen[v.key] = true
			for k := range allNetworks {
				cost[k] += windowCost[k] * len(k.windows(v.chunks))
			}
		}
		return vectors < 512 && len(seen) < 16
	})
	best := vdeltaNetwork
	for k := range allNetworks {
		if cost[k] < cost[best] {
			best = k
		}
	}
	return best
}

// add makes a vector part of an entry.
func (c *permutePlanner) add(v *vectorMove) {
	p, ok := c.patterns[v.key]
	if !ok {
		p = c.pattern(v.chunks)
		c.patterns[v.key] = p
	}
	if c.open == nil || v.dst-c.from >= c.segment {
		c.open, c.from = map[pattern]int{}, v.dst
	}
	i, ok := c.open[p]
	if !ok {
		i = len(c.entries)
		c.open[p] = i
		c.entries = append(c.entries, permuteEntry{pattern: p, segment: c.from})
	}
	c.entries[i].vectors = append(c.entries[i].vectors, [2]uint32{v.src, v.dst})
}

// pattern stores the windows of chunks.
func (c *permutePlanner) pattern(chunks []chunk) pattern {
	list := c.kind.windows(chunks)
	from := uint32(len(c.words))
	for i := range list {
		w := &list[i]
		addr, ok := c.controls[w.controls]
		if !ok {
			addr = c.l.constant(w.controls[:])
			c.controls[w.controls] = addr
		}
		c.words = append(c.words, w.at, addr)
	}
	return pattern{from, uint32(len(list))}
}

// cost is about how many packets the vectors of an entry take.
func (c *permutePlanner) cost(e *permuteEntry) int {
	n := len(e.vectors)
	if c.single(e) {
		return 12 + 3*n
	}
	per := 8 + windowCost[c.kind]*int(e.windows)
	return 12 + n/permuteUnroll*permuteUnroll*per + n%permuteUnroll*2*per
}

// single reports whether the vectors of an entry take one window each, which goes
// through a network.
func (c *permutePlanner) single(e *permuteEntry) bool {
	return e.windows == 1 && c.kind != vlut32Network
}

// table cuts entries that are too large for an even share, and lets each prefetch
// what the following ones read.
func (c *permutePlanner) table() (table []uint32, costs []int) {
	total := 0
	for i := range c.entries {
		total += c.cost(&c.entries[i])
	}
	most := max(total/(8*c.l.threads), 1)
	var entries []permuteEntry
	var list []uint32
	for _, e := range c.entries {
		part := roundUp(max(len(e.vectors)*most/c.cost(&e), 1), permuteUnroll)
		for v := range slices.Chunk(e.vectors, part) {
			e.vectors = v
			entries = append(entries, e)
			costs = append(costs, c.cost(&e))
			for _, w := range v {
				list = append(list, w[:]...)
			}
		}
	}
	prefetchEntries(entries, shares(costs, c.l.threads))
	patterns, vectors := c.l.constWords(c.words), c.l.constWords(list)
	for i := range entries {
		e := &entries[i]
		n := uint32(len(e.vectors))
		count := [4]uint32{n / permuteUnroll, n % permuteUnroll}
		if c.single(e) {
			count = [4]uint32{2: n / permuteUnroll, 3: n % permuteUnroll}
		}
		table = append(append(append(table, patterns+4*e.first, e.windows, vectors), count[:]...), e.from, e.box)
		vectors += 8 * n
	}
	return table, costs
}

// span is the part of the source that the vectors of an entry read.
func (e *permuteEntry) span() (from, to uint32) {
	from = ^uint32(0)
	for _, v := range e.vectors {
		from, to = min(from, v[0]), max(to, v[0]+vecBytes)
	}
	return from, to
}

// sourceBatch is a thread's entries of a segment: the first one, and what they read.
type sourceBatch struct {
	entry    int
	from, to uint32
}

const (
	// boxBytes is about how much of the source a thread asks for at a time: a request
	// replaces the one before, so the next must not come before that is done.
	boxBytes = 96 << 10
	// wholeBytes is the largest source that is fetched as a whole before it is read
	// in no order.
	wholeBytes = 768 << 10
)

// prefetchEntries says which entries of the threads' parts fetch what. Where the
// threads read all of the source anyway, in no order, each fetches a part of it
// first. Otherwise a thread asks for what its next segments read.
func prefetchEntries(entries []permuteEntry, parts [][2]int) {
	set := func(entry int, from, to uint32) {
		entries[entry].from, entries[entry].box = from&^(vecBytes-1), boxOf(to-from+2*vecBytes)
	}
	batches := make([][]sourceBatch, len(parts))
	low, high, sum := ^uint32(0), uint32(0), 0
	for t, p := range parts {
		for i := p[0]; i < p[1]; i++ {
			from, to := entries[i].span()
			if n := len(batches[t]); n > 0 && entries[i].segment == entries[i-1].segment {
				b := &batches[t][n-1]
				b.from, b.to = min(b.from, from), max(b.to, to)
				continue
			}
			batches[t] = append(batches[t], sourceBatch{i, from, to})
		}
		for _, b := range batches[t] {
			low, high, sum = min(low, b.from), max(high, b.to), sum+int(b.to-b.from)
		}
	}
	if high-low <= wholeBytes && sum > 3*int(high-low)/2 {
		share := (high-low)/uint32(len(parts)) + vecBytes
		for t, p := range parts {
			if from := low + uint32(t)*share; from < high {
				set(p[0], from, min(from+share, high))
			}
		}
		return
	}
	for _, list := range batches {
		for i := 0; i < len(list); {
			from, to := list[i].from, list[i].to
			next := i + 1
			for ; next < len(list); next++ {
				lo, hi := min(from, list[next].from), max(to, list[next].to)
				if hi-lo > boxBytes {
					break
				}
				from, to = lo, hi
			}
			if to-from < prefetchLimit {
				set(list[i].entry, from, to)
			}
			i = next
		}
	}
}
