package serving

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

// chain is three additions.
func chain(t *testing.T) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 1, 2)
	for range 3 {
		x = b.Add(x, x, builder.NoActivation)
	}
	b.Output(x, "y")
	m := require.V(b.Model("chain"))(t)
	return m
}

// A driver behind all options, seen through the service.
func TestFront(t *testing.T) {
	dir := t.TempDir()
	unsupported := require.V(parseNumbers("0, 2-9"))(t)
	o := options{name: "acme", unsupported: unsupported, queue: &queue{retire: 2}, dump: &recorder{folder: dir, warn: func(s string) { t.Error(s) }}}
	d, stop := require.V2(service.Loopback(o.before(driver.New())))(t)
	defer stop()
	m := chain(t)
	s, err := d.SupportedOperations(m)
	if err != nil || d.Name() != "acme" || s[0].OK || !s[1].OK || s[2].OK || s[0].Reason != "operation 0 is refused on request" {
		t.Fatalf("%s: %+v, %v", d.Name(), s, err)
	}
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{Priority: hal.PriorityMedium}))(t)
	one := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40} // 1, 2
	b := &hal.Buffers{Inputs: [][]byte{one}, Outputs: [][]byte{make([]byte, 8)}}
	require.V(hal.Execute(p, b))(t)
	for name, want := range map[string][]byte{"request-000001-model-0001-input-0.npy": one, "request-000001-model-0001-output-0.npy": b.Outputs[0]} {
		data := require.File(t, filepath.Join(dir, name))
		a, err := npy.Parse(data)
		if err != nil || a.Descr != "<f4" || !slices.Equal(a.Shape, []int{1, 2}) || !bytes.Equal(a.Data, want) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	require.Check(t, !bytes.Equal(b.Outputs[0], one), "the driver computed nothing")
	for _, when := range []string{"before", "after"} {
		dot, err := os.ReadFile(filepath.Join(dir, "model-0001-"+when+".dot"))
		require.Check(t, err == nil && strings.Count(string(dot), ": ADD") == 3, "%s: %v\n%s", when, err, dot)
		text, err := os.ReadFile(filepath.Join(dir, "model-0001-"+when+".json"))
		var g graphJSON
		if err == nil {
			err = json.Unmarshal(text, &g)
		}
		if err != nil || len(g.Operations) != 3 || g.Operations[2].Type != "ADD" || g.Operands[g.Inputs[0]].Type != "TENSOR_FLOAT32" {
			t.Errorf("%s: %v\n%s", when, err, text)
		}
	}
	require.Check(t, (&options{}).before(driver.New()).Name() == driver.Name, "no option changes the driver")
}

// The graph after the passes is there for models whose constants are too long to be printed.
func TestDumpLongConstants(t *testing.T) {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 1, 32)
	b.Output(b.Add(x, b.Floats([]uint32{1, 32}, make([]float32, 32)...), builder.NoActivation), "y")
	m := require.V(b.Model("long"))(t)
	dir := t.TempDir()
	(&recorder{folder: dir, warn: func(s string) { t.Error(s) }}).model(driver.New(), m)
	text, err := os.ReadFile(filepath.Join(dir, "model-0001-after.json"))
	var g graphJSON
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	require.Check(t, err == nil && slices.ContainsFunc(g.Operands, func(o operandJSON) bool { return o.Bytes == 128 }), "%v\n%s", err, text)
}

// The layers before a driver keep the contract.
func TestFrontConforms(t *testing.T) {
	o := options{name: "acme", queue: &queue{retire: 1}, dump: &recorder{folder: t.TempDir(), warn: func(s string) { t.Error(s) }}}
	d, stop := require.V2(service.Loopback(o.before(driver.New())))(t)
	defer stop()
	if s := conformance.Run(t, d); s.Passed < 80 {
		t.Errorf("%d checks passed", s.Passed)
	}
}

func TestRecordIsBounded(t *testing.T) {
	said := 0
	d := &recorder{folder: t.TempDir(), files: maxFiles - 1, warn: func(string) { said++ }}
	for _, name := range []string{"a", "b", "c"} {
		d.write(name, nil)
	}
	list, err := os.ReadDir(d.folder)
	require.Check(t, err == nil && len(list) == 1 && said == 1, "%d files, %d warnings, %v", len(list), said, err)
}

// The order is that of the priorities, but no request is passed more often than the rate allows.
func TestQueue(t *testing.T) {
	const low, medium, high = hal.PriorityLow, hal.PriorityMedium, hal.PriorityHigh
	for _, c := range []struct {
		retire int
		want   string
	}{
		{0, "lmhhhh"}, // in order of arrival
		{1, "hlmhhh"},
		{2, "hhlmhh"}, // both were passed twice
		{9, "hhhhml"},
	} {
		q := &queue{retire: c.retire}
		var order []byte
		for _, p := range []hal.Priority{low, medium, high, high, high, high} {
			q.waiting = append(q.waiting, &waiter{priority: p, token: make(chan struct{})})
		}
		q.busy = true
		for range 6 {
			before := slices.Clone(q.waiting)
			q.release()
			for _, w := range before {
				if !slices.Contains(q.waiting, w) {
					order = append(order, "lmh"[w.priority-low])
				}
			}
		}
		require.Check(t, string(order) == c.want, "retire %d: %s, want %s", c.retire, order, c.want)
		if q.release(); q.busy {
			t.Error("an empty queue is busy")
		}
	}
}

func TestParseNumbers(t *testing.T) {
	if list, err := parseNumbers("3,7-9"); err != nil || !slices.Equal(list, []numbers{{3, 3}, {7, 9}}) {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{"x", "3,", "9-7", "-1", "1-2-3", "99999999999999"} {
		if list, err := parseNumbers(bad); err == nil {
			t.Errorf("%q is %v", bad, list)
		}
	}
}
