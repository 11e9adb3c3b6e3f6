package legaltest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// Step is a step of a lowered graph: its work, and the tensors T that it declares to read and write.
type Step[T any] struct {
	Work          any
	Reads, Writes []*T
}

// Lowered are the steps of a graph with its inputs, nil for those that are not read, and outputs.
type Lowered[T any] struct {
	Steps           []Step[T]
	Inputs, Outputs []*T
}

// Steps lowers up to most models of one operation of the corpus for each, by passes and a function that returns an
// error for refused ones. It tests that every step reads and writes the tensors of its work, that its inputs have been
// written before unless they are constants, and that outputs are written. It returns the number of operations lowered.
func Steps[T any](t *testing.T, most int, passes pass.Pipeline, constant func(*T) bool, lower func(*graph.Graph) (Lowered[T], error)) int {
	t.Helper()
	lowered := map[nn.OperationType]int{}
	for _, name := range nnapi.Names() {
		f := require.V(testvectors.Document(name))(t)
		for i := range f.Cases {
			m := f.Cases[i].Model
			if m == nil || f.Cases[i].ExpectFailure || len(m.Referenced) > 0 || len(m.Main.Operations) != 1 || lowered[m.Main.Operations[0].Type] >= most {
				continue
			}
			g := graph.New(m)
			if passes.Run(g, nil) != nil {
				continue
			}
			l, err := lower(g)
			if err != nil {
				continue
			}
			lowered[m.Main.Operations[0].Type]++
			require.Report(t, l.check(constant), f.Cases[i].Name)
		}
	}
	return len(lowered)
}

func (l *Lowered[T]) check(constant func(*T) bool) error {
	written := map[*T]bool{}
	for _, x := range l.Inputs {
		written[x] = true
	}
	for i, s := range l.Steps {
		at := fmt.Sprintf("step %d, %T", i, s.Work)
		own, all := map[*T]string{}, map[*T]string{}
		work := reflect.Indirect(reflect.ValueOf(s.Work))
		fields(work, "", false, own)
		fields(work, "", true, all)
		for x, field := range own {
			reads, writes := slices.Contains(s.Reads, x), slices.Contains(s.Writes, x)
			if !reads && !writes && !constant(x) || strings.HasPrefix(field, "Out") && !writes || field == "In" && !reads && !constant(x) {
				return fmt.Errorf("%s has %s: reads %v, writes %v", at, field, reads, writes)
			}
		}
		for _, x := range slices.Concat(s.Reads, s.Writes) {
			if all[x] == "" {
				return fmt.Errorf("%s has not all that it reads and writes", at)
			}
		}
		for _, x := range s.Reads {
			if !written[x] && !constant(x) && !slices.Contains(s.Writes, x) {
				return fmt.Errorf("%s reads what nobody has written", at)
			}
		}
		for _, x := range s.Writes {
			written[x] = true
		}
	}
	for i, x := range l.Outputs {
		if !written[x] {
			return fmt.Errorf("nobody writes output %d", i)
		}
	}
	return nil
}

// fields finds the tensors of a record with the names of the outermost fields that they are in: of those behind pointers,
// which several steps share, only if shared is set.
func fields[T any](v reflect.Value, field string, shared bool, to map[*T]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		switch {
		case v.IsNil():
		case v.Type() == reflect.TypeFor[*T]():
			to[(*T)(v.UnsafePointer())] = field
		case shared || v.Kind() == reflect.Interface:
			fields(v.Elem(), field, shared, to)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := field
			if name == "" {
				name = v.Type().Field(i).Name
			}
			fields(v.Field(i), name, shared, to)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fields(v.Index(i), field, shared, to)
		}
	}
}
