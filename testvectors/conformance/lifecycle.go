package conformance

import (
	"runtime"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/nn"
)

func lifecycleChecks() []Check {
	return []Check{
		{Name: "no driver code sees what breaks a rule, and its panics are contained", Rows: []string{"J-12"}, Run: protected},
		{Name: "reasons to refuse", Rows: []string{"J-3"}, Run: refusals, EachDevice: true},
		{Name: "prepared models live as long as somebody refers to them", Rows: []string{"A1-9", "J-9"}, Run: released, EachDevice: true},
		{Name: "several models at once, released in any order", Rows: []string{"J-8"}, Run: interleaved, EachDevice: true},
	}
}

// trap is a compiler that panics and counts what reaches it.
type trap struct{ calls int }

func (x *trap) Supports(*nn.Model) ([]hal.Support, error) {
	x.calls++
	panic("trap")
}

func (x *trap) Compile(*nn.Model, hal.PrepareOptions) (base.Program, error) {
	x.calls++
	panic("trap")
}

func protected(t *T) {
	x := &trap{}
	d := base.New(base.Config{Name: "trap", Version: "1"}, x)
	bad := damaged(addModel(nn.TensorFloat32), func(g *nn.Subgraph) { g.Inputs[0] = 99 })
	_, err := d.SupportedOperations(bad)
	t.Status("an invalid model", err, hal.InvalidArgument)
	_, err = d.PrepareModel(bad, hal.PrepareOptions{})
	t.Status("an invalid model", err, hal.InvalidArgument)
	_, err = d.PrepareModel(addModel(nn.TensorFloat32), hal.PrepareOptions{Preference: 7})
	t.Status("an invalid preference", err, hal.InvalidArgument)
	Equal(t, "calls of driver code", x.calls, 0)
	_, err = d.SupportedOperations(addModel(nn.TensorFloat32))
	t.Status("a panic in a query", err, hal.GeneralFailure)
	_, err = d.PrepareModel(addModel(nn.TensorFloat32), hal.PrepareOptions{})
	t.Status("a panic in preparing", err, hal.GeneralFailure)
	if err == nil || !strings.Contains(err.Error(), "lifecycle.go:") {
		t.Errorf("the error does not say where: %v", err)
	}
	Equal(t, "calls of driver code", x.calls, 2)
}

func refusals(t *T) {
	n := 0
	for typ := nn.TensorFloat32; typ.Valid(); typ++ {
		m := addModel(typ)
		s, err := t.Device.SupportedOperations(m)
		if err != nil {
			t.Status(typ.String(), err, hal.InvalidArgument) // ADD has no such type
			continue
		}
		if !s[0].OK {
			n++
			if len(s[0].Reason) < 5 {
				t.Errorf("%s is declined because of %q", typ, s[0].Reason)
			}
			continue
		}
		t.prepare(m, hal.PrepareOptions{})
	}
	if t.Device.Type() == hal.DeviceAccelerator && n == 0 {
		t.Errorf("an accelerator that refuses nothing")
	}
}

func released(t *T) {
	m := t.supported(addModel)
	t.prepare(m, hal.PrepareOptions{})
	before := runtime.NumGoroutine()
	for range 8 { // prepared models and bursts that nobody closes
		p := t.prepare(m, hal.PrepareOptions{})
		b, err := p.ConfigureExecutionBurst()
		t.OK("configureExecutionBurst", err)
		buffers, want := sums(m)
		_, err = b.Execute(buffers.Request(), hal.ExecuteOptions{})
		t.OK("burst", err)
		t.same("burst", buffers.Outputs[0], want)
	}
	for range 400 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left of bursts that nobody refers to", runtime.NumGoroutine()-before)
}

func interleaved(t *T) {
	a := t.supported(addModel)
	b := t.supported(chain)
	p, q := t.prepare(a, hal.PrepareOptions{}), t.prepare(b, hal.PrepareOptions{})
	in := make([]byte, b.Main.Operands[0].Bytes())
	for range 2 {
		t.compute("the first", p, a)
		x := &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, len(in))}}
		_, err := hal.Execute(q, x)
		t.OK("the second", err)
	}
	p = nil
	_, err := hal.Execute(q, &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, len(in))}})
	t.OK("the second after the first is gone", err)
	_ = p
}
