package cost

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
)

type device struct {
	hal.Device
	version string
}

func (d device) Name() string        { return "test" }
func (d device) Version() string     { return d.version }
func (d device) Description() string { return "" }

func model() *nn.Model {
	t := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}}
	return &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{t, t, {Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: []byte{1, 2, 3, 4}}},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// TestKey: whatever changes what is measured changes the key.
func TestKey(t *testing.T) {
	s := NewStore("", "machine")
	inputs := [][]byte{{1}, {2}}
	keys := map[string]string{s.key(device{version: "1"}, model(), hal.PrepareOptions{}, inputs): "the original"}
	add := func(what, key string) {
		if of, ok := keys[key]; ok {
			t.Errorf("%s has the key of %s", what, of)
		}
		keys[key] = what
	}
	add("another machine", NewStore("", "machine 2").key(device{version: "1"}, model(), hal.PrepareOptions{}, inputs))
	add("another version", s.key(device{version: "2"}, model(), hal.PrepareOptions{}, inputs))
	add("another preference", s.key(device{version: "1"}, model(), hal.PrepareOptions{Preference: hal.SustainedSpeed}, inputs))
	add("other inputs", s.key(device{version: "1"}, model(), hal.PrepareOptions{}, [][]byte{{1, 2}, {}}))
	for what, change := range map[string]func(*nn.Model){
		"a shape":              func(m *nn.Model) { m.Main.Operands[0].Dimensions = []uint32{3} },
		"a rank":               func(m *nn.Model) { m.Main.Operands[0].Dimensions = []uint32{2, 1} },
		"a type":               func(m *nn.Model) { m.Main.Operands[0].Type = nn.TensorFloat16 },
		"a scale":              func(m *nn.Model) { m.Main.Operands[0].Scale = 1 },
		"a zero point":         func(m *nn.Model) { m.Main.Operands[0].ZeroPoint = 1 },
		"a constant":           func(m *nn.Model) { m.Main.Operands[2].Data = []byte{1, 2, 3, 5} },
		"channel scales":       func(m *nn.Model) { m.Main.Operands[2].Channel = &nn.ChannelQuant{Scales: []float32{1}} },
		"extension data":       func(m *nn.Model) { m.Main.Operands[0].Extension = []byte{1} },
		"other extension data": func(m *nn.Model) { m.Main.Operands[0].Extension = []byte{2} },
		"an extension":         func(m *nn.Model) { m.Extensions = []nn.ExtensionPrefix{{Name: "org.example.x", Prefix: 3}} },
		"an operation":         func(m *nn.Model) { m.Main.Operations[0].Type = nn.OpRelu6 },
		"an output":            func(m *nn.Model) { m.Main.Outputs = nil },
		"relaxed":              func(m *nn.Model) { m.Relaxed = true },
		"a subgraph":           func(m *nn.Model) { m.Referenced = []nn.Subgraph{{}} },
	} {
		m := model()
		change(m)
		add(what, s.key(device{version: "1"}, m, hal.PrepareOptions{}, inputs))
	}
}

// TestStore: a record survives the store; a file that is damaged is no record; a
// folder that cannot be made is no error.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	key := strings.Repeat("ab", 32)
	r := Record{Row: Row{10, 2.5}, Operations: []Row{{7, 2.5}}}
	NewStore(dir, "m").put(key, &r)
	get := func(s *Store) (got Record, ok bool) {
		ok = s.get(key, &got) && got.fits(1)
		return got, ok
	}
	got, ok := get(NewStore(dir, "m"))
	if diff := cmp.Diff(r, got); !ok || diff != "" {
		t.Errorf("found %v (-want +got):\n%s", ok, diff)
	}
	require.Check(t, !got.fits(2), "a record of one operation serves for two")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, error %v", files, err)
	}
	for _, text := range []string{"", "{", `{"time_fs": -1, "operations": [{}]}`, `[]`} {
		require.NoError(t, os.WriteFile(files[0], []byte(text), 0o666))
		if _, ok := get(NewStore(dir, "m")); ok {
			t.Errorf("a record from %q", text)
		}
	}
	blocked := NewStore(filepath.Join(files[0], "folder"), "m")
	blocked.put(key, &r)
	if _, ok := get(blocked); !ok {
		t.Error("memory lost what no file could keep")
	}
}

// TestStoreKnowsItsRecords: a record with changed figures is invalid, and so is one in the
// place of another.
func TestStoreKnowsItsRecords(t *testing.T) {
	dir := t.TempDir()
	a, b := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	s := NewStore(dir, "m")
	s.put(a, &Record{Row: Row{10, 2.5}, Operations: []Row{{7, 2.5}}})
	s.put(b, &Record{Row: Row{20, 2.5}, Operations: []Row{{9, 2.5}}})
	text := require.File(t, s.path(a))
	none := func(what, key string) {
		t.Helper()
		if got := (Record{}); NewStore(dir, "m").get(key, &got) {
			t.Errorf("%s is the record %v", what, got)
		}
	}
	require.NoError(t, os.WriteFile(s.path(b), text, 0o666))
	none("another's file", b)
	changed := bytes.Replace(text, []byte("2.5"), []byte("2.6"), 1)
	if bytes.Equal(changed, text) {
		t.Fatalf("no figure to change in %s", text)
	}
	require.NoError(t, os.WriteFile(s.path(a), changed, 0o666))
	none("a changed file", a)
}

// TestLoopRecordFits: a damaged record of a loop is none.
func TestLoopRecordFits(t *testing.T) {
	whole := func() LoopRecord {
		return LoopRecord{Executions: 2, Loop: Share{TimeFs: 8}, Operations: make([]Share, 3), Engines: make([]Engines, 3),
			Steps: []Step{{Device: "cpu", Operations: []int{0, 2}}, {Device: "npu", Operations: []int{1}}}}
	}
	if r := whole(); !r.fits(3) {
		t.Fatal("a good record does not fit")
	}
	for what, damage := range map[string]func(*LoopRecord){
		"no executions":       func(r *LoopRecord) { r.Executions = 0 },
		"other operations":    func(r *LoopRecord) { r.Operations = r.Operations[:2] },
		"other engines":       func(r *LoopRecord) { r.Engines = r.Engines[:2] },
		"an operation twice":  func(r *LoopRecord) { r.Steps[1].Operations[0] = 2 },
		"an operation beyond": func(r *LoopRecord) { r.Steps[1].Operations[0] = 3 },
		"one before":          func(r *LoopRecord) { r.Steps[1].Operations[0] = -1 },
		"negative time":       func(r *LoopRecord) { r.Loop.TimeFs = -1 },
	} {
		r := whole()
		if damage(&r); r.fits(3) {
			t.Errorf("%s: it fits", what)
		}
	}
}

// TestFit finds the line that samples lie on, and no negative slope.
func TestFit(t *testing.T) {
	var samples []sample
	for i := range 20 {
		x := [3]float64{1, float64(i * i), float64(1000 - 7*i)}
		samples = append(samples, sample{features: x})
		samples[i].cost.TimeFs = 5e9 + 3e6*x[1] + 2e5*x[2]
	}
	line := fit(samples, func(c partition.Cost) float64 { return c.TimeFs })
	for i, want := range []float64{5e9, 3e6, 2e5} {
		if d := line[i]/want - 1; !(d > -1e-6 && d < 1e-6) {
			t.Errorf("coefficient %d is %v, want %v", i, line[i], want)
		}
	}
	for i := range samples {
		samples[i].cost.TimeFs = 1e9 - float64(i)*1e6
	}
	if line = fit(samples, func(c partition.Cost) float64 { return c.TimeFs }); line[1] < 0 || line[2] < 0 {
		t.Errorf("a negative slope: %v", line)
	}
}
