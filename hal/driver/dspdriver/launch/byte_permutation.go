package launch

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// pattern is a range of the planner's words: pairs of a distance and the address
// of controls.
type pattern struct{ first, windows uint32 }

// vectorMove is a vector of the result: its address, its source chunks and the
// address that they are relative to.
type vectorMove struct {
	dst, src uint32
	chunks   []datamove.Chunk
	key      []byte // equal for equal chunks
}

// permutation converts runs to entries of the byte permutation kernel.
type permutation struct {
	l        *step.Launcher
	kind     datamove.Network
	patterns map[string]pattern
	controls map[[layout.VectorBytes]byte]uint32
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
func launchPermutation(l *step.Launcher, runs []CopyRun, flip bool) {
	c := &permutation{l: l, kind: chooseNetwork(runs), patterns: map[string]pattern{}, controls: map[[layout.VectorBytes]byte]uint32{}}
	for _, n := range permuteSegments {
		c.segment, c.entries, c.open = n, nil, nil
		vectors := 0
		eachVector(runs, func(v *vectorMove) bool {
			vectors++
			c.add(v)
			return len(l.Consts) <= layout.MaxConst
		})
		if len(c.entries)*datamove.PermuteUnroll <= vectors {
			break
		}
	}
	k := datamove.Permute{Kind: c.kind, Flip: flip}
	table, costs, unfetched := c.table()
	if j := l.LaunchShares(l.Kernel(k), table, datamove.PermuteWords, costs); j != nil {
		j.Unfetched = unfetched
	}
}

// eachVector visits the vectors that runs touch until visit is false.
func eachVector(runs []CopyRun, visit func(v *vectorMove) bool) {
	var v vectorMove
	done := func() bool {
		if len(v.chunks) == 0 {
			return true
		}
		v.src = ^uint32(0)
		for _, c := range v.chunks {
			v.src = min(v.src, c.From)
		}
		v.key = v.key[:0]
		for i := range v.chunks {
			c := &v.chunks[i]
			c.From -= v.src
			v.key = append(v.key, byte(c.To), byte(c.N))
			v.key = binary.LittleEndian.AppendUint32(v.key, c.From)
		}
		ok := visit(&v)
		v.chunks = v.chunks[:0]
		return ok
	}
	for _, p := range runs {
		for p.N > 0 {
			if at := p.Dst &^ (layout.VectorBytes - 1); at != v.dst || len(v.chunks) == 0 {
				if !done() {
					return
				}
				v.dst = at
			}
			to := p.Dst % layout.VectorBytes
			n := min(p.N, layout.VectorBytes-to)
			v.chunks = append(v.chunks, datamove.Chunk{To: to, From: p.Src, N: n})
			p = CopyRun{p.Dst + n, p.Src + n, p.N - n}
		}
	}
	done()
}

// chooseNetwork compares the networks on the first patterns.
func chooseNetwork(runs []CopyRun) datamove.Network {
	networks := []datamove.Network{datamove.VdeltaNetwork, datamove.VrdeltaNetwork, datamove.Vlut32Network}
	var cost [len(datamove.WindowCost)]int
	seen := map[string]bool{}
	vectors := 0
	eachVector(runs, func(v *vectorMove) bool {
		vectors++
		if !seen[string(v.key)] {
			seen[string(v.key)] = true
			for _, k := range networks {
				cost[k] += datamove.WindowCost[k] * k.Count(v.chunks)
			}
		}
		return vectors < 512 && len(seen) < 16
	})
	return slices.MinFunc(networks, func(a, b datamove.Network) int { return cost[a] - cost[b] })
}

// add makes a vector part of an entry.
func (c *permutation) add(v *vectorMove) {
	p, ok := c.patterns[string(v.key)]
	if !ok {
		p = c.pattern(v.chunks)
		c.patterns[string(v.key)] = p
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
func (c *permutation) pattern(chunks []datamove.Chunk) pattern {
	list := c.kind.Windows(chunks)
	from := uint32(len(c.words))
	for i := range list {
		w := &list[i]
		addr, ok := c.controls[w.Controls]
		if !ok {
			addr = c.l.Constant(w.Controls[:])
			c.controls[w.Controls] = addr
		}
		c.words = append(c.words, w.At, addr)
	}
	return pattern{from, uint32(len(list))}
}

// cost is the approximate packets of the vectors of an entry.
func (c *permutation) cost(e *permuteEntry) int {
	n := len(e.vectors)
	if c.single(e) {
		return 12 + 3*n
	}
	per := 8 + datamove.WindowCost[c.kind]*int(e.windows)
	return 12 + n/datamove.PermuteUnroll*datamove.PermuteUnroll*per + n%datamove.PermuteUnroll*2*per
}

// single reports whether the vectors of an entry have one window each, which passes
// through a network.
func (c *permutation) single(e *permuteEntry) bool {
	return e.windows == 1 && c.kind != datamove.Vlut32Network
}

// table cuts entries that are too large for an even share, and lets each prefetch
// what the following ones read. It returns how many bytes no entry prefetches.
func (c *permutation) table() (table []uint32, costs []int, unfetched int) {
	total := 0
	for i := range c.entries {
		total += c.cost(&c.entries[i])
	}
	most := max(total/(8*c.l.Threads), 1)
	var entries []permuteEntry
	var list []uint32
	for _, e := range c.entries {
		part := layout.RoundUp(max(len(e.vectors)*most/c.cost(&e), 1), datamove.PermuteUnroll)
		for v := range slices.Chunk(e.vectors, part) {
			e.vectors = v
			entries = append(entries, e)
			costs = append(costs, c.cost(&e))
			for _, w := range v {
				list = append(list, w[:]...)
			}
		}
	}
	unfetched = prefetchEntries(entries, step.Shares(costs, c.l.Threads))
	patterns, vectors := c.l.Words(c.words), c.l.Words(list)
	for i := range entries {
		e := &entries[i]
		n := uint32(len(e.vectors))
		count := [4]uint32{n / datamove.PermuteUnroll, n % datamove.PermuteUnroll}
		if c.single(e) {
			count = [4]uint32{2: n / datamove.PermuteUnroll, 3: n % datamove.PermuteUnroll}
		}
		table = append(append(append(table, patterns+4*e.first, e.windows, vectors), count[:]...), e.from, e.box)
		vectors += 8 * n
	}
	return table, costs, unfetched
}

// span is the part of the source that the vectors of an entry read.
func (e *permuteEntry) span() (from, to uint32) {
	from = ^uint32(0)
	for _, v := range e.vectors {
		from, to = min(from, v[0]), max(to, v[0]+layout.VectorBytes)
	}
	return from, to
}

// sourceBatch is a thread's entries of a segment: the first one, and what they read.
type sourceBatch struct {
	entry    int
	from, to uint32
}

const (
	// boxBytes is about how much of the source a thread requests at a time: a request
	// replaces the one before, so the next must not come before that is done.
	boxBytes = 96 << 10
	// wholeBytes is the largest source that is fetched as a whole before it is read
	// in no order.
	wholeBytes = 768 << 10
)

// prefetchEntries assigns ranges to fetch to entries of the threads' parts. Where the
// threads read all of the source anyway, in no order, each fetches a part of it
// first. Otherwise a thread requests what its next segments read, unless that is too far apart. It
// returns how many bytes nobody requests.
func prefetchEntries(entries []permuteEntry, parts [][2]int) (unfetched int) {
	set := func(entry int, from, to uint32) {
		entries[entry].from, entries[entry].box = from&^(layout.VectorBytes-1), step.Box(to-from+2*layout.VectorBytes)
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
		share := (high-low)/uint32(len(parts)) + layout.VectorBytes
		for t, p := range parts {
			if from := low + uint32(t)*share; from < high {
				set(p[0], from, min(from+share, high))
			}
		}
		return 0
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
			if to-from < step.PrefetchLimit {
				set(list[i].entry, from, to)
			} else {
				unfetched += int(to - from)
			}
			i = next
		}
	}
	return unfetched
}
