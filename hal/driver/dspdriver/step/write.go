package step

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// Write prints steps: what their kernels compute, which tensors they read and write, and
// which rows of the inputs a row of the result needs. nameOf names an operation of the model.
func Write(w io.Writer, steps []*Step, nameOf func(op int) string) error {
	out := bufio.NewWriter(w)
	tensors := stepPrinter{}
	for i, s := range steps {
		fmt.Fprintf(out, "%d: operation %d %s, %s: %s\n", i, s.Op, nameOf(s.Op), s.Name, tensors.work(s.Work))
		for _, list := range []struct {
			what    string
			tensors []*layout.Tensor
		}{{"reads", s.Reads}, {"writes", s.Writes}} {
			for _, t := range list.tensors {
				fmt.Fprintf(out, "   %s %s: %s\n", list.what, tensors.tensor(t), t.Describe())
			}
		}
		if d := s.Rows; d != nil {
			fmt.Fprintf(out, "   rows %d: row r needs rows %s to %s\n", d.Count, rowOf(d.Stride, -d.Above), rowOf(d.Stride, d.Reach-1-d.Above))
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

// stepPrinter numbers tensors in the order of their first mention.
type stepPrinter map[*layout.Tensor]int

func (p stepPrinter) tensor(t *layout.Tensor) string {
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
func (p stepPrinter) work(w Work) string {
	return p.value(reflect.ValueOf(w))
}

// maxListed is how many elements of a list are printed; longer ones are counted.
const maxListed = 8

var tensorType = reflect.TypeOf(&layout.Tensor{})

func (p stepPrinter) value(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == tensorType {
			return p.tensor((*layout.Tensor)(v.UnsafePointer()))
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
