package soc

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/sim/power"
)

// maxErrors bounds a report.
const maxErrors = 20

// checker walks a decoded configuration: every required key is there, every
// number in its range, and the parts fit together.
type checker struct {
	file string
	pos  map[string]position
	// changes are those made to the file, which errors name instead of a position.
	changes string
	set     map[string]bool // their keys
	errs    []error
}

func (k *checker) err() error { return first(k.errs) }

// first is the first of several errors and how many follow: one line.
func first(errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return fmt.Errorf("%w (and %d more)", errs[0], len(errs)-1)
}

// fail reports at the key, or at the nearest enclosing table that is written.
func (k *checker) fail(path, format string, a ...any) {
	if len(k.errs) == maxErrors {
		return
	}
	if k.changes != "" {
		k.errs = append(k.errs, fmt.Errorf("soc: %s with %s: %s: %s", k.file, k.changes, path, fmt.Sprintf(format, a...)))
		return
	}
	at := path
	for {
		if p, ok := k.pos[at]; ok {
			k.errs = append(k.errs, fmt.Errorf("soc: %s:%d:%d: %s: %s", k.file, p.line, p.col, path, fmt.Sprintf(format, a...)))
			return
		}
		i := strings.LastIndexAny(at, ".[")
		if i < 0 {
			k.errs = append(k.errs, fmt.Errorf("soc: %s:1:1: %s: %s", k.file, path, fmt.Sprintf(format, a...)))
			return
		}
		at = at[:i]
	}
}

func (k *checker) config(c *Config) {
	k.walk("", reflect.ValueOf(c).Elem())
	if len(k.errs) == 0 { // later checks rely on sane numbers
		k.combinations(c)
	}
}

// combinations checks numbers against each other; each alone is in range.
func (k *checker) combinations(c *Config) {
	if c.SoC.Name == "" {
		k.fail("soc.name", "empty")
	}
	k.dram(&c.DRAM)
	k.systemCache(c)
	k.host(c)
	if c.CPU != nil {
		k.cpu(c)
	}
	if c.GPU != nil {
		k.gpu(c)
	}
	if c.DSP != nil {
		k.dsp(c)
	}
	if c.NPU != nil {
		k.npu(c)
	}
	if c.Thermal != nil {
		k.thermal(c)
	}
	if c.CPU == nil && c.GPU == nil && c.DSP == nil && c.NPU == nil {
		k.fail("soc", "no device section (cpu, gpu, dsp, npu)")
	}
}

func (k *checker) cpu(c *Config) {
	k.energy("cpu.energy", c.CPU.Energy.PJ, cpuEvents)
	cores := 0
	for i := range c.CPU.Clusters {
		cl := &c.CPU.Clusters[i]
		p := fmt.Sprintf("cpu.cluster[%d]", i)
		if c.CPU.used(cl.Name) {
			cores += cl.Cores
		}
		k.clock(p+".clock", &cl.Clock, c.DRAM.Clock)
		k.cache(p+".l1d", &cl.L1D)
		k.cache(p+".l2", &cl.L2)
	}
	k.oneOf("cpu.library", c.CPU.Library, TFLite, ONNXRuntime)
	if c.CPU.Threads > 1 { // of one thread the keys have no effect, and stay when threads is changed
		k.only("cpu.thread_dispatch_cycles", true, "threads above 1")
		k.only("cpu.spin_share", c.CPU.SpinUs > 0, "spin_us")
	}
	for i, name := range c.CPU.Affinity {
		if !slices.ContainsFunc(c.CPU.Clusters, func(cl Cluster) bool { return cl.Name == name }) || slices.Contains(c.CPU.Affinity[:i], name) {
			k.fail(fmt.Sprintf("cpu.affinity[%d]", i), "%q, want the name of a cluster, once", name)
		}
	}
	if c.CPU.Threads > cores {
		k.fail("cpu.threads", "%d threads on %d cores", c.CPU.Threads, cores)
	}
	k.cache("cpu.l3", &c.CPU.L3)
}

func (k *checker) gpu(c *Config) {
	g := c.GPU
	k.clock("gpu.clock", &g.Clock, c.DRAM.Clock)
	k.path("gpu.path", &g.Path)
	events := gpuEvents
	if g.GL1 != nil {
		events = append(slices.Clone(events), gl1Event)
	}
	k.energy("gpu.energy", g.Energy.PJ, events)
	if g.Lanes != 32 && g.Lanes != 64 {
		k.fail("gpu.lanes", "%d, want 32 or 64", g.Lanes)
	}
	if g.LDSBanks&(g.LDSBanks-1) != 0 {
		k.fail("gpu.lds_banks", "%d, want a power of two", g.LDSBanks)
	}
	if n := g.PartitionSIMDs; (n > 0) != (g.PartitionLanes > 0) {
		k.fail("gpu.partition_simds", "%d, and gpu.partition_lanes is %d: want both, or 0 twice", n, g.PartitionLanes)
	} else if n > 0 && g.SIMDsPerCU%n != 0 {
		k.fail("gpu.partition_simds", "%d, want a divisor of gpu.simds_per_cu: %d", n, g.SIMDsPerCU)
	}
	// Kernels have work-groups of up to 256 lanes (texel.maxGroup), or of those of a partition.
	group := max(256, g.PartitionLanes)
	if g.MaxWorkgroup < group {
		k.fail("gpu.max_workgroup", "%d, want %d or more: a work-group of a kernel", g.MaxWorkgroup, group)
	}
	if n := 32 * g.WavesPerSIMD * g.SIMDsPerCU; n < group {
		k.fail("gpu.waves_per_simd", "%d: a compute unit holds %d lanes, want %d or more: a work-group of a kernel", g.WavesPerSIMD, n, group)
	}
	const kernelRegisters = 128 // of a lane of the largest work-groups
	if n, want := g.VGPRRows*g.SIMDsPerCU, group/32*kernelRegisters; n < want {
		k.fail("gpu.vgpr_rows", "%d: a compute unit has %d rows, want %d or more: a work-group of a kernel", g.VGPRRows, n, want)
	}
	if g.BroadcastLanes < g.AddressLanes {
		k.fail("gpu.broadcast_lanes", "%d, want gpu.address_lanes or more: %d", g.BroadcastLanes, g.AddressLanes)
	}
	for _, class := range []struct {
		key   string
		issue int
	}{{"simple", g.VALU.Simple[1]}, {"int", g.VALU.Int[1]}, {"dot", g.VALU.Dot[1]}, {"int_mul", g.VALU.IntMul[1]}, {"int64", g.VALU.Int64[1]}, {"special", g.VALU.Special[1]}, {"f64", g.VALU.F64[1]}} {
		if class.issue < 1 {
			k.fail("gpu.valu."+class.key+"[1]", "%d, want 1 or more", class.issue)
		}
	}
	k.cache("gpu.l0", &g.L0)
	k.cache("gpu.scalar", &g.Scalar)
	k.cache("gpu.icache", &g.ICache)
	if g.GL1 != nil {
		k.cache("gpu.gl1", g.GL1)
	}
	k.cache("gpu.l2", &g.L2)
}

// vectorBytes is an HVX vector.
const vectorBytes = 128

func (k *checker) dsp(c *Config) {
	d := c.DSP
	k.clock("dsp.clock", &d.Clock, c.DRAM.Clock)
	k.path("dsp.path", &d.Path)
	k.energy("dsp.energy", d.Energy.PJ, dspEvents)
	k.cache("dsp.l1i", &d.L1I)
	k.cache("dsp.l1d", &d.L1D)
	k.cache("dsp.l2", &d.L2)
	if d.L2.LineBytes < vectorBytes {
		k.fail("dsp.l2.line_bytes", "%d, want %d or more: a vector", d.L2.LineBytes, vectorBytes)
	}
	if d.Contexts > d.Threads {
		k.fail("dsp.contexts", "%d vector contexts for %d threads", d.Contexts, d.Threads)
	}
	if n := d.BTBEntries; n&(n-1) != 0 {
		k.fail("dsp.btb_entries", "%d is not a power of two", n)
	}
	if d.DMA != nil && d.DMA.BurstBytes&(d.DMA.BurstBytes-1) != 0 {
		k.fail("dsp.dma.burst_bytes", "%d is not a power of two", d.DMA.BurstBytes)
	}
}

func (k *checker) npu(c *Config) {
	n := c.NPU
	k.clock("npu.clock", &n.Clock, c.DRAM.Clock)
	k.path("npu.path", &n.Path)
	k.energy("npu.energy", n.Energy.PJ, npuEvents)
	if n.Product != "ethos-u55" && n.Product != "ethos-u65" {
		k.fail("npu.product", "%q, want ethos-u55 or ethos-u65", n.Product)
	}
	if n.UblockStream != 4 && n.UblockStream != 8 {
		k.fail("npu.ublock_stream", "%d, want 4 or 8", n.UblockStream)
	}
	elements := 1
	for i, most := range [...]int{32, 64, 128} {
		if elements *= n.Ublock[i]; n.Ublock[i] > most {
			k.fail(fmt.Sprintf("npu.ublock[%d]", i), "%d, at most %d: the registers of blocks hold no more", n.Ublock[i], most)
		}
	}
	if sums := 2 * elements * 4; sums > n.ShramKiB<<10 {
		k.fail("npu.ublock", "%d elements, whose sums in two buffers are %d KiB, the SHRAM is %d", elements, sums>>10, n.ShramKiB)
	}
	for i := range 2 {
		if u := n.Ublock[i]; u&(u-1) != 0 {
			k.fail(fmt.Sprintf("npu.ublock[%d]", i), "%d, want a power of two: blocks are cut into halves", u)
		}
	}
	if s := n.UblockStream; s > 0 && n.Ublock[2]%s != 0 {
		k.fail("npu.ublock[2]", "%d, want a multiple of ublock_stream (%d), the unit of the weight stream", n.Ublock[2], s)
	}
	if !n.PackTaps && n.IFMDepth%8 != 0 {
		k.fail("npu.ifm_depth", "%d, want a multiple of 8, the input channels of a group of weights", n.IFMDepth)
	}
	if n.ShramBankKiB > 0 && (n.ShramKiB%n.ShramBankKiB != 0 || n.ShramKiB/n.ShramBankKiB > 64) {
		k.fail("npu.shram_bank_kib", "%d KiB in banks of %d, want up to 64 whole banks: registers of 6 bits name them", n.ShramKiB, n.ShramBankKiB)
	}
	k.blocks(n)
	if n.Cores == 2 && n.Product == "ethos-u55" {
		k.fail("npu.cores", "2, an ethos-u55 has 1")
	}
	k.only("npu.depthwise_taps", !n.PackTaps, "pack_taps = false")
	k.only("npu.pipeline_delay", !n.PackTaps, "pack_taps = false")
	k.only("npu.pipeline_delay_40", !n.PackTaps, "pack_taps = false")
	for i, r := range n.Regions {
		if n.Memory(r) == nil {
			k.fail(fmt.Sprintf("npu.regions[%d]", i), "no memory named %q", r)
		}
	}
	dram := false
	for i := range n.Memories {
		m := &n.Memories[i]
		k.memory(fmt.Sprintf("npu.memory[%d]", i), m, n.Regions)
		dram = dram || m.IsDRAM()
	}
	k.only("npu.memory_ns", dram, "an off-chip memory named \"dram\"")
}

// blocks refuses a SHRAM that does not hold a micro-block of each kind of kernel: with windows still unknown, of the
// largest that registers can hold. Buffers are laid out as by cost.ChooseBlock of the NPU driver (D-1670).
func (k *checker) blocks(n *NPU) {
	if n.ShramBankKiB <= 0 || k.err() != nil {
		return
	}
	const taps, stride = 8, 3 // of a block's window; more taps are processed in parts
	bank, banks := n.ShramBankKiB<<10, n.ShramKiB/n.ShramBankKiB
	input, sums := 2, 2 // units of buffers in banks; others of the machines that Vela knows
	if u, ok := map[int][2]int{16: {2, 4}, 24: {4, 8}, 48: {8, 16}}[banks]; ok {
		input, sums = u[0], u[1]
	}
	up := func(x, unit int) int { return (x + unit - 1) / unit * unit }
	buffers := func(bytes, unit int) int { return up((2*bytes+bank-1)/bank, unit) }
	h, w, d := n.Ublock[0], n.Ublock[1], n.Ublock[2]
	window := up((h-1)*stride+taps, h) * up((w-1)*stride+taps, w)
	adder := buffers(h*w*up(d, 8)*4, sums)
	fixed := 2 + max(1, 2048/bank) // results and lookup tables
	for _, x := range []struct {
		kernel string
		banks  int
	}{
		{"a convolution of 16 bits", buffers(window*max(32, n.IFMDepth)*2, input) + adder},
		{"a depthwise convolution of 16 bits", buffers(window*up(d*2, 8), input) + adder},
		{"an operation of two tensors of 32 bits", 2 * buffers(h*w*up(d*4, 8), input)},
	} {
		if have := min(banks, 63); fixed+x.banks > have {
			k.fail("npu.shram_kib", "%d: %d banks of %d KiB, a block of %s needs %d", n.ShramKiB, have, n.ShramBankKiB, x.kernel, fixed+x.banks)
			return
		}
	}
}

// walk checks required keys and ranges by the tags of the structs.
func (k *checker) walk(path string, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("toml")
		if name == "" || name == "-" {
			continue
		}
		p := join(path, name)
		fv := v.Field(i)
		if _, ok := k.pos[p]; !ok && !k.implied(p) {
			if f.Tag.Get("soc") != "optional" {
				k.fail(p, "missing")
			}
			continue
		}
		k.value(p, fv, f.Tag)
	}
}

// implied reports whether a key below p is written (a table without a header of
// its own).
func (k *checker) implied(p string) bool {
	for q := range k.pos {
		if len(q) > len(p) && q[:len(p)] == p && (q[len(p)] == '.' || q[len(p)] == '[') {
			return true
		}
	}
	return false
}

func (k *checker) value(p string, v reflect.Value, tag reflect.StructTag) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			k.value(p, v.Elem(), tag)
		}
	case reflect.Struct:
		k.walk(p, v)
	case reflect.Slice, reflect.Array:
		if r := tag.Get("len"); r != "" {
			if lo, hi := bounds(r); float64(v.Len()) < lo || float64(v.Len()) > hi {
				k.fail(p, "%d entries, want %s", v.Len(), r)
				return
			}
		}
		if _, more := k.pos[fmt.Sprintf("%s[%d]", p, v.Len())]; more && v.Kind() == reflect.Array {
			k.fail(p, "more than %d entries", v.Len())
			return
		}
		for i := range v.Len() {
			if q := fmt.Sprintf("%s[%d]", p, i); v.Kind() == reflect.Array && k.pos[q] == (position{}) {
				k.fail(p, "%d entries, want %d", i, v.Len())
				return
			}
			k.value(fmt.Sprintf("%s[%d]", p, i), v.Index(i), tag)
		}
	case reflect.Int:
		k.inRange(p, float64(v.Int()), tag.Get("range"))
	case reflect.Float64:
		k.inRange(p, v.Float(), tag.Get("range"))
	}
}

func (k *checker) inRange(p string, x float64, r string) {
	if lo, hi := bounds(r); !(x >= lo && x <= hi) {
		k.fail(p, "%s, want %s", strconv.FormatFloat(x, 'g', -1, 64), r)
	}
}

// bounds parses a range tag; a bad one is a programmer's error.
func bounds(r string) (lo, hi float64) {
	a, b, ok := strings.Cut(r, "..")
	lo, err1 := strconv.ParseFloat(a, 64)
	hi, err2 := strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil {
		panic(fmt.Sprintf("soc: bad range tag %q", r))
	}
	return lo, hi
}

func (k *checker) clock(p string, c *Clock, d *DRAMClock) {
	if c.Governor != nil {
		k.governor(p+".governor", c.Governor, governorSchedutil, governorAdrenoTZ)
	}
	for i := range c.OPPs {
		k.vote(fmt.Sprintf("%s.opps[%d].ddr_mhz", p, i), c.OPPs[i].DDRMHz, d)
	}
	for i := 1; i < len(c.OPPs); i++ {
		if c.OPPs[i].MHz <= c.OPPs[i-1].MHz {
			k.fail(fmt.Sprintf("%s.opps[%d]", p, i), "%v MHz is not above the point before", c.OPPs[i].MHz)
		}
	}
	for _, g := range []struct {
		key string
		mhz float64
	}{{"low_power_mhz", c.LowPowerMHz}, {"sustained_mhz", c.SustainedMHz}, {"fast_mhz", c.FastMHz}} {
		found := false
		for _, o := range c.OPPs {
			found = found || o.MHz == g.mhz
		}
		if !found {
			k.fail(p+"."+g.key, "%v MHz is not one of the operating points", g.mhz)
		}
	}
}

func (k *checker) cache(p string, c *Cache) {
	b := c.Bytes()
	line := c.LineBytes
	if line&(line-1) != 0 {
		k.fail(p+".line_bytes", "%d is not a power of two", line)
		return
	}
	if b%(line*c.Ways) != 0 {
		k.fail(p+".kib", "%d bytes are not a multiple of %d ways of %d-byte lines", b, c.Ways, line)
		return
	}
	if sets := b / (line * c.Ways); sets == 0 || sets&(sets-1) != 0 {
		k.fail(p+".kib", "%d sets, want a power of two", sets)
	}
}

func (k *checker) energy(p string, pj map[string]float64, names []string) {
	if _, err := power.Parse(names, pj); err != nil {
		k.fail(p+".pj", "%s", strings.TrimPrefix(err.Error(), "power: "))
	}
	for _, n := range names {
		if v := pj[n]; v > maxEvent {
			k.fail(p+".pj."+n, "%v pJ, want at most 1e9", v)
		}
	}
}

// only requires a key where it takes effect and refuses it elsewhere.
func (k *checker) only(path string, here bool, where string) {
	switch _, written := k.pos[path]; {
	case written && !here && (k.changes == "" || k.set[path]): // one that another change makes useless stays
		k.fail(path, "takes no effect: it needs %s", where)
	case !written && here:
		k.fail(path, "missing: %s needs it", where)
	}
}

// memory checks that a memory of the NPU has the keys that take effect there.
func (k *checker) memory(p string, m *Memory, regions [8]string) {
	used, written := false, false
	for i, r := range regions {
		used = used || r == m.Name
		written = written || r == m.Name && i > 0
	}
	if !used {
		k.fail(p+".name", "no region is in %q", m.Name)
	}
	const own = "a memory that is not the [dram] of the SoC"
	k.only(p+".kib", !m.OffChip, "a memory on chip")
	k.only(p+".bytes_per_cycle", !m.IsDRAM(), own)
	k.only(p+".read_pj", !m.IsDRAM(), own)
	k.only(p+".write_cycles", !m.IsDRAM() && written, own+" behind one of regions[1] to regions[7]")
	k.only(p+".write_pj", !m.IsDRAM() && written, own+" behind one of regions[1] to regions[7]")
}
