package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// coalescer finds what an executed memory instruction asks of the memory, from the addresses that it left in the state:
// touchLines the lines of the vector caches and the cycles of the address port, block the lines of neighbouring bytes,
// ldsUse the cycles of LDS. It knows neither time nor wave, so that recording and timing ask it alike. For example, 32
// lanes that load a dword each at 0x1000, 0x1004, ... touch the lines 0x1000 and 0x1040 of 64 bytes and, at 4 addresses
// per cycle, occupy the port for 8 cycles.
type coalescer struct {
	*state.Machine // whose addresses it reads
	spec           *Spec

	lines     []uint64 // that the last access touches: their addresses, plus the touched bytes less 1 if it writes
	lineShift uint
	layouts   [1 << layoutBits]layout // of loads before
	bankWord  [64][64]uint64
}

// neighbours compares the addresses of lanes that follow each other: other are those that are not within the line of
// 1<<shift bytes in which the lane before begins, same those at its address.
func (c *coalescer) neighbours(mask uint64, size int, shift uint, lanes int) (other, same uint64) {
	if mask == state.FullMask(lanes) {
		other, same = asm.Neighbours(&c.Addr, size, shift, lanes)
		return other & mask, same & mask
	}
	before := mask & (mask << 1) // lanes that have one before
	other = mask &^ before
	for k := before; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		a, b := c.Addr[l], c.Addr[l-1]
		if line := a >> shift; line != b>>shift || line != (a+uint64(size-1))>>shift {
			other |= 1 << l
		}
		if a == b {
			same |= 1 << l
		}
	}
	return other, same
}

// readLines collects the cache lines that lanes read, in lane order. Lanes not in other read those of the lane before.
func (c *coalescer) readLines(other uint64, size int, shift uint) {
	lines := c.lines[:0]
	top := uint64(0) // no line is above
	for k := other; k != 0; k &= k - 1 {
		a := c.Addr[state.FirstLane(k)&63]
		line, last := a>>(shift&63), (a+uint64(size-1))>>(shift&63)
		for {
			switch at := line << (shift & 63); {
			case line > top || len(lines) == 0:
				top = line
				lines = append(lines, at)
			case line < top && !known(lines, at):
				lines = append(lines, at)
			}
			if line >= last {
				break
			}
			line++
		}
	}
	c.lines = lines
}

// known reports whether a line is among others.
func known(lines []uint64, line uint64) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i] == line {
			return true
		}
	}
	return false
}

// coalesce collects the cache lines that the lanes of mask touch, in lane
// order, with how many bytes of each.
func (c *coalescer) coalesce(mask uint64, size int, shift uint) {
	c.lines = c.lines[:0]
	if mask&(mask+1) == 0 && mask != 0 {
		a := c.Addr[:min(bits.TrailingZeros64(^mask), 64)]
		if step := uint64(size); len(a) < 2 || a[1]-a[0] == step && regular(a, step) {
			// Neighbours in order: one block.
			c.block(a[0], len(a)*size, shift)
			return
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		a := c.Addr[state.FirstLane(k)]
		c.touchLine(a, min(size, int((a>>shift+1)<<shift-a)), shift)
		if last := a + uint64(size) - 1; last>>shift != a>>shift {
			c.touchLine(last, int(last+1-last>>shift<<shift), shift)
		}
	}
}

// coalesceSwizzled is coalesce for scratch, where the dwords of a lane are as far apart as the wave is wide. Lanes at
// other addresses are coalesced alike.
func (c *coalescer) coalesceSwizzled(mask uint64, size, lanes int) {
	c.lines = c.lines[:0]
	for at := 0; at < size; at += 4 {
		for k := mask; k != 0; k &= k - 1 {
			a := c.Addr[state.FirstLane(k)]
			if state.InScratch(a) {
				a += uint64(at * lanes)
			} else {
				a += uint64(at)
			}
			c.touchLine(a, min(size-at, 4), c.lineShift)
		}
	}
}

// block notes the lines of n bytes at addr.
func (c *coalescer) block(addr uint64, n int, shift uint) {
	for n > 0 {
		k := min(n, int((addr>>shift+1)<<shift-addr))
		c.lines = append(c.lines, addr>>shift<<shift+uint64(k-1))
		addr += uint64(k)
		n -= k
	}
}

// touchLine notes bytes of the line at addr. Bytes that several lanes touch count for each, up to a whole line.
func (c *coalescer) touchLine(addr uint64, bytes int, shift uint) {
	line := addr >> shift << shift
	for i := len(c.lines) - 1; i >= 0; i-- {
		if l := c.lines[i]; l>>shift<<shift == line {
			c.lines[i] = min(l+uint64(bytes), line+1<<shift-1)
			return
		}
	}
	c.lines = append(c.lines, line+uint64(bytes-1))
}

// touchLines collects the cache lines of a global or scratch access by the lanes of mask, and returns for how long its
// addresses occupy the port of a compute unit.
func (c *coalescer) touchLines(mask uint64, op *state.Access, lanes int) (port int64) {
	var other, same uint64
	switch {
	case c.Swizzled:
		c.coalesceSwizzled(mask, op.Size, lanes)
		_, same = c.neighbours(mask, op.Size, c.lineShift, lanes)
	case c.Block > 0:
		c.lines = c.lines[:0]
		c.block(c.Addr[0], c.Block, c.lineShift)
	case op.Store || op.Atomic != nil:
		c.coalesce(mask, op.Size, c.lineShift)
		_, same = c.neighbours(mask, op.Size, c.lineShift, lanes)
	case mask == state.FullMask(lanes):
		return c.loadLines(op.Size, lanes)
	default:
		other, same = c.neighbours(mask, op.Size, c.lineShift, lanes)
		c.readLines(other, op.Size, c.lineShift)
	}
	return c.portCycles(mask, same)
}

// layout is the footprint of a load by all lanes, relative to its first lane.
type layout struct {
	laneOffsets [64]uint64 // addresses above that of the first lane
	within      uint64     // address of the first lane above its line
	size, lanes int
	lines       []uint64 // above that of the first lane
	port        int64
}

const layoutBits = 6

// loadLines is touchLines for a load by all lanes: where the layout of an earlier load repeats, so do its lines.
func (c *coalescer) loadLines(size, lanes int) (port int64) {
	first := c.Addr[0]
	line := first >> c.lineShift << c.lineShift
	within := first - line
	hash := (c.Addr[lanes-1]-first)<<8 ^ (c.Addr[lanes/2-1] - first) ^ within<<16
	x := &c.layouts[hash*0x9E3779B97F4A7C15>>(64-layoutBits)]
	if x.within == within && x.size == size && x.lanes == lanes && asm.MatchOffsets(&c.Addr, &x.laneOffsets, lanes) {
		c.lines = c.lines[:0]
		for _, l := range x.lines {
			c.lines = append(c.lines, line+l)
		}
		return x.port
	}
	other, same := c.neighbours(state.FullMask(lanes), size, c.lineShift, lanes)
	c.readLines(other, size, c.lineShift)
	x.within, x.size, x.lanes, x.lines = within, size, lanes, x.lines[:0]
	for l := range lanes {
		x.laneOffsets[l] = c.Addr[l] - first
	}
	for _, l := range c.lines {
		x.lines = append(x.lines, l-line)
	}
	x.port = c.portCycles(state.FullMask(lanes), same)
	return x.port
}

// portCycles is the number of cycles for which the addresses of an access occupy the port of a compute unit: a few
// lanes per cycle, more of quads of lanes that share an address. same are lanes with the address of the one before.
func (c *coalescer) portCycles(mask, same uint64) int64 {
	n := bits.OnesCount64(mask)
	if n <= c.spec.AddressLanes {
		return 1
	}
	shared := 0
	if c.spec.BroadcastLanes > c.spec.AddressLanes {
		const first = 0x1111_1111_1111_1111
		shared = 4 * bits.OnesCount64(same>>1&(same>>2)&(same>>3)&first)
	}
	x, y := c.spec.AddressLanes, c.spec.BroadcastLanes
	return int64(((n-shared)*y + shared*x + x*y - 1) / (x * y))
}

// conflictCycles is the number of cycles for which the LDS banks are occupied: a pass serves the lanes whose words fill
// the banks once, and needs as many cycles as the most loaded bank has different words.
func (c *coalescer) conflictCycles(addr *[64]uint64, mask uint64, size, lanes int) int64 {
	banks := c.spec.LDSBanks
	words := max(size/4, 1)
	per := min(max(banks/words, 1), 32)
	unit := uint(2)
	if size == 8 || size == 16 {
		unit += uint(words) / 2
	}
	var total int64
	for base := 0; base < lanes; base += per {
		part := mask >> base & state.FullMask(per)
		if part == 0 {
			continue
		}
		// Accesses are aligned to their size, so lanes collide by whole units.
		if size != 12 && free(addr, part, base, unit, max(banks/words, 1)) {
			total++
			continue
		}
		total += c.passCycles(addr, part, base, words, banks)
	}
	return max(total, 1)
}

// free reports whether no two lanes of a pass access different units of one bank.
func free(addr *[64]uint64, part uint64, base int, unit uint, groups int) bool {
	if part&(part+1) == 0 && regular(addr[base:base+bits.TrailingZeros64(^part)], 1<<unit) {
		return true
	}
	var tag [64]uint64
	for k := part; k != 0; k &= k - 1 {
		u := addr[(base+state.FirstLane(k))&63] >> unit
		t := &tag[int(u)&(groups-1)&63]
		if *t != 0 && *t != u+1 {
			return false
		}
		*t = u + 1
	}
	return true
}

// regular reports whether all lanes read the same unit or neighbours in order,
// which no banking can make collide.
func regular(a []uint64, size uint64) bool {
	if len(a) < 2 {
		return true
	}
	step := a[1] - a[0]
	if step != 0 && step != size {
		return false
	}
	for i := 1; i < len(a); i++ {
		if a[i]-a[i-1] != step {
			return false
		}
	}
	return true
}

func (c *coalescer) passCycles(addr *[64]uint64, part uint64, base, words, banks int) int64 {
	var used [64]uint8
	worst := uint8(1)
	for k := part; k != 0; k &= k - 1 {
		l := base + state.FirstLane(k)
		w := addr[l] >> 2
		for j := range words {
			b := int(w+uint64(j)) & (banks - 1)
			n := used[b]
			// The same word is read once for all lanes.
			known := false
			for i := uint8(0); i < n; i++ {
				if c.bankWord[b&63][i] == w+uint64(j) {
					known = true
					break
				}
			}
			if known {
				continue
			}
			c.bankWord[b&63][n&63] = w + uint64(j)
			used[b] = n + 1
			worst = max(worst, n+1)
		}
	}
	return int64(worst)
}

// ldsUse is for how many cycles the executed instruction occupies LDS, and how many bytes it moves.
func (c *coalescer) ldsUse(w *wave, op *state.Access) (busy, n int64) {
	mask := w.Exec()
	switch {
	case mask == 0:
		return 0, 0
	case op.Mode != state.AccessPlain:
		return halves(w), 0
	}
	busy = c.conflictCycles(&c.Addr, mask, op.Size, w.Lanes)
	n = int64(op.Size) * int64(bits.OnesCount64(mask))
	if op.Pair != 0 {
		busy += c.conflictCycles(&c.Addr2, mask, op.Size, w.Lanes)
		n *= 2
	}
	return max(busy, (n+int64(c.spec.LDSRate)-1)/int64(c.spec.LDSRate)), n
}
