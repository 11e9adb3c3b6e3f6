package dsp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// WriteSteps implements base.StepWriter: what lowering made of the graph, before it was planned. A step says
// what its kernels compute, which tensors it reads and writes, and which rows of the inputs
// a row of the result needs.
func (p *plan) WriteSteps(w io.Writer) error {
	if p.steps == nil && len(p.jobs) > 0 {
		return errors.New("dsp: a program from a compilation cache has no steps")
	}
	out := bufio.NewWriter(w)
	tensors := stepPrinter{}
	for i, s := range p.steps {
		fmt.Fprintf(out, "%d: operation %d %s, %s: %s\n", i, s.op, p.graph.NameOf(s.op), s.name, tensors.work(s.work))
		for _, list := range []struct {
			what    string
			tensors []*tensor
		}{{"reads", s.reads}, {"writes", s.writes}} {
			for _, t := range list.tensors {
				fmt.Fprintf(out, "   %s %s: %s\n", list.what, tensors.tensor(t), t.describe())
			}
		}
		if d := s.rows; d != nil {
			fmt.Fprintf(out, "   rows %d: row r needs rows %s to %s\n", d.count, rowOf(d.stride, -d.above), rowOf(d.stride, d.reach-1-d.above))
		}
	}
	return out.Flush()
}

// rowOf is a row of the inputs as a function of row r of the result.
func rowOf(stride, offset int) string {
	text := "r"
	if stride != 1 {
		text = fmt.Sprintf("%dr", stride)
	}
	if offset != 0 {
		text += fmt.Sprintf("%+d", offset)
	}
	return text
}

// describe says what a tensor holds, and in which layout.
func (t *tensor) describe() string {
	s := t.shape
	if t.dense {
		return fmt.Sprintf("%s, [%d %d %d %d] dense", t.name, s.n, s.h, s.w, s.c)
	}
	text := fmt.Sprintf("%s, [%d %d %d %d] pitch %d", t.name, s.n, s.h, s.w, s.c, t.pitch)
	if t.hasHalo() {
		text += fmt.Sprintf(" halo %d above, %d below, %d left, %d right of %d", t.top, t.bottom, t.left, t.right, t.zero)
	}
	return text
}

// stepPrinter numbers tensors in the order of their first mention.
type stepPrinter map[*tensor]int

func (p stepPrinter) tensor(t *tensor) string {
	if t == nil {
		return "none"
	}
	n, ok := p[t]
	if !ok {
		n = len(p)
		p[t] = n
	}
	return fmt.Sprintf("t%d", n)
}

// work prints a record: its type, and the fields that are not at their zero values.
func (p stepPrinter) work(w work) string {
	return p.value(reflect.ValueOf(w))
}

// maxListed is how many elements of a list are printed; longer ones are counted.
const maxListed = 8

var tensorType = reflect.TypeOf(&tensor{})

func (p stepPrinter) value(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == tensorType {
			return p.tensor((*tensor)(v.UnsafePointer()))
		}
		if v.IsNil() {
			return "none"
		}
		return p.value(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return "none"
		}
		return p.value(v.Elem())
	case reflect.Slice, reflect.Array:
		if v.Len() > maxListed {
			return fmt.Sprintf("%d of %s", v.Len(), v.Type().Elem())
		}
		var list []string
		for i := range v.Len() {
			list = append(list, p.value(v.Index(i)))
		}
		return "[" + strings.Join(list, " ") + "]"
	case reflect.Struct:
		var list []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				list = append(list, v.Type().Field(i).Name+" "+p.value(f))
			}
		}
		return v.Type().Name() + "{" + strings.Join(list, ", ") + "}"
	}
	return fmt.Sprint(v)
}
