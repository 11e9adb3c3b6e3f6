package lower

import (
	"reflect"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/step"
)

// fuse lets kernels compute the elementwise functions of their results, in place of a kernel that would read these from
// memory: where nothing else reads a result of floats, and other operands have an element for each of the result, for
// each channel or for all. The kernel stands in the place of the function's, so that the operands are there.
//
//	texel(x) -> t, clamp(t + 3) -> u, t * u -> v, v / 6 -> y      becomes      texel(x), of which three functions -> y
//
// Values are rounded as they would be in memory, so that results are the same to the bit.
func fuse(l *step.List) {
	f := fuser{list: l, kept: map[*layout.Tensor]bool{}, gone: map[*layout.Tensor]bool{}, readers: map[*layout.Tensor]int{}, writers: map[*layout.Tensor][]int{}}
	for i := range l.Steps {
		s := &l.Steps[i]
		f.count(s, 1)
		for _, t := range s.Writes {
			f.writers[t] = append(f.writers[t], i)
		}
	}
	for _, list := range [][]*layout.Tensor{l.Inputs, l.Outputs, l.Counts} {
		for _, t := range list {
			f.kept[t] = true
		}
	}
	for i := range l.Faults {
		f.kept[l.Faults[i].Word] = true
	}
	for _, t := range l.Extents {
		f.kept[t] = true
	}
	for i := range l.Steps {
		for from := f.host(i); from >= 0; from = f.host(i) {
			f.join(from, i)
		}
	}
	l.Steps = slices.DeleteFunc(l.Steps, func(s step.Step) bool { return s.Kernel == nil })
	l.Tensors = slices.DeleteFunc(l.Tensors, func(t *layout.Tensor) bool { return f.gone[t] })
}

// maxTail is how many functions a kernel computes of its result: all their values may be in registers at once, four for
// each, beside those of the kernel.
const maxTail = 8

// fuser is the state of fuse. Steps that are part of another have no kernel.
type fuser struct {
	list *step.List
	kept map[*layout.Tensor]bool // that the client sees
	gone map[*layout.Tensor]bool // that no step writes any more

	readers map[*layout.Tensor]int   // how many steps
	writers map[*layout.Tensor][]int // steps
}

// count adds a step to the readers of its tensors, or takes it away.
func (f *fuser) count(s *step.Step, by int) {
	for i, t := range s.Reads {
		if !slices.Contains(s.Reads[:i], t) {
			f.readers[t] += by
		}
	}
}

// host is the step that can compute the functions of step i; -1 where there is none. Of several the last one has what the
// others have written.
func (f *fuser) host(i int) int {
	last := -1
	k, ok := f.list.Steps[i].Kernel.(*elementwise.Kernel)
	if !ok {
		return last
	}
	for _, t := range k.In {
		if !f.alone(t) {
			continue
		}
		from := f.writers[t][0]
		h, ok := f.list.Steps[from].Kernel.(elementwise.Host)
		if !ok || from <= last || from >= i || len(h.Following())+1+len(k.Tail) > maxTail {
			continue
		}
		if result, channels := h.Result(); result == t && f.stays(from, i) && links(k, t, channels, len(h.Following())) != nil {
			last = from
		}
	}
	return last
}

// alone reports whether a tensor of floats is written by one step and read by one.
func (f *fuser) alone(t *layout.Tensor) bool {
	return !f.kept[t] && t.Elem.IsFloat() && f.readers[t] == 1 && len(f.writers[t]) == 1
}

// stays reports whether what a step reads is the same at a later place.
func (f *fuser) stays(from, to int) bool {
	for _, t := range f.list.Steps[from].Reads {
		if slices.ContainsFunc(f.writers[t], func(i int) bool { return from < i && i < to }) {
			return false
		}
	}
	return true
}

// join makes the functions of a step those of another, in its place.
func (f *fuser) join(from, to int) {
	l := f.list
	host, s := &l.Steps[from], &l.Steps[to]
	k, h := s.Kernel.(*elementwise.Kernel), host.Kernel.(elementwise.Host)
	t, channels := h.Result()
	tail := links(k, t, channels, len(h.Following()))
	for i := range tail {
		for j := range tail[i].Args {
			literal(&tail[i].Args[j], &l.Consts)
		}
	}
	joined := h.Follow(tail, k.Out)
	f.count(host, -1)
	f.count(s, -1)
	*s = step.Step{Op: host.Op, Kernel: joined, Writes: s.Writes,
		Reads: slices.DeleteFunc(tensors(reflect.ValueOf(joined)), func(x *layout.Tensor) bool { return x == k.Out })}
	f.count(s, 1)
	*host = step.Step{}
	f.gone[t] = true
}

// literal makes an argument that is a constant float a number.
func literal(p *elementwise.Arg, c *layout.Constants) {
	if t := p.Tensor; p.Source == elementwise.FromOne && t.Region == layout.Consts && t.Elem.IsFloat() {
		*p = elementwise.Arg{Source: elementwise.FromNumber, Number: t.Elem.Float(c.Data[t.Off:])}
	}
}

// links are the functions of a kernel as a tail of n functions and the result t, nil where operands do not fit.
func links(k *elementwise.Kernel, t *layout.Tensor, channels, n int) (tail elementwise.Tail) {
	first := elementwise.Link{Function: k.Function, Before: t.Elem}
	for i, x := range k.In {
		arg := elementwise.Arg{Tensor: x, Source: source(&k.Axes, i+1, x, channels)}
		if x == t {
			if arg.Source != elementwise.FromElements {
				return nil
			}
			arg = elementwise.Arg{Source: elementwise.FromValue, Value: n}
		}
		if arg.Source == 0 {
			return nil
		}
		first.Args = append(first.Args, arg)
	}
	tail = append(tail, first)
	for _, l := range k.Tail {
		l.Args = slices.Clone(l.Args)
		for i := range l.Args {
			switch a := &l.Args[i]; {
			case a.Source == elementwise.FromValue:
				a.Value += n + 1
			case a.Tensor == t:
				*a = elementwise.Arg{Source: elementwise.FromValue, Value: n}
			case a.Source == elementwise.FromChannels && channels != 0 && a.Tensor.N != channels:
				return nil
			}
		}
		tail = append(tail, l)
	}
	return tail
}

// source is how operand j of axes, whose operand 0 is the result, is read; 0 if it is in another way.
func source(axes *layout.Axes, j int, x *layout.Tensor, channels int) elementwise.Source {
	one, last := true, axes.Len-1
	for i, a := range axes.List() {
		one = one && a.Strides[j] == 0
		if i < last && a.Strides[j] != 0 || i == last && (a.Strides[j] != 1 || a.N != x.N) {
			last = -1 // not of channels
		}
	}
	switch {
	case axes.Same(j):
		return elementwise.FromElements
	case one:
		return elementwise.FromOne
	case last >= 0 && (channels == 0 || channels == x.N):
		return elementwise.FromChannels
	}
	return 0
}
