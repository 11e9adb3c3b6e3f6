package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/arena"
)

// regionGuard separates regions: kernels read a little beyond what they use, and
// those on words write up to four vectors at a time.
const regionGuard = 512

// finish gives tensors their addresses and steps their launches.
func (l *planner) finish() error {
	l.addHalos()
	groups := l.groups()
	if err := l.place(groups); err != nil {
		return err
	}
	for i := 0; i < len(l.steps); i++ {
		if len(groups) > 0 && groups[0].from == i {
			if err := l.emitBands(groups[0]); err != nil {
				return err
			}
			i = groups[0].to - 1
			groups = groups[1:]
		} else if err := l.emitStep(l.steps[i]); err != nil {
			return err
		}
		if len(l.consts) > maxConst {
			return fmt.Errorf("operation %d: more than %d bytes of weights and tables", l.op, maxConst)
		}
	}
	l.finishFetches()
	l.lookahead()
	l.consts = append(l.consts, make([]byte, endGuard)...)
	return nil
}

// emitStep emits a step on its own.
func (l *planner) emitStep(s *step) error {
	l.op = s.region
	jobs, consts := len(l.jobs), len(l.consts)
	for _, t := range s.reads {
		if (s.rows == nil || s.rows.plain || !l.streams(t)) && l.cold(t) && t.shape.n == 1 {
			l.requestRows(t, 0, t.shape.h)
		}
	}
	w, err := s.begin(l)
	if err == nil {
		err = w.launch(l, s, s.wholeRange())
	}
	if err != nil {
		return l.failed(s, err)
	}
	for _, t := range s.writes {
		t.made = len(l.jobs)
	}
	l.pass(s, len(l.jobs)-jobs, len(l.consts)-consts)
	return nil
}

func (l *planner) failed(s *step, err error) error {
	return fmt.Errorf("operation %d: %w", s.region, err)
}

// addHalos inserts, behind the last step that writes a tensor with a halo,
// one that fills it.
func (l *planner) addHalos() {
	lastWrite := map[*tensor]int{}
	for i, s := range l.steps {
		for _, t := range s.writes {
			lastWrite[t] = i
		}
	}
	var steps []*step
	for i, s := range l.steps {
		steps = append(steps, s)
		for _, t := range s.writes {
			if t.hasHalo() && lastWrite[t] == i {
				steps = append(steps, haloStep(t, s.region))
			}
		}
	}
	l.steps = steps
}

// place works out lifetimes and addresses. The steps of a group share theirs.
func (l *planner) place(groups []group) error {
	for i, s := range l.steps {
		from, to := i, i
		if len(groups) > 0 && i >= groups[0].to {
			groups = groups[1:]
		}
		if len(groups) > 0 && i >= groups[0].from {
			from, to = groups[0].from, groups[0].to-1
		}
		for _, list := range [2][]*tensor{s.reads, s.writes} {
			for _, t := range list {
				if t.first == -1 {
					t.first = from
				}
				t.last = max(t.last, to)
			}
		}
	}
	for _, t := range l.tensors {
		if t.keep {
			t.first, t.last = 0, len(l.steps)
		}
		if t.first == -1 {
			continue
		}
		if p := t.shape.positions(); p > maxPositions {
			return fmt.Errorf("%s has %d positions, at most %d", t.name, p, maxPositions)
		}
		if n := t.bytes(); n > maxArena {
			return fmt.Errorf("%s needs %d bytes, at most %d", t.name, n, maxArena)
		}
	}
	if l.arena = placeTensors(l.tensors, arenaBase); l.arena > maxArena {
		return fmt.Errorf("activations need %d bytes, at most %d", l.arena, maxArena)
	}
	return nil
}

// placeTensors gives every tensor that some step uses an address from base on and
// returns the bytes of all.
func placeTensors(tensors []*tensor, base uint32) (size uint32) {
	var used []*tensor
	var lives []arena.Interval
	for _, t := range tensors {
		if t.first >= 0 {
			used = append(used, t)
			lives = append(lives, arena.Interval{Bytes: t.bytes(), First: t.first, Last: t.last})
		}
	}
	offsets, end := arena.Place(lives, arena.Options{Align: vecBytes, Guard: regionGuard, Limit: arena.Unlimited})
	for i, t := range used {
		t.addr = base + uint32(offsets[i])
	}
	return uint32(end)
}
