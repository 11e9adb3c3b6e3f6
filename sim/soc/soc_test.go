package soc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func TestPresets(t *testing.T) {
	names := soc.Names()
	if strings.Join(names, " ") != "ethos-u55-128 ethos-u55-256 ethos-u55-32 ethos-u55-64 ethos-u65-256 ethos-u65-512 pixel4 sd888 xclipse920" {
		t.Errorf("presets %v", names)
	}
	for _, n := range names {
		c, err := soc.Load(n)
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		data := require.V(soc.Text(n))(t)
		checked, err := soc.Parse(n, data)
		require.Report(t, err, n, "does not pass the checks")
		require.Equal(t, c, checked, n, "-loaded +parsed")
		if c.SoC.Name != n {
			t.Errorf("%s is named %q", n, c.SoC.Name)
		}
		if _, _, err := c.NewFabric(); err != nil {
			t.Errorf("%s: %v", n, err)
		}
		for _, clk := range clocks(c) {
			require.Report(t, require.Err(sim.NewDomain(clk.Domain(n))), n)
			if got, want := clk.At(sim.FastSingleAnswer).Hz, int64(clk.FastMHz*1e6+.5); got != want {
				t.Errorf("%s: fast is %d Hz, want %d", n, got, want)
			}
			if got, want := clk.At(sim.LowPower).Hz, int64(clk.LowPowerMHz*1e6+.5); got != want {
				t.Errorf("%s: low power is %d Hz, want %d", n, got, want)
			}
		}
	}
}

func clocks(c *soc.Config) []*soc.Clock {
	var l []*soc.Clock
	if c.CPU != nil {
		for i := range c.CPU.Clusters {
			l = append(l, &c.CPU.Clusters[i].Clock)
		}
	}
	if c.GPU != nil {
		l = append(l, &c.GPU.Clock)
	}
	if c.DSP != nil {
		l = append(l, &c.DSP.Clock)
	}
	if c.NPU != nil {
		l = append(l, &c.NPU.Clock)
	}
	return l
}

// TestMACsPerCycle: the name of an Ethos-U preset ends in its multiply-accumulates per cycle.
func TestMACsPerCycle(t *testing.T) {
	for _, name := range soc.Names() {
		if core, macs, _ := strings.Cut(name, "-"); strings.HasPrefix(core, "ethos") {
			if got := require.V(soc.Load(name))(t).NPU.MACsPerCycle(); !strings.HasSuffix(macs, fmt.Sprint("-", got)) {
				t.Errorf("%s: %d", name, got)
			}
		}
	}
}

// TestWakeTime: a core leaves the deepest state that pays and whose exit is not too long; there is always the first.
func TestWakeTime(t *testing.T) {
	h := soc.Host{Idle: []soc.IdleState{{ExitUs: 2}, {ExitUs: 10, BreakEvenUs: 100}, {ExitUs: 50, BreakEvenUs: 1000}}}
	for _, c := range []struct{ slept, longest, want float64 }{
		{0, -1, 2}, {50, -1, 6}, {100, -1, 10}, {325, -1, 20}, {1000, -1, 50}, {5000, -1, 50}, // us
		{5000, 50, 50}, {5000, 49, 10}, {5000, 10, 10}, {5000, 9, 2}, {5000, 1, 2}, {5000, 0, 2},
	} {
		if got := h.WakeTime(sim.Microseconds(c.slept), sim.Microseconds(c.longest)); got != sim.Microseconds(c.want) {
			t.Errorf("%+v us: %v", c, got)
		}
	}
}

// TestPixel4 pins the public figures of the phone.
func TestPixel4(t *testing.T) {
	c := require.V(soc.Load(soc.Default))(t)
	d := c.DRAM.Config()
	if gb := d.PeakBytesPerSecond() / 1e9; gb < 34.0 || gb > 34.2 {
		t.Errorf("DRAM peak %.2f GB/s, want 34.1", gb)
	}
	if miss := (d.TRCD + d.ReadLatency + d.BurstTime()).Microseconds(); miss < 0.038 || miss > 0.040 {
		t.Errorf("row miss %v us, want 0.039", miss)
	}
	if read, write := c.DRAM.StreamPJPerByte(); read < 4*8 || read > 6*8 || write < 4*8 || write > 6*8 {
		t.Errorf("DRAM %.2f and %.2f pJ/bit, published 4-6", read/8, write/8)
	}
	// An isolated line over the fabric: row miss 39 ns, controller 30 ns, 15 ns each way, and the DSP's path add up to
	// the 250 ns of its guide.
	path, memory := require.V2(c.NewPath("dsp", c.DSP.MemoryNs))(t)
	if done, _ := path.Access(0, 0, 128, mem.Read); done < 225*sim.Nanosecond || done > 260*sim.Nanosecond {
		t.Errorf("DSP reads a line in %v us, published 0.25", done.Microseconds())
	}
	if memory.Counters()[dram.Activate].Value != 1 {
		t.Error("the path does not end at the DRAM")
	}
	g := c.GPU
	if lanes := g.Clusters * g.CUsPerCluster * g.SIMDsPerCU * g.Lanes; lanes != 768 {
		t.Errorf("%d fp32 lanes, want 768", lanes)
	}
	if gflops := float64(768*2) * float64(g.Clock.At(sim.FastSingleAnswer).Hz) / 1e9; gflops < 890 || gflops > 905 {
		t.Errorf("GPU peak %.0f GFLOPS, published 898", gflops)
	}
	if tops := float64(c.NPU.MACsPerCycle()) * 2 * float64(c.NPU.Clock.At(sim.FastSingleAnswer).Hz) / 1e12; tops < 3.8 || tops > 4.2 {
		t.Errorf("NPU peak %.2f TOPS, 4 at the 500 MHz of a Coral part", tops)
	}
	if macs := c.CPU.Peak(); macs < 80e9 || macs > 82e9 { // 8 x (2.841 + 3 x 2.419) GHz
		t.Errorf("CPU fp32 peak %.1f GMAC/s", macs/1e9)
	}
	// Power of a busy core at its highest point, freqbench: 842 and 1077 mW.
	for i, want := range []float64{1077, 842} {
		cl := &c.CPU.Clusters[i]
		o := cl.Clock.At(sim.FastSingleAnswer)
		if mw := cl.PowerUW * float64(o.Hz) / 1e6 * o.Volts * o.Volts / 1e3; mw < want*0.9 || mw > want*1.1 {
			t.Errorf("%s core: %.0f mW, measured %.0f", cl.Name, mw, want)
		}
	}
}

// TestPixel4Bandwidth: a stream from the GPU reaches the bandwidth measured on the phone, just under 30 GB/s of the
// 34.1 of the pins; refresh costs the rest.
func TestPixel4Bandwidth(t *testing.T) {
	c := require.V(soc.Load(soc.Default))(t)
	path, _ := require.V2(c.NewPath("gpu", c.GPU.MemoryNs))(t)
	const total = 8 << 20
	var last sim.Time
	for a := uint64(0); a < total; a += 256 {
		done, _ := path.Access(0, a, 256, mem.Read)
		last = max(last, done)
	}
	gb := total / (float64(last) / float64(sim.Second)) / 1e9
	if gb < 28.5 || gb > 31.5 {
		t.Errorf("%.1f GB/s, measured just under 30", gb)
	}
	t.Logf("%.1f GB/s", gb)
}

// TestEveryNumberHasItsSource: a line with a number carries a comment, or
// belongs to a list whose opening line does.
func TestEveryNumberHasItsSource(t *testing.T) {
	deviation := regexp.MustCompile(`\bD-[0-9]+\b`)
	number := regexp.MustCompile(`^\s*[a-z_0-9]+ = (\[|-?[0-9]|true|false|"all)|^\s*\{`)
	for _, n := range soc.Names() {
		data := require.V(soc.Text(n))(t)
		sources := sourceList(string(data))
		if len(sources) < 4 {
			t.Fatalf("%s.toml: sources %q", n, sources)
		}
		inList := false
		for i, line := range strings.Split(string(data), "\n") {
			_, comment, has := strings.Cut(line, "#")
			if strings.HasPrefix(strings.TrimSpace(line), "]") {
				inList = false
			}
			if number.MatchString(line) && !inList && (!has || len(strings.TrimSpace(comment)) < 3) {
				t.Errorf("%s.toml:%d: no source: %s", n, i+1, line)
			}
			if strings.Contains(line, "= [ ") || strings.HasSuffix(strings.TrimSpace(strings.SplitN(line, "#", 2)[0]), "[") {
				inList = true
			}
			if has && !strings.HasPrefix(line, "#") && !deviation.MatchString(comment) && !names(comment, sources) {
				t.Errorf("%s.toml:%d: names neither a source of the file's list nor a deviation: %s", n, i+1, line)
			}
			if strings.Contains(line, "assumed") && !regexp.MustCompile(`D-[0-9]+|D-nn`).MatchString(line) {
				t.Errorf("%s.toml:%d: assumed without an entry of DEVIATIONS: %s", n, i+1, line)
			}
		}
	}
}

// sourceList reads the names of the sources from the head of a preset: up to two
// spaces, or the first 12 characters.
func sourceList(data string) []string {
	var list []string
	for _, line := range strings.Split(data[:strings.Index(data, "[soc]")], "\n") {
		row, ok := strings.CutPrefix(line, "#   ")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(row, "  ")
		if len(name) > 20 {
			name = row[:12]
		}
		list = append(list, strings.TrimSpace(name))
	}
	return list
}

// names reports whether a comment names a source as a word.
func names(comment string, sources []string) bool {
	return slices.ContainsFunc(sources, func(s string) bool {
		return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(s) + `($|\W)`).MatchString(comment)
	})
}

// TestErrors: each mistake names file, line and column of its key.
func TestErrors(t *testing.T) {
	data := require.V(os.ReadFile("pixel4.toml"))(t)
	good := string(data)
	for _, k := range []struct {
		name, from, to string
		at             string // the text whose position the error must name
		want           []string
	}{
		{"unknown key", "channels = 4", "chanels = 4", "chanels = 4", []string{"unknown key dram.chanels"}},
		{"unknown section", "[interconnect]", "[interconect]", "", []string{"unknown key interconect"}},
		{"missing key", "tras_ns = 42.0", "#", "[dram]", []string{"dram.tras_ns: missing"}},
		{"missing table", "[gpu.scalar]", "[gpu.l1]", "", []string{"unknown key gpu.l1"}},
		{"zero clock", "{ mhz = 257, v", "{ mhz = 0, v", "mhz = 0, v", []string{"gpu.clock.opps[0].mhz: 0, want 10..6000"}},
		{"no points", "opps = [                   # assumed D-49", "opps = []\nx = [", "", nil},
		{"governor", "fast_mhz = 585", "fast_mhz = 586", "fast_mhz = 586", []string{"gpu.clock.fast_mhz: 586 MHz is not one of the operating points"}},
		{"falling points", "{ mhz = 345", "{ mhz = 200", "", []string{"gpu.clock.opps[1]: 200 MHz is not above"}},
		{"huge cache", "kib = 2048", "kib = 1e9", "kib = 1e9", []string{"cpu.l3.kib: 1e+09, want 0.25..65536"}},
		{"odd cache", "kib = 2048", "kib = 2000", "kib = 2000", []string{"cpu.l3.kib: 2000 sets, want a power of two"}},
		{"odd channels", "channels = 4", "channels = 3", "", []string{"Channels = 3, want a power of two"}},
		{"refresh", `refresh = "all_banks"`, `refresh = "never"`, `refresh = "never"`, []string{`"never", want all_banks`}},
		{"wrong type", "channels = 4", `channels = "four"`, `"four"`, []string{"channels"}},
		{"not a number", "request_ns = 20.0", "request_ns = nan", "request_ns = nan", []string{"dram.request_ns: NaN"}},
		{"syntax", "channels = 4", "channels = = 4", "= 4", nil},
		{"energy missing", "dram_refresh = 12000", "#", "[dram.energy.pj]", []string{"no energy for dram_refresh"}},
		{"energy unknown", "dram_refresh = 12000", "dram_refresh = 12000\ndram_magic = 1", "", []string{"unknown event dram_magic"}},
		{"array too short", "ublock = [4, 4, 64]", "ublock = [4, 64]", "", []string{"npu.ublock"}},
		{"array too long", "ublock = [4, 4, 64]", "ublock = [1, 4, 4, 64]", "", []string{"npu.ublock"}},
		{"region", `regions = ["dram", "sram"`, `regions = ["rom", "sram"`, `"rom"`, []string{`no memory named "rom"`}},
		{"second cluster", "cores = 3  ", "cores = 0  ", "cores = 0  ", []string{"cpu.cluster[1].cores: 0, want 1..64"}},
		{"too many threads", "threads = 4                # EffNet", "threads = 9                # EffNet", "threads = 9", []string{"9 threads on 4 cores"}},
		{"affinity", "threads = 4 ", "affinity = [\"gold\", \"silver\"]\nthreads = 3 ", "\"silver\"", []string{`cpu.affinity[1]: "silver", want the name of a cluster, once`}},
		{"affinity twice", "threads = 4 ", "affinity = [\"gold\", \"gold\"]\nthreads = 3 ", "", []string{`cpu.affinity[1]: "gold", want the name of a cluster, once`}},
		{"threads beyond the affinity", "threads = 4 ", "affinity = [\"gold\"]\nthreads = 4 ", "threads = 4", []string{"4 threads on 3 cores"}},
		{"heat without a name", "[[thermal.node]]\nname = \"dsp\"", "[[thermal.node]]\nname = \"\"", "", []string{`thermal.node[2].name: "", want a distinct name`}},
		{"heat of the air", "[[thermal.node]]\nname = \"dsp\"", "[[thermal.node]]\nname = \"ambient\"", "", []string{`thermal.node[2].name: "ambient", want a distinct name`}},
		{"heat with another's name", "[[thermal.node]]\nname = \"dsp\"", "[[thermal.node]]\nname = \"cpu\"", "", []string{`thermal.node[2].name: "cpu", want a distinct name`}},
		{"heat to itself", `to = "skin"`, `to = "soc"`, "", []string{`thermal.node[4].to: "soc", want a later node or ambient`}},
		{"heat of no rail", `heated_by = ["rest"]`, `heated_by = ["rest", "modem"]`, "", []string{`this SoC has no power of "modem"`}},
		{"heat that goes nowhere", `heated_by = ["rest"]`, `heated_by = []`, "", []string{"0 nodes are heated by rest, want one"}},
		{"heat in two places", `heated_by = ["rest"]`, `heated_by = ["rest", "npu"]`, "", []string{"2 nodes are heated by npu, want one"}},
		{"rule of no clock", `clock = "prime"`, `clock = "dram"`, `clock = "dram"`, []string{`thermal.rule[0].clock: no clock named "dram"`}},
		{"rule of no sensor", "sensor = \"skin\"\nsample_ms = 2000", "sensor = \"ambient\"\nsample_ms = 2000", "", []string{`thermal.rule[0].sensor: no node named "ambient"`}},
		{"rule that clears above its step", "[42, 41, 1804]", "[42, 43, 1804]", "", []string{"thermal.rule[0].steps[1]: [42 43 1804], want"}},
		{"rule of steps as hot", "[42, 41, 1804]", "[40, 39, 1804]", "", []string{"thermal.rule[0].steps[1]: [40 39 1804], want"}},
		{"rule that clears below the step before", "[42, 41, 1804]", "[42, 38, 1804]", "", []string{"thermal.rule[0].steps[1]: [42 38 1804], want"}},
		{"rule of steps as fast", "[42, 41, 1804]", "[42, 41, 2131]", "", []string{"thermal.rule[0].steps[1]: [42 41 2131], want"}},
		{"rule below 10 MHz", "[44, 43, 1401]", "[44, 43, 9]", "", []string{"thermal.rule[0].steps[2]: [44 43 9], want"}},
		{"fraction for a count", "channels = 4", "channels = 4.5", "4.5", nil},
	} {
		if !strings.Contains(good, k.from) {
			// Alignment of the file may differ; only the words count.
			re := regexp.MustCompile(strings.Join(strings.Fields(regexp.QuoteMeta(k.from)), " +"))
			m := re.FindString(good)
			if m == "" {
				t.Fatalf("%s: %q is not in the preset", k.name, k.from)
			}
			k.from = m
		}
		text := strings.Replace(good, k.from, k.to, 1)
		_, err := soc.Parse("my.toml", []byte(text))
		if err == nil {
			t.Errorf("%s: accepted", k.name)
			continue
		}
		if !regexp.MustCompile(`^soc: my\.toml:[0-9]+:[0-9]+: `).MatchString(err.Error()) {
			t.Errorf("%s: no position: %v", k.name, err)
		}
		for _, w := range k.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q is not in: %v", k.name, w, err)
			}
		}
		if k.at != "" {
			line, col := position(text, k.at)
			if want := "my.toml:" + line + ":" + col + ":"; !strings.Contains(err.Error(), want) {
				t.Errorf("%s: want position %s in: %v", k.name, want, err)
			}
		}
	}
}

func position(text, what string) (line, col string) {
	i := strings.Index(text, what)
	before := text[:i]
	n := strings.Count(before, "\n") + 1
	c := i - strings.LastIndex(before, "\n")
	if strings.HasPrefix(what, "[") { // a header's position is that of its last key
		inner := strings.Trim(what, "[]")
		c += 1 + strings.LastIndex(inner, ".") + 1
	}
	return itoa(n), itoa(c)
}

func itoa(n int) string {
	var b []byte
	for ; n > 0; n /= 10 {
		b = append([]byte{byte('0' + n%10)}, b...)
	}
	return string(b)
}

// TestAffinity: the clusters that threads run on are first, in the order of the key.
func TestAffinity(t *testing.T) {
	data := require.File(t, "pixel4.toml")
	at := regexp.MustCompile(`(?m)^threads = 4 .*$`).FindIndex(data) // of [cpu]
	text := string(data[:at[0]]) + "affinity = [\"gold\"]\nthreads = 2" + string(data[at[1]:])
	c := require.V(soc.Parse("my.toml", []byte(text)))(t)
	all := require.V(soc.Load("pixel4"))(t)
	if l := c.CPU.Clusters; len(l) != 2 || l[0].Name != "gold" || l[1].Name != "prime" || c.CPU.Peak() != 2*8*2419e6 {
		t.Errorf("clusters %s and %s, peak %g", l[0].Name, l[1].Name, c.CPU.Peak())
	}
	if l := all.CPU.Clusters; l[0].Name != "prime" || all.CPU.Peak() != 8*(2841e6+3*2419e6) {
		t.Errorf("cluster %s, peak %g", l[0].Name, all.CPU.Peak())
	}
}

func TestLoadNames(t *testing.T) {
	_, err := soc.Load("pixel5")
	if err == nil || !strings.Contains(err.Error(), `"pixel5"`) || !strings.Contains(err.Error(), "ethos-u55-128, ethos-u55-256, ethos-u55-32, ethos-u55-64, ethos-u65-256, ethos-u65-512, pixel3, pixel4, rb3gen2, rb5, sd888, xclipse920") {
		t.Errorf("error %v", err)
	}
	for _, n := range []string{"", ".", "..", "../soc/pixel4"} {
		require.Fails(t, require.Err(soc.Load(n)), n, "accepted")
	}
	data := require.File(t, "pixel4.toml")
	file := filepath.Join(t.TempDir(), "mine.toml")
	text := strings.Replace(string(data), `name = "pixel4"`, `name = "mine"`, 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := soc.Load(file)
	if err != nil || c.SoC.Name != "mine" {
		t.Errorf("%v, %v", c, err)
	}
	require.ErrorContains(t, require.Err(soc.Load(filepath.Join(t.TempDir(), "absent.toml"))), "absent.toml")
	big := filepath.Join(t.TempDir(), "big.toml")
	require.NoError(t, os.WriteFile(big, make([]byte, 2<<20), 0o600))
	require.ErrorContains(t, require.Err(soc.Load(big)), "larger than")
}

// TestOptionalDevices: a SoC without a device's section does not offer it; one
// without any device is an error.
func TestOptionalDevices(t *testing.T) {
	data := require.File(t, "pixel4.toml")
	text := string(data)
	cut := func(from, to string) {
		i := strings.Index(text, "\n"+from+"\n")
		j := len(text)
		if to != "" {
			j = strings.Index(text, "\n"+to+"\n")
		}
		text = text[:i] + text[j:]
	}
	cut("[npu]", "")
	cut("[gpu]", "[dsp]")
	binder := text
	text = strings.ReplaceAll(text, `transport = "binder"`, `transport = "direct"`)
	require.ErrorContains(t, require.Err(soc.Parse("x.toml", []byte(text))), "host.binder_us: takes no effect")
	text = binder
	c := require.V(soc.Parse("x.toml", []byte(text)))(t)
	if c.NPU != nil || c.GPU != nil || c.DSP == nil || c.CPU == nil {
		t.Errorf("devices %v %v %v %v", c.CPU, c.GPU, c.DSP, c.NPU)
	}
	cut("[dsp]", "")
	cut("[host.burst]", "")
	text = regexp.MustCompile(`\nbinder_us = .*|(?s)\nclean_us = .*?\n\]|\ninvalidate_us = .*?\n\]`).ReplaceAllString(text, "")
	require.ErrorContains(t, require.Err(soc.Parse("x.toml", []byte(text))), "no device section")
}

// FuzzParse: any input results in a configuration that builds, or an error with the file's name; never a panic.
func FuzzParse(f *testing.F) {
	for _, n := range soc.Names() {
		data := require.V(soc.Text(n))(f)
		f.Add(data)
	}
	f.Add([]byte("[soc]\nname = 1\n"))
	f.Add([]byte("dram = [{}, [1]]\n[[cpu.cluster]]\n[cpu.cluster.clock]\nopps = [{mhz=1}, 2]\n"))
	f.Add([]byte("[cpu]\ncluster = 3\n\"a.b\" = 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := soc.Parse("fuzz.toml", data)
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.toml") {
				t.Errorf("error without file: %v", err)
			}
			return
		}
		if _, _, err := c.NewFabric(); err != nil {
			t.Errorf("accepted but does not build: %v", err)
		}
		for _, clk := range clocks(c) {
			require.Report(t, require.Err(sim.NewDomain(clk.Domain("x"))), "accepted but does not build")
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for range b.N {
		require.V(soc.Load(soc.Default))(b)
	}
}

// TestAssumptionsAreListed: every assumption that a preset names is a row of
// the list of deviations.
func TestAssumptionsAreListed(t *testing.T) {
	rows, err := os.ReadFile("../../docs/DEVIATIONS.md")
	if err != nil {
		t.Skip("skipped: needs docs/DEVIATIONS.md")
	}
	for _, n := range soc.Names() {
		data := require.V(soc.Text(n))(t)
		missing := map[string]bool{}
		for _, id := range regexp.MustCompile(`\bD-[0-9]+\b`).FindAllString(string(data), -1) {
			if !missing[id] && !regexp.MustCompile(`\b`+id+`\b`).Match(rows) {
				missing[id] = true
				t.Errorf("%s.toml: %s is not in docs/DEVIATIONS.md", n, id)
			}
		}
	}
}

// TestByteOrderMark: an editor may put one before a description.
func TestByteOrderMark(t *testing.T) {
	data := require.File(t, "pixel4.toml")
	path := filepath.Join(t.TempDir(), "bom.toml")
	require.NoError(t, os.WriteFile(path, append([]byte("\ufeff"), data...), 0o666))
	got := require.V(soc.Load(path))(t)
	want := require.V(soc.Load("pixel4"))(t)
	require.Equal(t, want, got, "with a byte-order mark (-without +with)")
}

// TestEditedFiles: a preset that is edited in one place is read, or refused at that line by the
// name of its key.
func TestEditedFiles(t *testing.T) {
	text := require.V(soc.Text("pixel4"))(t)
	for _, c := range []struct{ old, new, want string }{
		{"\nthreads = 4 ", "\nthreads = 1 ", ""},
		{"\nthreads = 4 ", "\nthreads = \"x\" ", ": cpu.threads: a string, want a whole number"},
		{"\nthreads = 4 ", "\nthreads = 4.5 ", ": cpu.threads: a float, want a whole number"},
		{"\nmt_per_s = 4266", "\nmt_per_s = \"a\"", ": dram.mt_per_s: a string, want a number"},
		{"\nlds_banks = ", "\nlds_banks = 3 #", ": gpu.lds_banks: 3, want a power of two"},
		{"\nbroadcast_lanes = 7", "\nbroadcast_lanes = 3", ": gpu.broadcast_lanes: 3, want gpu.address_lanes or more: 4"},
		{"\npartition_simds = 2", "\npartition_simds = 0", ": gpu.partition_simds: 0, and gpu.partition_lanes is 128: want both, or 0 twice"},
		{"\npartition_simds = 2", "\npartition_simds = 3", ": gpu.partition_simds: 3, want a divisor of gpu.simds_per_cu: 4"},
		{"\nsimple = [4, 1]", "\nsimple = [4, 0]", ": gpu.valu.simple[1]: 0, want 1 or more"},
		{"\nublock = [4,", "\nublock = [256,", ": npu.ublock[0]: 256, at most 32"},
		{"\nublock = [4, 4, 64]", "\nublock = [1, 1, 63]", ": npu.ublock[2]: 63, want a multiple of ublock_stream (8)"},
		{"\nublock = [4, 4, 64]", "\nublock = [3, 1, 64]", ": npu.ublock[0]: 3, want a power of two"},
		{"\nublock = [4, 4, 64]", "\nublock = [1, 64, 136]", ": npu.ublock[2]: 136, at most 128"},
		{"\nublock = [4, 4, 64]", "\nublock = [32, 64, 64]", ": npu.ublock: 131072 elements, whose sums in two buffers are 1024 KiB, the SHRAM is 512"},
		{"\nublock = [4, 4, 64]", "\nublock = [1, 2, 64]", ""},
		{"\nname = \"pixel4\"", "\nname = 4", ": soc.name: a"},
	} {
		i := strings.Index(string(text), c.old)
		if i < 0 {
			t.Errorf("the preset has no %q", c.old)
			continue
		}
		_, err := soc.Parse("x.toml", []byte(strings.Replace(string(text), c.old, c.new, 1)))
		at := fmt.Sprintf("soc: x.toml:%d:", 2+strings.Count(string(text[:i]), "\n"))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), at) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %s ...%s", c.new, err, at, c.want)
		}
	}
	require.Fails(t, require.Err(soc.Text("./pixel4.toml")), "a file is a preset")
}
