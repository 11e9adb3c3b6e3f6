package devices_test

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
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

// clockKeys are the keys of a clock that an execution at one point depends on. A
// point that a preference names takes the preference's key with it. The points
// between, ramp_us, idle_after_us and idle_exit_us are kept for the machine whose
// governors and idle states act in time; nothing else of a file may be without
// effect.
func clockKeys(path string, c *soc.Clock) []key {
	var list []key
	governors := []struct {
		name string
		mhz  *float64
	}{{"low_power_mhz", &c.LowPowerMHz}, {"sustained_mhz", &c.SustainedMHz}, {"fast_mhz", &c.FastMHz}}
	for i := range c.OPPs {
		o := &c.OPPs[i]
		if o.MHz != c.LowPowerMHz && o.MHz != c.SustainedMHz && o.MHz != c.FastMHz {
			continue // a point between those of the preferences, for governors in time
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
		}, lo: 10, hi: 6000}, key{path: at + ".v", v: reflect.ValueOf(&o.V).Elem(), lo: 0.3, hi: 2})
	}
	for _, g := range governors {
		var others []float64
		for _, o := range c.OPPs {
			others = append(others, o.MHz)
		}
		list = append(list, key{path: path + "." + g.name, v: reflect.ValueOf(g.mhz).Elem(), others: others, lo: 10, hi: 6000})
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
	return list
}

// report is everything that a device says about an execution; 0 when it does not
// take the model.
func report(c *soc.Config, device string, m *nn.Model, p hal.Preference) (uint64, error) {
	list, err := devices.Open(c, p)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == device })
	if i < 0 {
		return 0, nil
	}
	d := list[i]
	h := fnv.New64a()
	fmt.Fprintln(h, d.Description())
	if m == nil {
		err := kernelReport(h, c, p)
		return h.Sum64(), err
	}
	ok, err := d.SupportedOperations(m)
	if err != nil || !ok[0].OK {
		return 0, err
	}
	prepared, err := d.PrepareModel(m, hal.PrepareOptions{Preference: p})
	if err != nil {
		return 0, err
	}
	var r hal.Request
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
	res, err := prepared.Execute(&r)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(h, "%+v", res.Stats)
	return h.Sum64(), nil
}

// kernelReport adds the report of a kernel of instructions that the lowered
// operations do without, as "nnsoc gpu exec" gives it.
func kernelReport(h io.Writer, c *soc.Config, p hal.Preference) error {
	s, err := gpu.FromSoC(c, sim.Preference(p))
	if err != nil {
		return err
	}
	dram, _, err := c.NewPath("gpu", c.GPU.MemoryNs)
	if err != nil {
		return err
	}
	core, err := gpu.New(s, dram)
	if err != nil {
		return err
	}
	var code []byte
	for _, line := range []string{
		"v_lshlrev_b32 v1, 5, v0", "v_and_b32 v1, 0xfff, v1", "ds_write_b32 v1, v0", "s_waitcnt lgkmcnt(0)", "s_barrier",
		"ds_read_b32 v2, v1", "s_waitcnt lgkmcnt(0)", "v_mul_lo_u32 v3, v2, v0", "v_mul_lo_u32 v3, v3, v0", "v_lshlrev_b64 v[4:5], v3, v[2:3]",
		"v_lshlrev_b64 v[4:5], v3, v[4:5]", "v_fma_f64 v[6:7], v[4:5], v[4:5], v[4:5]", "v_fma_f64 v[6:7], v[6:7], v[4:5], v[4:5]", "s_endpgm",
	} {
		in, err := rdna2.Assemble(line, false)
		if err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if code, err = in.Encode(code); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	k := &gpu.Kernel{Name: "keys", Code: code, WaveSize: 32, VGPRs: 64, LDSBytes: 16 << 10}
	r, err := core.Run(&mem.Space{}, []gpu.Dispatch{{Kernel: k, Grid: [3]int{16 << 10}, Workgroup: [3]int{1024}}}, gpu.Options{})
	fmt.Fprintf(h, "%+v %v", r, err) // a refusal is a report, too
	return nil
}

// workload is a model for one device, or for all; none is a kernel of its own.
type workload struct {
	model *nn.Model
	only  string
}

// workloads are what a changed number must show in.
func workloads() []workload {
	type shape = []uint32
	var list []workload
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
			list = append(list, workload{o.model(), o.only})
		}
	}
	return append(list, workload{only: "gpu"})
}

// sameSection reports whether what a device reads is equal in two presets.
func sameSection(section string, a, b *soc.Config) bool {
	if !cmp.Equal(a.DRAM, b.DRAM) || !cmp.Equal(a.Interconnect, b.Interconnect) {
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
	}
	return true
}

// exceptions are keys whose effect a report of the device has not, and where it
// is instead.
var exceptions = map[string]string{
	"cpu.threads":                              "moves with the cores that it uses: more threads than cores are an error",
	"cpu.cluster[0].cores":                     "bounds threads",
	"npu.cores":                                "fixed by the product and the rest of the machine: others are refused",
	"npu.ublock_stream":                        "fixed by the product: others are refused",
	"npu.pipeline_delay":                       "between dependent steps of a single micro-block, seen by nnsoc npu exec",
	"npu.pipeline_delay_40":                    "of 16-bit networks, which only nnsoc npu exec runs",
	"npu.output_cycles[0]":                     "of 32-bit elementwise operations, in networks of nnsoc npu exec",
	"npu.output_cycles[1]":                     "same",
	"npu.output_cycles[2]":                     "same",
	"npu.output_cycles[4]":                     "of ADD without rescaling, same",
	"ethos-u55-128 npu.table_cycles":           "hidden behind the memory of its input in these shapes",
	"ethos-u65-512 npu.table_cycles":           "same",
	"ethos-u65-512 npu.output_cycles[6]":       "same",
	"ethos-u55-128 npu.memory[1].burst_bytes":  "constants are read in runs of more than a burst; shorter ones in networks of nnsoc npu exec",
	"ethos-u65-512 npu.memory[0].read_cycles":  "fast scratch, which only networks of nnsoc npu exec use",
	"ethos-u65-512 npu.memory[0].write_cycles": "same",
}

// TestEveryKeyMatters perturbs every number of CPU, DRAM, interconnect and
// Ethos-U of every preset, one at a time: some report must change.
func TestEveryKeyMatters(t *testing.T) {
	if os.Getenv("NNSOC_SWEEP") == "" {
		t.Skip("skipped: needs NNSOC_SWEEP=1 and some minutes")
	}
	all := workloads()
	var seen []*soc.Config // presets that have been tried
	for _, name := range soc.Names() {
		t.Run(name, func(t *testing.T) {
			load := func() *soc.Config {
				c, err := soc.Load(name)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			defer func() { seen = append(seen, load()) }()
			base := map[string]uint64{}
			reference := func(device string, w int, p hal.Preference) uint64 {
				id := fmt.Sprint(device, w, p)
				if _, ok := base[id]; !ok {
					base[id], _ = report(load(), device, all[w].model, p)
				}
				return base[id]
			}
			// changes reports whether a report of a device changes with a number.
			changes := func(i int, k *key, device string, p hal.Preference) bool {
				for w := range all {
					if o := all[w].only; o != "" && o != device || reference(device, w, p) == 0 {
						continue
					}
					for _, v := range perturbed(k) {
						c := load()
						x := &keys(c)[i]
						if x.set != nil {
							x.set(v)
						} else {
							x.v.Set(v)
						}
						if got, err := report(c, device, all[w].model, p); err == nil && got != base[fmt.Sprint(device, w, p)] {
							return true
						}
					}
				}
				return false
			}
			c0 := load()
			for i, k := range keys(c0) {
				if exceptions[k.path] != "" || exceptions[name+" "+k.path] != "" {
					continue
				}
				section, _, _ := strings.Cut(k.path, ".")
				if slices.ContainsFunc(seen, func(c *soc.Config) bool { return sameSection(section, c, load()) }) {
					continue
				}
				if section == "gpu" || section == "dsp" || section == "npu" && c0.DSP != nil {
					continue // the engines of the phones have tests of their own specs
				}
				readers := []string{section}
				if section == "dram" || section == "interconnect" {
					readers = []string{"cpu", "npu", "dsp", "gpu"}
				}
				preferences := []hal.Preference{hal.FastSingleAnswer}
				if strings.Contains(k.path, ".clock.") {
					preferences = append(preferences, hal.LowPower, hal.SustainedSpeed)
				}
				if !slices.ContainsFunc(readers, func(device string) bool {
					return slices.ContainsFunc(preferences, func(p hal.Preference) bool { return changes(i, &k, device, p) })
				}) {
					t.Errorf("%s changes nothing", k.path)
				}
			}
		})
	}
}
