// Package step is what lowering makes of a graph: a list of kernel launches as data,
// before tensors have places and kernels have code.
package step

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// Step is one launch.
type Step struct {
	Op            int // operation of the model
	Kernel        kernel.Kernel
	Reads, Writes []*layout.Tensor
	Work          kernel.Work // see Count
}

// Count counts what the launches do.
func (l *List) Count() {
	for i := range l.Steps {
		s := &l.Steps[i]
		s.Work = kernel.WorkOf(s.Kernel, s.Reads, s.Writes)
	}
}

// List is a lowered graph.
type List struct {
	Steps           []Step
	Tensors         []*layout.Tensor // in the arena, in order of first mention
	Inputs, Outputs []*layout.Tensor // as the client sees them, nil for an input that is not read
	Consts          layout.Constants // constant operands
	Pages           layout.Pages
	Faults          []Fault
	Extents         map[uint32]*layout.Tensor // a word with the entries of an output along dimension 0, by operand
	Counts          []*layout.Tensor          // the same per output, nil where all entries count
}

// Fault is a word that a program sets to a value other than 0 when a value that is known only in
// an execution is not valid.
type Fault struct {
	Op     int
	Word   *layout.Tensor
	Reason string
}

// Write prints the steps, one per line: operation, kernel with its arguments, tensors
// by number. Weights are counted, not printed.
func (l *List) Write(w io.Writer) error {
	number := map[*layout.Tensor]int{}
	for i, t := range l.Tensors {
		number[t] = i
	}
	name := func(t *layout.Tensor) string {
		if t.Region == layout.Consts {
			return fmt.Sprintf("c%d:%s[%d]", t.Off, t.Elem, t.N)
		}
		return fmt.Sprintf("t%d:%s[%d]", number[t], t.Elem, t.N)
	}
	names := func(list []*layout.Tensor) string {
		var s []string
		for _, t := range list {
			s = append(s, name(t))
		}
		return strings.Join(s, " ")
	}
	for i := range l.Steps {
		s := &l.Steps[i]
		if _, err := fmt.Fprintf(w, "%d: operation %d %s (%s) -> (%s)\n", i, s.Op, describe(s.Kernel), names(s.Reads), names(s.Writes)); err != nil {
			return err
		}
	}
	return nil
}

// describe prints a kernel by its fields.
func describe(k kernel.Kernel) string {
	v := reflect.Indirect(reflect.ValueOf(k))
	return fmt.Sprintf("%s{%s}", v.Type(), strings.Join(fields(v), " "))
}

// fields prints the exported fields of a struct, and of those embedded in it, that are numbers, booleans or structs of
// them; lists are counted and tensors are left to the step.
func fields(v reflect.Value) (list []string) {
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		switch {
		case !f.IsExported():
		case f.Anonymous && x.Kind() == reflect.Struct:
			list = append(list, fields(x)...)
		case x.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.Pointer:
			list = append(list, fmt.Sprintf("%s:[%d]", f.Name, x.Len()))
		case x.Kind() != reflect.Slice && x.Kind() != reflect.Pointer && x.Kind() != reflect.Interface && x.Kind() != reflect.Func:
			list = append(list, fmt.Sprintf("%s:%+v", f.Name, x))
		}
	}
	return list
}
