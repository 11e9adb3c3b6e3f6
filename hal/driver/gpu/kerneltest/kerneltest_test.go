package kerneltest_test

import (
	"reflect"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/direct"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/gemm"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel/window"
)

// TestKeysAreValues: nothing that the code of a kernel depends on is behind a pointer, so
// that equal keys have equal code.
func TestKeysAreValues(t *testing.T) {
	for _, key := range []kernel.Key{
		gemm.Key{}, window.Key{}, elementwise.Key{}, move.CopyKey{}, move.FillKey{}, move.GatherKey{}, reduce.SoftmaxKey{}, reduce.FoldKey{}, direct.Key{},
		reduce.QuantizedSoftmaxKey{}, reduce.L2NormKey{}, reduce.LocalResponseKey{}, reduce.InstanceNormKey{}, recurrent.SumKey{}, recurrent.StateKey{}, recurrent.HiddenKey{}, recurrent.NormKey{}, recurrent.SvdfKey{},
	} {
		if where := shared(reflect.TypeOf(key)); where != "" {
			t.Errorf("%T: %s", key, where)
		}
	}
	if shared(reflect.TypeOf(struct{ n *int }{})) == "" || shared(reflect.TypeOf(struct{ s [2][]int }{})) == "" {
		t.Error("a pointer is not seen")
	}
}

// shared names a field of a type that can share what it refers to.
func shared(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if where := shared(t.Field(i).Type); where != "" {
				return t.Field(i).Name + " " + where
			}
		}
	case reflect.Array:
		return shared(t.Elem())
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
		return "is a " + t.Kind().String()
	}
	return ""
}
