package nntrace

import (
	"fmt"
	"slices"
)

// Cell is the time of one layer in one phase.
type Cell struct {
	Layer Layer
	Phase Phase
	Us    float64
	Count int // slices
}

// Summary is what a trace says.
type Summary struct {
	Cells    []Cell // in the order of layers and phases; those of no time are left out
	Marks    int
	TotalUs  float64 // of the outermost slices
	Overlaps int     // slices of one layer and phase inside each other, which count once
	Warnings []string
}

// open is a slice that has begun.
type open struct {
	mark   Mark
	nn     bool // a mark of NNAPI
	start  float64
	nested float64 // time of the slices in it that belongs to them
}

// table is time by layer and phase.
type table map[[2]string]*Cell

func (t table) add(m Mark, us float64, n int) {
	k := [2]string{string(m.Layer), string(m.Phase)}
	if t[k] == nil {
		t[k] = &Cell{Layer: m.Layer, Phase: m.Phase}
	}
	t[k].Us += us
	t[k].Count += n
}

// Summarize adds up the time that each layer spent in each phase by itself: a slice less
// what is marked inside it. The time of a switch ends with its function or at the next
// switch, which lies inside it;
// what is to be subtracted leaves its surroundings. A driver works on another thread
// while the caller waits for the IPC, so its time is taken from that of the IPC of the
// same phase.
func Summarize(events []Event) *Summary {
	s := &Summary{}
	cells := table{}
	warned := map[string]int{}
	warn := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if warned[text]++; warned[text] == 1 {
			s.Warnings = append(s.Warnings, text)
		}
	}
	threads := map[string][]open{}
	finish := func(stack []open, us float64) []open {
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		took := us - o.start
		if took < 0 {
			warn("a slice ends before it begins: %s", o.mark)
			took = 0
		}
		parent := -1 // the innermost mark around it
		for i := len(stack) - 1; i >= 0 && parent < 0; i-- {
			if stack[i].nn {
				parent = i
			}
		}
		if !o.nn {
			return stack
		}
		s.Marks++
		if parent < 0 {
			s.TotalUs += took
			cells.add(o.mark, took-o.nested, 1)
			return stack
		}
		p := &stack[parent]
		if p.mark.Layer == o.mark.Layer && p.mark.Phase == o.mark.Phase && !o.mark.Subtract {
			s.Overlaps++ // its own time is that of the slice around it
			p.nested += o.nested
			cells.add(o.mark, 0, 1)
			return stack
		}
		p.nested += took
		if o.mark.Subtract && o.mark.Layer == Other {
			return stack
		}
		cells.add(o.mark, took-o.nested, 1)
		return stack
	}
	for _, e := range events {
		stack := threads[e.Thread]
		if !e.Begin {
			if len(stack) == 0 {
				warn("a slice ends on thread %s that did not begin", e.Thread)
				continue
			}
			threads[e.Thread] = finish(stack, e.Us)
			continue
		}
		m, ok, err := ParseMark(e.Name)
		if err != nil {
			warn("%v", err)
		}
		if n := len(stack); ok && m.Switch && n > 0 && stack[n-1].nn && stack[n-1].mark.Switch {
			// Its time ends here; its slice ends with the function.
			stack = append(finish(stack, e.Us), open{mark: stack[n-1].mark, start: e.Us})
		}
		if ok && m.Phase.parent() != "" && !slices.ContainsFunc(stack, func(o open) bool { return o.nn && o.mark.Phase == m.Phase.parent() }) && m.Layer != Driver && m.Layer != CPU {
			warn("%s is part of %s, which does not surround it: %s", m.Phase, m.Phase.parent(), m)
		}
		threads[e.Thread] = append(stack, open{mark: m, nn: ok, start: e.Us})
	}
	for thread, stack := range threads {
		if len(stack) > 0 {
			warn("%d slices do not end on thread %s, the last of them %s", len(stack), thread, stack[len(stack)-1].mark)
		}
	}
	for _, p := range Phases() {
		ipc, driver := cells[[2]string{string(IPC), string(p)}], cells[[2]string{string(Driver), string(p)}]
		if ipc == nil || driver == nil {
			continue
		}
		if driver.Us > ipc.Us {
			warn("phase %s: the driver's %.1f us are more than the %.1f us of the IPC that waited for it", p, driver.Us, ipc.Us)
		}
		ipc.Us = max(ipc.Us-driver.Us, 0)
	}
	for _, l := range Layers() {
		for _, p := range Phases() {
			if c := cells[[2]string{string(l), string(p)}]; c != nil {
				s.Cells = append(s.Cells, *c)
			}
		}
	}
	slices.Sort(s.Warnings)
	return s
}
