package advise

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// growth is how the time that a lever acts on follows its number.
type growth int

const (
	rate growth = iota // inverse to the number
	time               // proportional to it
	size               // inverse to the square root: a cache's
)

// lever is a number of a SoC that acts on a part of the latency.
type lever struct {
	key    string  // D stands for the section of the device, * for any index: all are changed
	factor float64 // of the number
	growth growth
	// What it acts on: stalls of the device's operations (of all types, or of some), parts of
	// the chain.
	reasons []string
	of      []nn.OperationType
	parts   []string
}

// memoryReasons are stalls on a response from behind the engine.
var memoryReasons = []string{"dram", "system_cache", "bank", "bus", "refresh"}

// levers are tried where the SoC has the key; those whose reasons and parts cost no time gain nothing and are left out.
var levers = []lever{
	{key: "dram.mt_per_s", factor: 1.25, growth: rate, reasons: []string{"dram", "bus"}},
	{key: "dram.channels", factor: 2, growth: rate, reasons: []string{"dram", "bank", "bus"}},
	{key: "system_cache.kib", factor: 2, growth: size, reasons: []string{"dram"}},
	{key: "interconnect.mhz", factor: 1.25, growth: rate, reasons: []string{"system_cache"}},
	{key: "host.runtime_us", factor: 0.5, growth: time, parts: []string{"runtime"}},
	{key: "host.binder_us", factor: 0.5, growth: time, parts: []string{"binder"}},
	{key: "host.idle[*].exit_us", factor: 0.5, growth: time, parts: []string{"cpu_wake"}},
	{key: "D.path.map_us", factor: 0.5, growth: time, parts: []string{"map"}},
	{key: "D.path.unmap_us", factor: 0.5, growth: time, parts: []string{"unmap"}},
	{key: "D.path.rpc_us", factor: 0.5, growth: time, parts: []string{"rpc", "interrupt"}},
	{key: "D.path.launch_us", factor: 0.5, growth: time, parts: []string{"launch"}},
	{key: "D.clock.idle_exit_us", factor: 0.5, growth: time, parts: []string{"wake"}},
	{key: "D.l2.kib", factor: 2, growth: size, reasons: memoryReasons},

	{key: "gpu.clusters", factor: 2, growth: rate, reasons: []string{"issue", "operand", "unit", "l1", "fetch", "barrier", "branch"}},
	{key: "gpu.waves_per_simd", factor: 2, growth: rate, reasons: []string{"operand", "l1", "l2", "fetch"}},
	{key: "gpu.l0.kib", factor: 2, growth: size, reasons: []string{"l1", "l2"}},
	{key: "gpu.l2.bytes_per_cycle", factor: 2, growth: rate, reasons: []string{"l2"}},
	{key: "gpu.dispatch_cycles", factor: 0.5, growth: time, reasons: []string{"launch"}},
	{key: "gpu.icache.kib", factor: 2, growth: size, reasons: []string{"fetch"}},

	{key: "dsp.threads", factor: 2, growth: rate, reasons: []string{"issue", "operand", "branch", "l1", "l2"}},
	{key: "dsp.contexts", factor: 2, growth: rate, reasons: []string{"unit", "context"}},
	{key: "dsp.vtcm_kib", factor: 2, growth: size, reasons: []string{"l2", "dma"}},
	{key: "dsp.job_start_cycles", factor: 0.5, growth: time, reasons: []string{"launch"}},

	{key: "npu.ifm_depth", factor: 2, growth: rate, reasons: []string{"issue"}, of: []nn.OperationType{nn.OpConv2D, nn.OpFullyConnected}},
	{key: "npu.depthwise_taps", factor: 2, growth: rate, reasons: []string{"issue"}, of: []nn.OperationType{nn.OpDepthwiseConv2D}},
	{key: "npu.weights_per_cycle", factor: 2, growth: rate, reasons: []string{"weights", "weight_decode"}},
	{key: "npu.shram_kib", factor: 2, growth: size, reasons: []string{"scratchpad", "dma", "dram", "fetch"}},
	{key: "npu.start_cycles", factor: 0.5, growth: time, reasons: []string{"launch"}},
}

// clockStep is by how much a top clock is raised.
const clockStep = 1.1

// machineChanges are numbers of the SoC to change.
func machineChanges(r *Run) (list []Change) {
	for _, l := range levers {
		section, _, _ := strings.Cut(l.key, ".")
		if isEngine(section) && section != r.Device {
			continue
		}
		touched := r.usOf(l.of, l.reasons...)
		for _, p := range l.parts {
			touched += r.Parts[p]
		}
		why := fmt.Sprintf("%.1f us go to %s", touched, strings.Join(append(append([]string{}, l.reasons...), l.parts...), ", "))
		keys := r.keys(strings.Replace(l.key, "D.", r.Device+".", 1))
		if c := scaled(keys, l.factor); c != nil {
			c.Why, c.PredictedUS = why, touched*saved(l.growth, l.factor)
			list = append(list, *c)
		}
	}
	own := r.engineUS() - r.us(memoryReasons...)
	for _, x := range []struct {
		section, top string
		touched      float64
		what         string
	}{
		{r.Device, r.Device + ".clock.fast_mhz", own, "the engine itself"},
		{"system_cache", "system_cache.mhz", r.us("system_cache"), "system_cache"},
	} {
		if c := scaled(r.points(x.section, x.top), clockStep); c != nil {
			c.Why, c.PredictedUS = fmt.Sprintf("%.1f us go to %s", x.touched, x.what), x.touched*saved(rate, clockStep)
			list = append(list, *c)
		}
	}
	return list
}

// keys are those whose path matches, * standing for any text.
func (r *Run) keys(pattern string) (list []*soc.Key) {
	head, tail, several := strings.Cut(pattern, "*")
	for i := range r.Keys {
		path := r.Keys[i].Path
		if path == pattern || several && strings.HasPrefix(path, head) && strings.HasSuffix(path, tail) && len(path) > len(head)+len(tail) {
			list = append(list, &r.Keys[i])
		}
	}
	return list
}

// points are the key of a top clock and the others of its section that are the same operating
// point.
func (r *Run) points(section, top string) (list []*soc.Key) {
	list = r.keys(top)
	if len(list) != 1 {
		return nil
	}
	for i := range r.Keys {
		k := &r.Keys[i]
		if strings.HasPrefix(k.Path, section+".clock.") && strings.HasSuffix(k.Path, "mhz") && !strings.HasSuffix(k.Path, "ddr_mhz") && k.Path != top && k.Value == list[0].Value {
			list = append(list, k)
		}
	}
	return list
}

// scaled multiplies keys by a factor; nil where a value is 0 or leaves its limits.
func scaled(keys []*soc.Key, factor float64) *Change {
	if len(keys) == 0 {
		return nil
	}
	c := &Change{Kind: Machine}
	var now []string
	for _, k := range keys {
		value := k.Value * factor
		if k.Integer {
			value = math.Round(value)
		} else {
			value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', 10, 64), 64) // as people write it
		}
		if value == k.Value || value < k.Lo || value > k.Hi {
			return nil
		}
		c.Keys = append(c.Keys, soc.Change{Key: k.Path, Value: strconv.FormatFloat(value, 'f', -1, 64)})
		now = append(now, fmt.Sprint(k.Value))
	}
	c.What = fmt.Sprintf("%s (now %s)", Flags(c.Keys), strings.Join(slices.Compact(now), ", "))
	return c
}

// Flags are the flags of the command line that change keys.
func Flags(changes []soc.Change) string {
	var list []string
	for _, x := range changes {
		text := x.String()
		if strings.ContainsAny(text, "[]") { // shells match file names by them
			text = "'" + text + "'"
		}
		list = append(list, "--set "+text)
	}
	return strings.Join(list, " ")
}

func isEngine(section string) bool { return section == "gpu" || section == "dsp" || section == "npu" }

// saved is the share of a time that is saved when a number grows by a factor.
func saved(g growth, factor float64) float64 {
	switch g {
	case time:
		return 1 - factor
	case size:
		return 1 - 1/math.Sqrt(factor)
	}
	return 1 - 1/factor
}
