package devices_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// key is one number of a configuration.
type key struct {
	path string
	v    reflect.Value         // settable; of a map the value to be stored
	set  func(v reflect.Value) // nil: v is set itself
	// others are the only other values that a governor's point may have.
	others []float64
	lo, hi float64 // of the tag "range"
}

// store changes the number in the configuration that the key was listed from.
func (k *key) store(v reflect.Value) {
	if k.set != nil {
		k.set(v)
		return
	}
	k.v.Set(v)
}

// keys lists the numbers of a configuration in the order of its fields.
func keys(c *soc.Config) []key {
	var list []key
	var walk func(path string, v reflect.Value, tag reflect.StructTag)
	walk = func(path string, v reflect.Value, tag reflect.StructTag) {
		lo, hi := interval(tag)
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(path, v.Elem(), tag)
			}
		case reflect.Struct:
			if clock, ok := v.Addr().Interface().(*soc.Clock); ok {
				list = append(list, clockKeys(path, clock)...)
				return
			}
			for i := range v.NumField() {
				f := v.Type().Field(i)
				if f.Tag.Get("soc") == "optional" && v.Field(i).IsZero() {
					continue // not in the file
				}
				walk(strings.TrimPrefix(path+"."+f.Tag.Get("toml"), "."), v.Field(i), f.Tag)
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i), tag)
			}
		case reflect.Map:
			names := v.MapKeys()
			sort.Slice(names, func(i, j int) bool { return names[i].String() < names[j].String() })
			for _, n := range names {
				list = append(list, key{path: path + "." + n.String(), v: v.MapIndex(n), set: func(x reflect.Value) { v.SetMapIndex(n, x) }, hi: 1e9})
			}
		case reflect.Int, reflect.Float64:
			list = append(list, key{path: path, v: v, lo: lo, hi: hi})
		}
	}
	walk("", reflect.ValueOf(c).Elem(), "")
	return list
}

// interval is the range of valid values.
func interval(tag reflect.StructTag) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if r := tag.Get("range"); r != "" {
		a, b, _ := strings.Cut(r, "..")
		lo, _ = strconv.ParseFloat(a, 64)
		hi, _ = strconv.ParseFloat(b, 64)
	}
	return lo, hi
}

// clockKeys are the keys of a clock. A change of a point that a preference names changes
// the preference's key too; every other key of a file must have an effect.
func clockKeys(path string, c *soc.Clock) []key {
	var list []key
	governors := []struct {
		name string
		mhz  *float64
	}{{"low_power_mhz", &c.LowPowerMHz}, {"sustained_mhz", &c.SustainedMHz}, {"fast_mhz", &c.FastMHz}}
	for i := range c.OPPs {
		o := &c.OPPs[i]
		if o.MHz != c.LowPowerMHz && o.MHz != c.SustainedMHz && o.MHz != c.FastMHz {
			continue // a point between those of the preferences: of a governor
		}
		lo, hi := 10.0, 6000.0 // points rise
		if i > 0 {
			lo = c.OPPs[i-1].MHz
		}
		if i+1 < len(c.OPPs) {
			hi = c.OPPs[i+1].MHz
		}
		at := fmt.Sprintf("%s.opps[%d]", path, i)
		v := reflect.ValueOf(&o.MHz).Elem()
		list = append(list, key{path: at + ".mhz", v: v, set: func(x reflect.Value) {
			for _, g := range governors {
				if *g.mhz == o.MHz {
					*g.mhz = x.Float()
				}
			}
			o.MHz = x.Float()
		}, lo: lo, hi: hi}, key{path: at + ".v", v: reflect.ValueOf(&o.V).Elem(), lo: 0.3, hi: 2})
		if o.DDRMHz > 0 {
			list = append(list, key{path: at + ".ddr_mhz", v: reflect.ValueOf(&o.DDRMHz).Elem(), lo: 100, hi: 4000})
		}
	}
	for _, g := range governors {
		var others []float64
		for _, o := range c.OPPs {
			others = append(others, o.MHz)
		}
		list = append(list, key{path: path + "." + g.name, v: reflect.ValueOf(g.mhz).Elem(), others: others, lo: 10, hi: 6000})
	}
	add := func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if name := f.Tag.Get("toml"); strings.HasSuffix(name, "_us") || strings.HasSuffix(name, "_share") {
				if v.Field(i).Float() == 0 && f.Tag.Get("soc") == "optional" {
					continue
				}
				lo, hi := interval(f.Tag)
				list = append(list, key{path: path + "." + name, v: v.Field(i), lo: lo, hi: hi})
			}
		}
	}
	add(reflect.ValueOf(c).Elem())
	if c.Governor != nil {
		path += ".governor"
		add(reflect.ValueOf(c.Governor).Elem())
	}
	return list
}

// perturbed gives other values of a number, the likeliest to be valid first.
func perturbed(k *key) []reflect.Value {
	v := k.v
	var list []reflect.Value
	add := func(x float64) {
		if x < k.lo || x > k.hi {
			return
		}
		n := reflect.New(v.Type()).Elem()
		if v.Kind() == reflect.Int {
			n.SetInt(int64(x))
		} else {
			n.SetFloat(x)
		}
		if !n.Equal(v) {
			list = append(list, n)
		}
	}
	x := 0.0
	if v.Kind() == reflect.Int {
		x = float64(v.Int())
	} else {
		x = v.Float()
	}
	for _, other := range k.others {
		add(other)
	}
	if k.others != nil {
		return list
	}
	add(x / 2)
	add(x * 2)
	add(x + 1)
	add(x / 8)
	add(x * 8)
	add(x * 32)
	return list
}

// report is everything that a device reports of an execution; 0 when it does not
// support the model.
func report(c *soc.Config, device string, w *workload, p hal.Preference, kernels *devices.Kernels, options ...devices.Option) (uint64, error) {
	h := fnv.New64a()
	if w.run != nil {
		err := w.run(h, c, p)
		var no refusal
		if errors.As(err, &no) {
			fmt.Fprint(h, no)
			err = nil
		}
		return h.Sum64(), err
	}
	m := w.model
	list, err := kernels.Open(c, p, options...)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == device })
	if i < 0 {
		return 0, nil
	}
	d := list[i]
	fmt.Fprintln(h, d.Description())
	ok, err := d.SupportedOperations(m)
	if err != nil || !ok[0].OK {
		return 0, err
	}
	prepared, err := d.PrepareModel(m, hal.PrepareOptions{Preference: p})
	if err != nil {
		return 0, err
	}
	var r hal.Buffers
	for _, i := range m.Main.Inputs {
		b := make([]byte, m.Main.Operands[i].Bytes())
		for k := 0; k+4 <= len(b); k += 4 {
			binary.LittleEndian.PutUint32(b[k:], uint32(k%61)) // small indexes, tiny floats
		}
		r.Inputs = append(r.Inputs, b)
	}
	for _, i := range m.Main.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, m.Main.Operands[i].Bytes()))
	}
	res, err := hal.Execute(prepared, &r)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%+v", res.Stats)
	return h.Sum64(), nil
}

// refusal is the error of a program that a machine does not run, which is a
// report, too.
type refusal struct{ error }

// workload is a model for one device, or for all, or a program of a device's own
// instructions.
type workload struct {
	model *nn.Model
	only  string
	run   func(h io.Writer, c *soc.Config, p hal.Preference) error
	host  bool // of the host's part of executions
}

// hostKey matches the keys of the host's part of executions and of clocks in time.
var hostKey = regexp.MustCompile(`^host\.|^dram\.clock\.|^system_cache\.clock\.|\.path\.|\.(ramp|idle_after|idle_exit|slumber)_us|\.governor\.|^thermal\.`)

// clusterKey matches the keys of a cluster.
var clusterKey = regexp.MustCompile(`^cpu\.cluster\[([0-9]+)\]`)

// workloads are the programs of which one must change with each number of a preset, the
// quickest first.
func workloads(c *soc.Config) []workload {
	type shape = []uint32
	list := []workload{{only: "cpu", run: dramProgram}}
	if c.SystemCache != nil {
		list = append(list, workload{only: "cpu", run: systemCacheProgram})
	}
	there := [soc.NumEngines]bool{true, c.GPU != nil, c.DSP != nil, c.NPU != nil}
	for e := range soc.NumEngines {
		if !there[e] {
			continue
		}
		list = append(list, workload{only: e.String(), host: true, run: hostCalls(e)})
	}
	if c.Thermal != nil {
		list = append(list, workload{only: "cpu", host: true, run: warmAndCool})
	}
	if c.DRAM.Clock != nil {
		list = append(list, workload{only: "cpu", host: true, run: memoryClockProgram})
	}
	if c.GPU != nil {
		for _, p := range gpuPrograms(c) {
			list = append(list, workload{only: "gpu", run: p.run})
		}
	}
	if c.DSP != nil {
		for _, p := range dspPrograms(c) {
			list = append(list, workload{only: "dsp", run: p.run})
		}
	}
	if c.NPU != nil {
		for _, p := range npuPrograms() {
			list = append(list, workload{only: "npu", run: p.run})
		}
	}
	// Of the CPU alone: loops without vectors.
	for _, o := range []oneOperation{
		{op: nn.OpGroupedConv2D, kind: nn.TensorFloat32, args: []any{shape{1, 16, 16, 16}, weights{32, 3, 3, 8}, weights{32}, nn.PaddingSame, 1, 1, 2, 0, false}, out: shape{1, 16, 16, 32}},
		{op: nn.OpPad, kind: nn.TensorQuant8AsymmSigned, args: []any{shape{1, 16, 16, 32}, pairs{0, 0, 1, 1, 1, 1, 0, 0}}, out: shape{1, 18, 18, 32}},
	} {
		list = append(list, workload{model: o.model(), only: "cpu"})
	}
	for _, k := range []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorFloat32, nn.TensorFloat16} {
		for _, o := range []struct {
			only string
			oneOperation
		}{
			{"", oneOperation{op: nn.OpConv2D, args: []any{shape{1, 16, 16, 16}, weights{32, 3, 3, 16}, weights{32}, nn.PaddingSame, 1, 1, 0}, out: shape{1, 16, 16, 32}}},
			{"", oneOperation{op: nn.OpDepthwiseConv2D, args: []any{shape{1, 16, 16, 64}, weights{1, 3, 3, 64}, weights{64}, nn.PaddingSame, 1, 1, 1, 0}, out: shape{1, 16, 16, 64}}},
			{"", oneOperation{op: nn.OpFullyConnected, args: []any{shape{1, 1024}, weights{1100, 1024}, weights{1100}, 0}, out: shape{1, 1100}}},
			{"", oneOperation{op: nn.OpSoftmax, args: []any{shape{4, 200}, float32(0)}, out: shape{4, 200}}},
			{"", oneOperation{op: nn.OpMul, args: []any{shape{1, 16, 16, 32}, shape{1, 16, 16, 32}, 0}, out: shape{1, 16, 16, 32}}},
			{"", oneOperation{op: nn.OpMaxPool2D, args: []any{shape{1, 16, 16, 32}, nn.PaddingSame, 1, 1, 3, 3, 0}, out: shape{1, 16, 16, 32}}},
			{"", oneOperation{op: nn.OpTanh, args: []any{shape{1, 16, 16, 32}}, out: shape{1, 16, 16, 32}}},
			{"", oneOperation{op: nn.OpAdd, args: []any{shape{1, 64, 64, 48}, shape{1, 64, 64, 48}, 0}, out: shape{1, 64, 64, 48}}},
			{"", oneOperation{op: nn.OpResizeBilinear, args: []any{shape{1, 16, 16, 32}, 32, 32}, out: shape{1, 32, 32, 32}}},
			{"cpu", oneOperation{op: nn.OpEmbeddingLookup, args: []any{indexes{256}, weights{32 << 10, 96}}, out: shape{256, 96}}},
			{"cpu", oneOperation{op: nn.OpAdd, args: []any{shape{1, 128, 128, 96}, shape{1, 128, 128, 96}, 0}, out: shape{1, 128, 128, 96}}},
		} {
			o.kind = k
			list = append(list, workload{model: o.model(), only: o.only})
		}
	}
	return list
}

// sameSection reports whether what a device reads is equal in two presets.
func sameSection(section string, a, b *soc.Config) bool {
	if !cmp.Equal(a.DRAM, b.DRAM) || !cmp.Equal(a.Interconnect, b.Interconnect) || !cmp.Equal(a.SystemCache, b.SystemCache) || !cmp.Equal(a.Host, b.Host) {
		return false
	}
	switch section {
	case "cpu":
		return cmp.Equal(a.CPU, b.CPU)
	case "gpu":
		return cmp.Equal(a.GPU, b.GPU)
	case "dsp":
		return cmp.Equal(a.DSP, b.DSP)
	case "npu":
		return cmp.Equal(a.NPU, b.NPU)
	case "thermal":
		return cmp.Equal(a.Thermal, b.Thermal)
	}
	return true
}

// fixed are keys that the rest of a machine fixes, which the test checks: its
// devices do not open with another value, or the file is not read.
var fixed = map[string]string{
	"cpu.threads":          "of a CPU with one core: more threads than cores are an error",
	"cpu.cluster[0].cores": "of a CPU with one thread: a second core is used by the shared machine",
	"npu.cores":            "of an Ethos-U55: it has one",
	"gpu.partition_simds":  "of a GPU without partitions: they have lanes as well",
	"gpu.partition_lanes":  "of a GPU without partitions: they have SIMDs as well",
	"gpu.broadcast_lanes":  "of a GPU that processes the addresses of all lanes at once: no fewer of one address",

	"cpu.cluster[0].clock.idle_after_us": "of a CPU with one thread: its core is awake when it executes",
	"cpu.cluster[0].clock.idle_exit_us":  "of a CPU with one thread: its core is awake when it executes",
}

// look is one at the effect of a number: a workload on a device at a preference, with threads on a cluster alone ("" where they
// are), on a cold machine or after a loop of its like.
type look struct {
	workload int
	device   string
	p        hal.Preference
	cluster  string
	warm     bool
}

// prober looks for effects of the numbers of a preset.
type prober struct {
	name    string
	all     []workload
	reports map[look]uint64   // of the preset as it is
	told    map[string][]look // by section, those that have shown an effect, the last first
	kernels devices.Kernels
	c       *soc.Config // as it is
}

func (b *prober) load() *soc.Config {
	c, err := soc.Load(b.name)
	if err != nil {
		panic(err)
	}
	return c
}

// report hashes what a machine reports in a look.
func (b *prober) report(c *soc.Config, l look) (uint64, error) {
	if l.cluster != "" {
		c.CPU.Pin(1, l.cluster)
	}
	var options []devices.Option
	if !l.warm {
		options = append(options, devices.Cold())
	}
	return report(c, l.device, &b.all[l.workload], l.p, &b.kernels, options...)
}

// section is the part of the file that a key stands in.
func section(k *key) string {
	s, _, _ := strings.Cut(k.path, ".")
	return s
}

// looks are the workloads for a key, the likeliest to change first: those for the last keys of its section, then all.
func (b *prober) looks(k *key) []look {
	list := slices.Clone(b.told[section(k)])
	readers := []string{section(k)}
	switch section(k) {
	case "thermal":
		readers = []string{"cpu"}
	case "dram", "interconnect", "host", "system_cache":
		readers = []string{"cpu", "npu", "dsp", "gpu"}
	}
	if strings.Contains(k.path, "system_cache") {
		readers = []string{"cpu", "npu", "dsp", "gpu"}
	}
	preferences := []hal.Preference{hal.FastSingleAnswer}
	if strings.Contains(k.path, ".clock.") {
		preferences = append(preferences, hal.LowPower, hal.SustainedSpeed)
	}
	// Threads on other clusters only share products: one alone does all else.
	clusters := []string{""}
	if m := clusterKey.FindStringSubmatch(k.path); m != nil && m[1] != "0" {
		n, _ := strconv.Atoi(m[1])
		clusters = append(clusters, b.c.CPU.Clusters[n].Name)
	}
	for _, warm := range []bool{false, true} {
		for w := range b.all {
			if warm && b.all[w].run != nil {
				continue // a program of its own knows no warm-up
			}
			for _, cluster := range clusters {
				for _, device := range readers {
					for _, p := range preferences {
						list = append(list, look{w, device, p, cluster, warm})
					}
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(l look) bool {
		w := &b.all[l.workload]
		return w.only != "" && w.only != l.device || w.run != nil && hostKey.MatchString(k.path) != w.host // the driver's part of a request, or not
	})
}

// matters reports whether a report changes with the number of a key, the i-th.
func (b *prober) matters(i int, k *key) bool {
	looks, values := b.looks(k), perturbed(k)
	few := min(2, len(values))
	for _, list := range [][]reflect.Value{values[:few], values[few:]} {
		for _, l := range looks {
			was, known := b.reports[l]
			if !known {
				was, _ = b.report(b.load(), l)
				b.reports[l] = was
			}
			if was == 0 {
				continue
			}
			for _, v := range list {
				c := b.load()
				keys(c)[i].store(v)
				if got, err := b.report(c, l); err == nil && got != was {
					same := func(x look) bool { return x == l }
					b.told[section(k)] = append([]look{l}, slices.DeleteFunc(b.told[section(k)], same)...)
					return true
				}
			}
		}
	}
	return false
}

// rejected reports whether the devices open with no other number.
func (b *prober) rejected(t *testing.T, i int, k *key) bool {
	if c := b.c.CPU; strings.HasPrefix(k.path, "cpu.") {
		return c.Threads == 1 && len(c.Clusters) == 1 && c.Clusters[0].Cores == 1
	}
	for _, v := range perturbed(k) {
		c := b.load()
		keys(c)[i].store(v)
		if _, err := devices.Open(c, hal.FastSingleAnswer); err == nil {
			t.Logf("%s = %v opens", k.path, v)
			return false
		}
	}
	return true
}

// TestEveryKeyMatters perturbs the numbers of every preset, and of the variant with an NPU
// like none of theirs, one at a time: some report must change. It tries every fifth number, beginning elsewhere in each
// preset, and with NNSOC_SWEEP=1 (make sweep) all of them.
func TestEveryKeyMatters(t *testing.T) {
	require.AllTests(t)
	step := 5 // of the keys that are tried
	if os.Getenv("NNSOC_SWEEP") != "" {
		step = 1
	}
	var seen []*soc.Config // presets that have been tried
	for preset, name := range append(soc.Names(), "coral") {
		t.Run(name, func(t *testing.T) {
			b := &prober{name: name, reports: map[look]uint64{}, told: map[string][]look{}}
			b.c = b.load()
			b.all = workloads(b.c)
			defer func() { seen = append(seen, b.c) }()
			for i := range b.all {
				w := &b.all[i]
				if w.run == nil {
					continue
				}
				require.Report(t, w.run(io.Discard, b.load(), hal.FastSingleAnswer), w.only, "as it is")
			}
			for i, k := range keys(b.load()) {
				if (i+preset)%step != 0 || slices.ContainsFunc(seen, func(c *soc.Config) bool { return sameSection(section(&k), c, b.c) }) {
					continue
				}
				start := time.Now()
				if !b.matters(i, &k) && (fixed[k.path] == "" || !b.rejected(t, i, &k)) {
					t.Errorf("%s changes nothing", k.path)
				}
				if d := time.Since(start); d > time.Second {
					t.Log(k.path, d)
				}
			}
		})
	}
}
