package phones

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/bench/zoo"
)

// LeftOut are rows that cannot be compared, for one reason.
type LeftOut struct {
	Reason string `json:"reason"`
	Rows   int    `json:"row_count"`
	First  string `json:"example"` // what the first of them is
}

// Limits of the tables that a reader names.
const (
	maxTables = 64
	maxBytes  = 16 << 20 // of one table
)

// Tables are rows read from tables of tab-separated columns.
type Tables struct {
	Rows    []Row
	LeftOut []LeftOut

	classes map[string]string // of networks
}

// line is a row of a table by the names of its columns.
type line map[string]string

// number is a positive figure of a column.
func (l line) number(column string) (float64, error) {
	v, err := strconv.ParseFloat(l[column], 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return 0, fmt.Errorf("%s is %q, not a positive number", column, l[column])
	}
	return v, nil
}

// layouts are the tables that Read knows, by columns that no other has.
var layouts = []struct {
	columns []string
	read    func(t *Tables, l line) error
}{
	{[]string{"phone", "engine", "network", "model", "arithmetic", "measure", "role", "ms", "source"}, (*Tables).own},
	{[]string{"network", "runtime", "primary", "layers_npu", "layers_gpu", "layers_cpu", "median_ms", "last"}, (*Tables).divided},
	{[]string{"model", "component", "precision", "device", "runtime", "ms", "npu", "gpu", "cpu"}, (*Tables).vendor},
	{[]string{"network", "end_to_end_ms", "kernels_ms"}, (*Tables).halfPrecision},
	{[]string{"round", "system", "test", "p50_ms"}, (*Tables).mlperf},
}

// Layouts lists the columns of the tables that Read knows.
func Layouts() (l []string) {
	for _, x := range layouts {
		l = append(l, strings.Join(x.columns, ", "))
	}
	return l
}

// Read adds the rows of every *.tsv file of a folder, whose columns tell what a table is; lines that begin with # are
// comments. The rows have the role held unless a column says otherwise. Of rows that publish the same figure the
// latest counts.
func (t *Tables) Read(dir fs.FS) error {
	names, err := fs.Glob(dir, "*.tsv")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no *.tsv in the folder; known tables have the columns %s", strings.Join(Layouts(), "; or "))
	}
	if len(names) > maxTables {
		return fmt.Errorf("%d tables, at most %d", len(names), maxTables)
	}
	for _, name := range names {
		info, err := fs.Stat(dir, name)
		if err != nil {
			return err
		}
		if info.Size() > maxBytes {
			return fmt.Errorf("%s: %d bytes, at most %d", name, info.Size(), maxBytes)
		}
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		if err := t.read(name, data); err != nil {
			return err
		}
	}
	t.latest()
	return nil
}

// read adds a table.
func (t *Tables) read(name string, data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.Comment, r.LazyQuotes = '\t', '#', true
	records, err := r.ReadAll()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(records) == 0 {
		return fmt.Errorf("%s: no header", name)
	}
	header := records[0]
	for _, x := range layouts {
		if slices.ContainsFunc(x.columns, func(c string) bool { return !slices.Contains(header, c) }) {
			continue
		}
		for i, f := range records[1:] {
			l := line{}
			for j, column := range header {
				l[column] = f[j]
			}
			if err := x.read(t, l); err != nil {
				return fmt.Errorf("%s, row %d: %w", name, i+1, err)
			}
		}
		return nil
	}
	for range records[1:] {
		t.LeaveOut(path.Base(name), "no table of whole networks: columns %s", strings.Join(header, ", "))
	}
	return nil
}

// LeaveOut counts a row that is not compared.
func (t *Tables) LeaveOut(what, reason string, args ...any) {
	reason = fmt.Sprintf(reason, args...)
	i := slices.IndexFunc(t.LeftOut, func(s LeftOut) bool { return s.Reason == reason })
	if i < 0 {
		i, t.LeftOut = len(t.LeftOut), append(t.LeftOut, LeftOut{Reason: reason, First: what})
	}
	t.LeftOut[i].Rows++
}

// figure is a published row before its network is found.
type figure struct {
	Row
	network string // as the source calls it
	quant   bool   // in 8 bits
}

// add adds a row, or counts why it cannot be compared.
func (t *Tables) add(f figure) error {
	what := fmt.Sprintf("%s on the %s of %s", f.network, strings.ToUpper(f.Engine), f.Phone)
	base, ok := architectures()[plain(f.network)]
	if !ok {
		t.LeaveOut(what, "the zoo has no %s", f.network)
		return nil
	}
	f.Network = base + form(f.quant)
	n, ok := zoo.Find(f.Runs())
	if !ok {
		t.LeaveOut(what, "the zoo has no %s", f.Runs())
		return nil
	}
	if f.Engine == "cpu" && f.Source == vendorSource("onnx") {
		f.Library = onnxRuntime
	}
	if f.SoC = Preset(f.Phone); f.SoC == "" {
		t.LeaveOut(what, "no preset of %s", f.Phone)
		return nil
	}
	var err error
	if f.Class, err = t.class(n); err != nil {
		return err
	}
	t.Rows = append(t.Rows, f.Row)
	return nil
}

// class is the class of a network.
func (t *Tables) class(n *zoo.Network) (string, error) {
	class, ok := t.classes[n.Name]
	if !ok {
		m, _, err := n.Outline()
		if err != nil {
			return "", err
		}
		class = ClassOf(m)
		if t.classes == nil {
			t.classes = map[string]string{}
		}
		t.classes[n.Name] = class
	}
	return class, nil
}

// latest keeps the last of rows that publish the same figure.
func (t *Tables) latest() {
	var kept []Row
	for _, r := range t.Rows {
		i := slices.IndexFunc(kept, func(k Row) bool { return k.sameFigure(&r) })
		switch {
		case i < 0:
			kept = append(kept, r)
			continue
		case cmp.Compare(r.published, kept[i].published) > 0:
			kept[i] = r
		}
		t.LeaveOut(r.Network+" on "+r.Phone, "a later run of the same network counts")
	}
	t.Rows = kept
}

// own reads the layout of the table of this package.
func (t *Tables) own(l line) error {
	ms, err := l.number("ms")
	if err != nil {
		return err
	}
	f := figure{network: l["network"], quant: l["model"] == "quant", Row: Row{Phone: l["phone"], Engine: l["engine"], Arithmetic: l["arithmetic"],
		Measure: l["measure"], Role: l["role"], PublishedMS: ms, Source: l["source"]}}
	for _, c := range []struct {
		column string
		known  []string
	}{
		{"model", []string{"float", "quant"}}, {"engine", engines}, {"arithmetic", []string{"f32", "f16", "i8"}}, {"measure", []string{Latency, Kernels}}, {"role", []string{Fit, Check, Held}},
	} {
		if !slices.Contains(c.known, l[c.column]) {
			return fmt.Errorf("%s is %q, not one of %s", c.column, l[c.column], strings.Join(c.known, ", "))
		}
	}
	return t.add(f)
}

var engines = []string{"cpu", "gpu", "dsp", "npu"}

// layers of a run by engine, as its runtime counted them.
func engineOf(npu, gpu, cpu string) (engine string, divided bool) {
	for i, text := range []string{npu, gpu, cpu} {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			divided = engine != ""
			engine = []string{"dsp", "gpu", "cpu"}[i]
		}
	}
	return engine, divided
}

// boards are the phones behind the names of a vendor's tables.
var boards = map[string]string{
	"RB5 (Proxy)": "RB5", "QCS8250 (Proxy)": "RB5", "Dragonwing RB3 Gen 2 Vision Kit": "RB3 Gen 2", "RB3 Gen 2 (Proxy)": "RB3 Gen 2", "QCS6490 (Proxy)": "RB3 Gen 2",
}

// onnxRuntime is the value of key cpu.library of ONNX Runtime.
const onnxRuntime = "onnxruntime"

// vendorSource names the source of a runtime's rows.
func vendorSource(runtime string) string { return "quic/ai-hub-models, perf.yaml, " + runtime }

// vendorRow adds a run of a vendor's table. TensorFlow Lite runs 8-bit networks on a GPU in float16; ONNX Runtime's rows are
// those of the CPU.
func (t *Tables) vendorRow(phone, name, runtime string, quant bool, ms float64, date, npu, gpu, cpu string) error {
	what := name + " on " + phone
	engine, divided := engineOf(npu, gpu, cpu)
	switch {
	case runtime != "tflite" && (runtime != "onnx" || engine != "cpu"):
		t.LeaveOut(what, "the runtime %s is not one that an NNAPI driver stands in for", runtime)
		return nil
	case divided:
		t.LeaveOut(what, "divided between engines by a delegate")
		return nil
	case engine == "":
		t.LeaveOut(what, "no layers are counted")
		return nil
	}
	arithmetic := "f32"
	switch {
	case engine == "gpu":
		arithmetic = "f16"
	case quant:
		arithmetic = "i8"
	}
	return t.add(figure{network: name, quant: quant, Row: Row{Phone: phone, Engine: engine, Arithmetic: arithmetic, Measure: Latency,
		Role: Held, PublishedMS: ms, Source: vendorSource(runtime), published: date}})
}

// otherForm is the day from which a vendor's ONNX networks are of as many layers as others.
const otherForm = "2025-10-20"

// divided reads 8-bit networks of one board, by division between engines.
func (t *Tables) divided(l line) error {
	ms, err := l.number("median_ms")
	if err != nil {
		return err
	}
	if l["runtime"] == "onnx" && l["last"] < otherForm {
		t.LeaveOut(l["network"]+" on RB5", "ONNX Runtime ran another form of the networks, of three times as many layers, until October 2025")
		return nil
	}
	return t.vendorRow("RB5", l["network"], l["runtime"], true, ms, l["last"], l["layers_npu"], l["layers_gpu"], l["layers_cpu"])
}

// vendor reads networks on boards and phones, as a vendor lists them.
func (t *Tables) vendor(l line) error {
	ms, err := l.number("ms")
	if err != nil {
		return err
	}
	phone := cmp.Or(boards[l["device"]], l["device"])
	if l["precision"] != "float" && l["precision"] != "w8a8" {
		t.LeaveOut(l["model"]+" on "+phone, "NNAPI has no precision %s", l["precision"])
		return nil
	}
	return t.vendorRow(phone, l["model"], l["runtime"], l["precision"] == "w8a8", ms, "", l["npu"], l["gpu"], l["cpu"])
}

// halfPrecision reads networks in half precision on a Pixel 4's GPU.
func (t *Tables) halfPrecision(l line) error {
	for _, m := range []struct{ column, measure string }{{"end_to_end_ms", Latency}, {"kernels_ms", Kernels}} {
		ms, err := l.number(m.column)
		if err != nil {
			return err
		}
		if err := t.add(figure{network: l["network"], Row: Row{Phone: "Pixel 4", Engine: "gpu", Arithmetic: "f16", Measure: m.measure, Role: Held, PublishedMS: ms,
			Source: qed}}); err != nil {
			return err
		}
	}
	return nil
}

// qed is the source of the Pixel 4's half precision and of the CPU's sets of cores.
const qed = "qed-usc/mobile-ml-benchmark, TensorFlow Lite 2.10"

// mlperfTest is the name of a test of MLPerf Mobile that states engine and type.
var mlperfTest = regexp.MustCompile(`^(LU|IC|OD|IS)_(gpu|cpu)_float32$`)

// mlperf reads results of MLPerf Mobile. Only names of tests that state their engine say what ran.
func (t *Tables) mlperf(l line) error {
	phone := map[string]string{"exynos2200": "Exynos 2200"}[l["system"]]
	what := l["test"] + " on " + l["system"]
	f := mlperfTest.FindStringSubmatch(l["test"])
	switch {
	case f == nil:
		t.LeaveOut(what, "MLPerf does not say on which engine a test ran")
		return nil
	case phone == "":
		t.LeaveOut(what, "no preset of %s", l["system"])
		return nil
	}
	ms, err := l.number("p50_ms")
	if err != nil {
		return err
	}
	name := map[string]string{"LU": "mobilebert", "IC": "mobilenet_edgetpu", "OD": "mobiledet_dsp", "IS": "deeplab_v3_mnv2"}[f[1]]
	return t.add(figure{network: name, Row: Row{Phone: phone, Engine: f[2], Arithmetic: "f32", Measure: Latency, Role: Held, PublishedMS: ms, Source: "MLPerf Mobile " + l["round"]}})
}
