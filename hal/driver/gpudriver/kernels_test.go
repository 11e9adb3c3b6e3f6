package gpudriver

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// compiled is the program of a model on a device.
func compiled(t *testing.T, d *Device, m *nn.Model) *plan.Program {
	t.Helper()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	return compile.Programs(p)[0][0].(*executable).program
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
				}
			}
		}
	}
}
