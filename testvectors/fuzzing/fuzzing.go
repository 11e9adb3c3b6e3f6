// Package fuzzing is a coverage-guided fuzzer of drivers, for the tests of a driver in this module
// or in another one:
//
//	func FuzzDevice(f *testing.F) { fuzzing.Device(f, nil, driver.New()) }
//
//	go test -fuzz FuzzDevice ./driver
//
// The fuzzer's bytes are the decisions of randgraph: which operations, of which types, shapes, parameters and values.
// So coverage guides it through a driver's conditions. A supported model must compute the results of the reference CPU.
// Edits at its end break rules: an edited model is refused, declined with reasons, or prepared as declared and
// executed; it never panics.
package fuzzing

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/model"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// maxElements bounds the tensors of edited models: larger ones are slow and show nothing more.
const maxElements = 1 << 16

// maxEdits bounds the bytes that edit a model, four for each edit.
const maxEdits = 16

// Device fuzzes devices with the models of a table, nil is randgraph.Standard. Operations that no
// device supports in any drawn case are left to the edits.
func Device(f *testing.F, table *randgraph.Table, devices ...hal.Device) {
	f.Helper()
	if len(devices) == 0 {
		f.Fatal("fuzzing: no device")
	}
	if table == nil {
		table = randgraph.Standard()
	}
	for i := range table.Variants() {
		choices := []byte{0, 1, 2, 3, 40, 99, 99, 5, 6, 99, 255, 1, 99, 3, 17, 99, 99, 2}
		data := append([]byte{byte(i), byte(i>>8) | byte(len(choices))<<2}, choices...)
		f.Add(data, []byte{})
		f.Add(data, []byte{byte(i), 0, 0, 5, byte(i + 4), 1, 0, 3})
	}
	f.Fuzz(func(t *testing.T, data, edits []byte) {
		c := table.Decode(data)
		if c == nil {
			return
		}
		edits = edits[:min(len(edits), maxEdits)]
		for _, d := range devices {
			if len(edits) < 4 {
				require.Report(t, require.Err(randgraph.Judge(d, c, randgraph.Options{Functional: true, Table: table})), d.Name(), c.Variants)
				continue
			}
			Model(t, d, model.Edited(c.Model, edits))
		}
	})
}

// Random runs n models with edits that a seed draws on a device. Some of them must run, and some be refused.
func Random(t *testing.T, d hal.Device, seed uint64, n int) {
	t.Helper()
	table, r, ran, all := randgraph.Standard(), rand.New(rand.NewPCG(seed, 1)), 0, 0
	bytes := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b
	}
	for range n {
		if c := table.Decode(bytes(2 + r.IntN(40))); c != nil {
			all++
			if Model(t, d, model.Edited(c.Model, bytes(4*(1+r.IntN(3))))) {
				ran++
			}
		}
	}
	t.Logf("%s: %d of %d models with edits run", d.Name(), ran, all)
	require.Check(t, ran != 0 && ran != all, "%s: the edits test nothing", d.Name())
}

// Model runs a model that may break every rule on a device. It reports whether the device supports it.
func Model(t testing.TB, d hal.Device, m *nn.Model) bool {
	t.Helper()
	for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
		if slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { n := o.Elements(); return n < 0 || n > maxElements }) {
			return false
		}
	}
	s, err := d.SupportedOperations(m)
	Sane(t, d.Name()+": getSupportedOperations", err)
	p, refused := d.PrepareModel(m, hal.PrepareOptions{})
	Sane(t, d.Name()+": prepareModel", refused)
	takes := err == nil && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK })
	if takes != (refused == nil) {
		t.Fatalf("%s: support %v, %v; prepareModel: %v", d.Name(), s, err, refused)
	}
	if takes {
		Execute(t, d, p, m)
	}
	return takes
}

// Execute requests executions on zeros of a model that is not too large: one with all inputs, one that leaves
// every second one out.
func Execute(t testing.TB, d hal.Device, p hal.PreparedModel, m *nn.Model) {
	t.Helper()
	b := &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Functional: true, LoopTimeout: time.Millisecond}}
	for k, list := range [2][]uint32{m.Main.Inputs, m.Main.Outputs} {
		for _, x := range list {
			n := m.Main.Operands[x].Bytes()
			if n > maxElements {
				return
			}
			if k == 0 {
				b.Inputs = append(b.Inputs, make([]byte, max(n, 0)))
			} else {
				b.Outputs = append(b.Outputs, make([]byte, max(n, 64)))
			}
		}
	}
	_, err := hal.Execute(p, b)
	Sane(t, d.Name()+": execute", err)
	for i := 1; i < len(b.Inputs); i += 2 {
		b.Inputs[i] = nil
	}
	_, err = hal.Execute(p, b)
	Sane(t, d.Name()+": execute without some inputs", err)
}

// Sane fails for an error that hides a panic of driver code.
func Sane(t testing.TB, what string, err error) {
	t.Helper()
	require.Check(t, err == nil || !strings.Contains(err.Error(), "panic in "), "%s: %v", what, err)
}
