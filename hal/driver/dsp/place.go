package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/arena"
)

// regionGuard separates regions: kernels read a little beyond what they use, and
// those on words write up to four vectors at a time.
const regionGuard = 512

// addHalos inserts, behind the last step that writes a tensor with a halo,
// one that fills it.
func addHalos(steps []*step) []*step {
	lastWrite := map[*tensor]int{}
	for i, s := range steps {
		for _, t := range s.writes {
			lastWrite[t] = i
		}
	}
	var list []*step
	for i, s := range steps {
		list = append(list, s)
		for _, t := range s.writes {
			if t.hasHalo() && lastWrite[t] == i {
				list = append(list, haloStep(t, s.op))
			}
		}
	}
	return list
}

// life is the steps between which the bytes of a tensor must be kept.
type life struct{ first, last int }

// lifetimes are those of the tensors that steps use. The steps of a group share theirs.
func lifetimes(steps []*step, groups []group) map[*tensor]*life {
	lives := map[*tensor]*life{}
	for i, s := range steps {
		from, to := i, i
		if len(groups) > 0 && i >= groups[0].to {
			groups = groups[1:]
		}
		if len(groups) > 0 && i >= groups[0].from {
			from, to = groups[0].from, groups[0].to-1
		}
		for _, list := range [2][]*tensor{s.reads, s.writes} {
			for _, t := range list {
				if t.unplaced {
					continue
				}
				if lives[t] == nil {
					lives[t] = &life{from, to}
				}
				lives[t].last = max(lives[t].last, to)
			}
		}
	}
	return lives
}

// place gives every tensor that some step uses an address, and returns the bytes of all.
func place(steps []*step, tensors []*tensor, groups []group) (uint32, error) {
	lives := lifetimes(steps, groups)
	var used []*tensor
	var list []arena.Interval
	for _, t := range tensors {
		l := lives[t]
		if t.keep {
			l = &life{0, len(steps)}
		}
		if l == nil {
			continue
		}
		if p := t.shape.positions(); p > maxPositions {
			return 0, fmt.Errorf("%s has %d positions, at most %d", t.name, p, maxPositions)
		}
		if n := t.bytes(); n > maxArena {
			return 0, fmt.Errorf("%s needs %d bytes, at most %d", t.name, n, maxArena)
		}
		used = append(used, t)
		list = append(list, arena.Interval{Bytes: t.bytes(), First: l.first, Last: l.last})
	}
	offsets, end := arena.Place(list, arena.Options{Align: vecBytes, Guard: regionGuard, Limit: arena.Unlimited})
	if uint32(end) > maxArena {
		return 0, fmt.Errorf("activations need %d bytes, at most %d", end, maxArena)
	}
	for i, t := range used {
		t.addr = arenaBase + uint32(offsets[i])
	}
	return uint32(end), nil
}
