package elementwise

import (
	"maps"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Tail is the functions that a kernel computes of its result before it stores it, one after the other; the last gives
// what is stored. Value 0 is the result, value i+1 that of Tail[i]. A hard swish of a convolution:
//
//	value 1 = add(value 0, 3), clamped to 0 and 6
//	value 2 = mul(value 0, value 1)
//	value 3 = mul(value 2, 1/6)
type Tail []Link

// Link is one function.
type Link struct {
	Function
	Before layout.Element // by which the value before is rounded, as it would be if it were stored
	Args   []Arg
}

// Arg is an argument of a link: a value, a number, or elements of a tensor.
type Arg struct {
	Source Source
	Value  int     // of FromValue
	Number float32 // of FromNumber
	Tensor *layout.Tensor
}

// Source is where an argument comes from.
type Source uint8

// The sources. A tensor has an element for each of the result, one for each channel, which are the result's last axis, or
// one for all.
const (
	FromValue Source = iota + 1
	FromNumber
	FromElements
	FromChannels
	FromOne
)

// Host is a kernel that can have a tail.
type Host interface {
	kernel.Kernel
	// Result is the tensor that the kernel writes, and how many channels it has, 0 where its tail may read any.
	Result() (t *layout.Tensor, channels int)
	// Follow is the kernel with more functions, behind those that it has, and with what they give as its result.
	Follow(more Tail, out *layout.Tensor) Host
	// Following are the functions that it has.
	Following() Tail
}

// Place is where neighbouring elements of a result stand: the number of the first in the tensor and in its channels.
type Place struct {
	Element func() codegen.Reg
	Channel func(channels int) codegen.Reg
	Known   map[Arg][]codegen.Reg // arguments that the kernel has loaded for itself
}

// straddles reports whether an argument is of channels of which four neighbouring elements may be those of two pixels.
func (p Arg) straddles() bool { return p.Source == FromChannels && p.Tensor.N%4 != 0 }

// Emit computes the tail of one element of a result or of four neighbouring ones, which stand in one pixel.
func (t Tail) Emit(a *rdna.Builder, x []codegen.Reg, at Place) []codegen.Reg {
	values := [][]codegen.Reg{x}
	loaded := map[Arg][]codegen.Reg{}
	maps.Copy(loaded, at.Known)
	for i := range t {
		l := &t[i]
		values[i] = l.round(a, values[i])
		var args [][]codegen.Reg
		for _, arg := range l.Args {
			v := loaded[arg]
			switch {
			case arg.Source == FromValue:
				v = values[arg.Value]
			case v == nil:
				v = arg.load(a, len(x), at)
				loaded[arg] = v
			}
			args = append(args, v)
		}
		values = append(values, l.emit(a, len(x), args))
	}
	return values[len(t)]
}

// round rounds the value before a link.
func (l *Link) round(a *rdna.Builder, x []codegen.Reg) (y []codegen.Reg) {
	for _, v := range x {
		y = append(y, a.Widen(l.Before, a.Narrow(l.Before, v)))
	}
	return y
}

// load loads n elements of an argument.
func (p *Arg) load(a *rdna.Builder, n int, at Place) []codegen.Reg {
	var v codegen.Reg
	switch p.Source {
	case FromNumber:
		v = a.Constant(p.Number)
	case FromOne:
		v = a.Widen(p.Tensor.Elem, a.Load(p.Tensor.Elem, a.Pointer(p.Tensor.Region, p.Tensor.Off, "one"), a.Constant(0), 0, "x"))
	default:
		var first codegen.Reg
		if p.Source == FromChannels {
			first = at.Channel(p.Tensor.N)
		} else {
			first = at.Element()
		}
		base, off := a.Pointer(p.Tensor.Region, p.Tensor.Off, "more"), a.ShiftLeft(first, p.Tensor.Elem.Shift(), "offset")
		if n == 4 {
			return a.LoadFour(p.Tensor.Elem, base, off)
		}
		v = a.Widen(p.Tensor.Elem, a.Load(p.Tensor.Elem, base, off, 0, "x"))
	}
	return []codegen.Reg{v, v, v, v}[:n]
}

// emit computes a function of n elements of each argument.
func (f *Function) emit(a *rdna.Builder, n int, args [][]codegen.Reg) (y []codegen.Reg) {
	for j := range n {
		var x []codegen.Reg
		for _, v := range args {
			x = append(x, v[j])
		}
		y = append(y, functions[f.Op](a, f, x))
	}
	return y
}
