package gpu

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/plan"
	"github.com/nnsoc/nnsoc/nn"
)

// compiled is the program of a model on a device.
func compiled(t *testing.T, d *Device, m *nn.Model) *plan.Program {
	t.Helper()
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return base.Programs(p)[0][0].(*executable).program
}

// TestKernelsKept: a model that is compiled again gives the program of a new device, from
// kernels that are kept; another model in between leaves them alone.
func TestKernelsKept(t *testing.T) {
	d := newDevice(t)
	for range 2 {
		for i := range convCases[:6] {
			for _, elem := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
				b, _ := convCases[i].build(elem)
				have, want := compiled(t, d, &b.m), compiled(t, newDevice(t), &b.m)
				if diff := cmp.Diff(want.Launches, have.Launches, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
					t.Fatalf("case %d of %v:\n%s", i, elem, diff)
				}
				again := compiled(t, d, &b.m)
				for k := range again.Launches {
					if again.Launches[k].Code != have.Launches[k].Code {
						t.Errorf("case %d of %v: kernel %d is generated again", i, elem, k)
					}
					if at := pointer(reflect.TypeOf(again.Launches[k].Key)); at != nil {
						t.Errorf("%T holds %v, whose value may change", again.Launches[k].Key, at)
					}
				}
			}
		}
	}
}

// pointer is a type within t through which equal keys could differ.
func pointer(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return t
	case reflect.Array:
		return pointer(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if at := pointer(t.Field(i).Type); at != nil {
				return at
			}
		}
	}
	return nil
}
