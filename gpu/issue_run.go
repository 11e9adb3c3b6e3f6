package gpu

import (
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// issueRun issues vector instructions of one wave back to back: as many as are free of stalls, fetched, and before an
// older wave wants the unit. After a stall it continues if no other wave of the SIMD issues earlier. Their results are
// computed when the wave reaches an instruction of another kind, since no other wave sees its registers.
func (m *machine) issueRun(s *simd, w *wave, t int64) {
	pc := w.PC
	limit := never
	for i, u := range s.unit[:s.pick] {
		at := s.next[i]
		if u > state.UnitTrans {
			at = never
		}
		limit = min(limit, at)
	}
	until := min(t+m.ahead, m.front.due)
	first := pc // of those that are not counted yet
	replays := m.replays()
	w.clear = replays || w.clear || w.untouched(pc)
	for {
		end := m.runEnd(s, w, pc, t, limit)
		if !w.clear && !w.checkEach(pc, end) {
			return
		}
		w.PC = end
		last := &m.timed[end-1]
		if last.Flags&schedule.AtOnce != 0 && !replays {
			m.visit(first, end, w.Exec())
			first, m.Current = end, pc
			w.catchUp()
		}
		finish := m.retireRun(s, w, pc, end, t)
		next := &m.timed[end]
		if next.Unit == state.UnitVALU && last.Unit == state.UnitVALU && finish < until && next.Line == w.line && w.sMax <= finish {
			if at := w.ready(end, finish); at < s.second>>waveBits {
				if at > s.cursor {
					s.stalls[sim.StallOperand] += at - s.cursor
					s.charge(end, sim.StallOperand, at-s.cursor)
					s.cursor = at
				}
				pc, t = end, at
				continue
			}
		}
		if !replays {
			if first < end {
				m.visit(first, end, w.Exec())
			}
			if m.executed > m.limit {
				m.runaway(w)
				return
			}
		}
		m.prepare(w, t+int64(last.Cost-m.timed[pc].Cost)+1, sim.StallIssue)
		return
	}
}

// runEnd is where the run that starts at pc at cycle t ends.
func (m *machine) runEnd(s *simd, w *wave, pc int32, t, limit int64) int32 {
	ops := m.timed
	end := ops[pc].End
	start := t - int64(ops[pc].Cost)
	if limit < start+int64(ops[end].Cost) {
		for end > pc+1 && start+int64(ops[end-1].Cost) >= limit {
			end--
		}
	}
	// Results of before the run that are not ready yet.
	latest := max(w.vMax, w.sMax)
	for i := pc + 1; i < end; i++ {
		q := &ops[i]
		at := start + int64(q.Cost)
		if at >= latest {
			break
		}
		if q.Flags&schedule.ManyRegisters == 0 && w.readyInline(q, at) > at || q.Flags&schedule.ManyRegisters != 0 && w.ready(i, at) > at {
			end = i
			break
		}
	}
	if ops[end-1].Line != w.line {
		end = m.fetcher.shorten(m.grid, s.cu, w, pc, end, t)
	}
	return end
}

// retireRun occupies the unit with the operations [pc, end) issued from t on, records which results are still in flight
// when the last has issued, charges the cycles, and returns when the unit is free.
func (m *machine) retireRun(s *simd, w *wave, pc, end int32, t int64) int64 {
	p := m.p
	ops := m.timed
	start := t - int64(ops[pc].Cost)
	finish := start + int64(ops[end].Cost)
	for i := end - 1; i >= pc; i-- {
		q := &ops[i]
		at := start + int64(q.Cost)
		if finish-at >= p.Latest {
			break
		}
		if done := at + int64(q.Latency); done <= finish {
			continue
		} else if q.Flags&schedule.Plain != 0 {
			w.vReady[q.Dst] = done
			w.vMax = max(w.vMax, done)
		} else {
			w.wroteV(&p.Deps[i], done)
		}
	}
	s.free[state.UnitVALU] = finish
	s.free[state.UnitTrans] = max(s.free[state.UnitTrans], finish)
	if ops[pc].Unit == state.UnitTrans {
		s.free[state.UnitTrans] = t + int64(m.spec.Vector[ClassTrans].Issue)*m.half
	}
	if finish > s.cursor {
		n := finish - s.cursor
		busy := min(max(finish-t-int64(end-pc)*m.half, 0), n)
		s.stalls[sim.StallUnit] += busy
		s.stalls[sim.StallIssue] += n - busy
		s.chargeRun(ops, m.half, pc, end, busy, n-busy)
		s.cursor = finish
	}
	return finish
}
