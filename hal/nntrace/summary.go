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

// Summary is the summary of a trace.
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

// Summarize adds up the self time of each layer in each phase: a slice less the slices
// marked inside it. The time of a switch ends with its function or at the next switch,
// which is nested in it; a mark to be subtracted reduces the time of the enclosing slice.
// A driver works on another thread while the caller waits for the IPC, so its time is
// subtracted from that of the IPC of the same phase.
func Summarize(events []Event) *Summary {
	s := summing{cells: table{}, warned: map[string]bool{}, threads: map[string][]open{}}
	for i := range events {
		s.event(&events[i])
	}
	for thread, stack := range s.threads {
		if len(stack) > 0 {
			s.warn("%d slices do not end on thread %s, the last of them %s", len(stack), thread, stack[len(stack)-1].mark)
		}
	}
	s.subtractDrivers()
	for _, l := range Layers() {
		for _, p := range Phases() {
			if c := s.cells[[2]string{string(l), string(p)}]; c != nil {
				s.Cells = append(s.Cells, *c)
			}
		}
	}
	slices.Sort(s.Warnings)
	return &s.Summary
}

// summing is a summary while events come.
type summing struct {
	Summary
	cells   table
	warned  map[string]bool
	threads map[string][]open // slices that have begun, by thread, the innermost last
}

// warn adds a warning once.
func (s *summing) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !s.warned[text] {
		s.warned[text] = true
		s.Warnings = append(s.Warnings, text)
	}
}

// event begins or ends a slice.
func (s *summing) event(e *Event) {
	stack := s.threads[e.Thread]
	if !e.Begin {
		if len(stack) == 0 {
			s.warn("a slice ends on thread %s that did not begin", e.Thread)
			return
		}
		s.threads[e.Thread] = s.finish(stack, e.Us)
		return
	}
	m, ok, err := ParseMark(e.Name)
	if err != nil {
		s.warn("%v", err)
	}
	if n := len(stack); ok && m.Switch && n > 0 && stack[n-1].nn && stack[n-1].mark.Switch {
		// Its time ends here; its slice ends with the function.
		stack = append(s.finish(stack, e.Us), open{mark: stack[n-1].mark, start: e.Us})
	}
	if ok && m.Phase.parent() != "" && !slices.ContainsFunc(stack, func(o open) bool { return o.nn && o.mark.Phase == m.Phase.parent() }) && m.Layer != Driver && m.Layer != CPU {
		s.warn("%s is part of %s, which does not surround it: %s", m.Phase, m.Phase.parent(), m)
	}
	s.threads[e.Thread] = append(stack, open{mark: m, nn: ok, start: e.Us})
}

// finish ends the innermost slice and returns the others.
func (s *summing) finish(stack []open, us float64) []open {
	o := stack[len(stack)-1]
	stack = stack[:len(stack)-1]
	took := us - o.start
	if took < 0 {
		s.warn("a slice ends before it begins: %s", o.mark)
		took = 0
	}
	if !o.nn {
		return stack
	}
	s.Marks++
	var around *open // the innermost mark around it
	for i := len(stack) - 1; i >= 0 && around == nil; i-- {
		if stack[i].nn {
			around = &stack[i]
		}
	}
	switch {
	case around == nil:
		s.TotalUs += took
		s.cells.add(o.mark, took-o.nested, 1)
	case around.mark.Layer == o.mark.Layer && around.mark.Phase == o.mark.Phase && !o.mark.Subtract:
		s.Overlaps++ // its own time is that of the slice around it
		around.nested += o.nested
		s.cells.add(o.mark, 0, 1)
	default:
		around.nested += took
		if !o.mark.Subtract || o.mark.Layer != Other {
			s.cells.add(o.mark, took-o.nested, 1)
		}
	}
	return stack
}

// subtractDrivers subtracts the time of drivers from that of the IPC that waited for them.
func (s *summing) subtractDrivers() {
	for _, p := range Phases() {
		ipc, driver := s.cells[[2]string{string(IPC), string(p)}], s.cells[[2]string{string(Driver), string(p)}]
		if ipc == nil || driver == nil {
			continue
		}
		if driver.Us > ipc.Us {
			s.warn("phase %s: the driver's %.1f us are more than the %.1f us of the IPC that waited for it", p, driver.Us, ipc.Us)
		}
		ipc.Us = max(ipc.Us-driver.Us, 0)
	}
}
