package gpu

import (
	"github.com/nnsoc/nnsoc/sim"
)

// fetcher fetches the code of the dispatches under way, line by line, through the instruction cache of a cluster.
type fetcher struct {
	h     *hierarchy
	shift uint // of a line
	fits  bool // the code of all dispatches fits the instruction cache
}

// begin begins dispatches with so many bytes of code.
func (f *fetcher) begin(code int) {
	f.shift = shiftOf(f.h.spec.ICache.Line)
	f.fits = code <= f.h.spec.ICache.Bytes
}

// shorten shortens a run of operations [pc, end) from t on to the code lines that are there in time.
func (f *fetcher) shorten(g *grid, c *cu, w *wave, pc, end int32, t int64) int32 {
	ops := g.p.Timed
	line, last := ops[pc].Line, ops[end-1].Line
	for line < last {
		line++
		if r := f.fetched(g, c, line); r > 0 && r <= t {
			w.line = line
			continue
		}
		i := pc
		for ops[i].Line < line {
			i++
		}
		at := t + int64(ops[i].Cost-ops[pc].Cost)
		if f.line(g, c, line, at) > at {
			return i
		}
		w.line = line
		pc, t = i, at
	}
	return end
}

// fetched is when a line of code is there that was requested, as the next one was; else 0. Code that fits the
// instruction cache is not evicted again within a dispatch.
func (f *fetcher) fetched(g *grid, c *cu, line int32) int64 {
	if at := g.fetch[c.cluster]; f.fits && at[line+1] != 0 {
		return at[line]
	}
	return 0
}

// line is when a line of code is there for a wave, which requests the next one as it enters it.
func (f *fetcher) line(g *grid, c *cu, line int32, t int64) int64 {
	if r := f.fetched(g, c, line); r > 0 {
		return r
	}
	if !f.fits {
		r, from := f.read(g, c, line, t)
		if from == sim.StallFetch {
			return t // a hit: a taken branch costs the same as in code that fits
		}
		return r
	}
	lines := g.fetch[c.cluster]
	for i := range lines[line : line+2] {
		if at := &lines[int(line)+i]; *at == 0 {
			r, _ := f.read(g, c, line+int32(i), t)
			*at = max(r, 1)
		}
	}
	return lines[line]
}

func (f *fetcher) read(g *grid, c *cu, line int32, t int64) (int64, sim.Reason) {
	return f.h.fetch(&c.port, t, g.code.Base+uint64(line)<<f.shift)
}
