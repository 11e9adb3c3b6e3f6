package plan

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/arena"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// regionGuard separates regions: kernels read a little beyond what they use, and
// those on words write up to four vectors at a time.
const regionGuard = 512

// life is the steps between which the bytes of a tensor must be kept.
type life struct{ first, last int }

// lifetimes are the lifetimes of the tensors that steps use. The steps of a group share theirs.
func lifetimes(steps []*step.Step, groups []group) map[*layout.Tensor]*life {
	lives := map[*layout.Tensor]*life{}
	for i, s := range steps {
		from, to := i, i
		if len(groups) > 0 && i >= groups[0].to {
			groups = groups[1:]
		}
		if len(groups) > 0 && i >= groups[0].from {
			from, to = groups[0].from, groups[0].to-1
		}
		for _, list := range [2][]*layout.Tensor{s.Reads, s.Writes} {
			for _, t := range list {
				if t.Unplaced {
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

// checkSizes reports a tensor that some step uses and that is too large for tables of positions, or
// for the arena.
func checkSizes(steps []*step.Step, tensors []*layout.Tensor) error {
	lives := lifetimes(steps, nil)
	for _, t := range tensors {
		if lives[t] == nil && !t.External {
			continue
		}
		if p := t.Shape.Positions(); p > layout.MaxPositions {
			return fmt.Errorf("%s has %d positions, at most %d", t.Name, p, layout.MaxPositions)
		}
		if n := t.Bytes(); n > layout.MaxArena {
			return fmt.Errorf("%s needs %d bytes, at most %d", t.Name, n, layout.MaxArena)
		}
	}
	return nil
}

// place gives every tensor that some step uses an address, and returns the bytes of all.
func place(steps []*step.Step, tensors []*layout.Tensor, groups []group) (uint32, error) {
	lives := lifetimes(steps, groups)
	var used []*layout.Tensor
	var list []arena.Interval
	for _, t := range tensors {
		l := lives[t]
		if t.External {
			l = &life{0, len(steps)}
		}
		if l == nil {
			continue
		}
		used = append(used, t)
		list = append(list, arena.Interval{Bytes: t.Bytes(), First: l.first, Last: l.last})
	}
	offsets, end := arena.Place(list, arena.Options{Align: layout.VectorBytes, Guard: regionGuard, Limit: arena.Unlimited})
	if uint32(end) > layout.MaxArena {
		return 0, fmt.Errorf("activations need %d bytes, at most %d", end, layout.MaxArena)
	}
	for i, t := range used {
		t.Addr = layout.ArenaBase + uint32(offsets[i])
	}
	return uint32(end), nil
}
