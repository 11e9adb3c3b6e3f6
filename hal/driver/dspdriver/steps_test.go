package dspdriver

import (
	"reflect"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWriteSteps prints the steps of a network: every operation has some, tensors are
// numbered alike wherever they are mentioned, and two compilations print the same.
func TestWriteSteps(t *testing.T) {
	m := zoo.MustBuild("mobilenet_v1_0.25_224_quant")
	var texts [2]string
	for i := range texts {
		p := require.V(device(t).PrepareModel(m, hal.PrepareOptions{}))(t)
		var b strings.Builder
		require.NoError(t, compile.Programs(p)[0][0].(*executable).WriteSteps(&b))
		texts[i] = b.String()
	}
	if texts[0] != texts[1] {
		t.Error("two compilations print different steps")
	}
	for _, want := range []string{"CONV_2D, conv: Conv{", "Depthwise{", "Pool{", "reads t1: operand 0, [1 224 224 3] dense", "rows 112: row r needs rows 2r to 2r+2", "rows 112: row r needs rows r-1 to r+1"} {
		if !strings.Contains(texts[0], want) {
			t.Errorf("no %q in\n%.1500s", want, texts[0])
		}
	}
}

// TestStepsHoldNoFunctions: the records of steps are data all the way down.
func TestStepsHoldNoFunctions(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_0.25_224_quant", "mobilenet_v2_1.0_224_quant"} {
		p := require.V(device(t).PrepareModel(zoo.MustBuild(name), hal.PrepareOptions{}))(t)
		for _, s := range compile.Programs(p)[0][0].(*executable).planned.Steps {
			if at := function(reflect.TypeOf(s.Work), map[reflect.Type]bool{}); at != "" {
				t.Errorf("step %s of operation %d has a function: %T%s", s.Name, s.Op, s.Work, at)
			}
		}
	}
	if function(reflect.TypeOf(struct{ x []func() }{}), map[reflect.Type]bool{}) == "" {
		t.Error("a function is not found")
	}
}

// function is where a type holds a function or a channel, "" for nowhere.
func function(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan:
		return " " + t.String()
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return function(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if at := function(t.Field(i).Type, seen); at != "" {
				return "." + t.Field(i).Name + at
			}
		}
	}
	return ""
}
