package soc_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestKeys: every number in a preset is found under its key, and setting it to itself changes nothing; set to another
// value, only that key changes.
func TestKeys(t *testing.T) {
	for _, name := range soc.Names() {
		want := require.V(soc.Load(name))(t)
		keys := require.V(soc.Keys(name))(t)
		if len(keys) < 100 {
			t.Errorf("%s: only %d keys", name, len(keys))
		}
		assumed := 0
		seen := map[string]bool{}
		var same []soc.Change
		for _, k := range keys {
			if seen[k.Path] {
				t.Errorf("%s: %s is listed twice", name, k.Path)
			}
			seen[k.Path] = true
			if k.Assumed() {
				assumed++
			}
			if k.Comment == "" {
				t.Errorf("%s: %s has no source", name, k.Path)
			}
			if k.Value < k.Lo || k.Value > k.Hi {
				t.Errorf("%s: %s = %v outside of %v to %v", name, k.Path, k.Value, k.Lo, k.Hi)
			}
			same = append(same, soc.Change{Key: k.Path, Value: strconv.FormatFloat(k.Value, 'f', -1, 64)})
		}
		got, err := soc.LoadChanged(name, same...)
		require.Report(t, err, name)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changes (-loaded +changed):\n%s", name, diff)
		}
		t.Logf("%s: %d keys, %d assumed", name, len(keys), assumed)
	}
}

// TestAssumedByField: a list's comment says of which fields it assumes something.
func TestAssumedByField(t *testing.T) {
	for name, want := range map[string]map[string]bool{
		"pixel4": {
			"gpu.clock.opps[0].mhz": false, "gpu.clock.opps[0].ddr_mhz": false, "gpu.clock.opps[0].v": true, "gpu.clock.opps[4].v": true,
			"dsp.clock.opps[0].mhz": true, "dsp.clock.opps[0].v": true, "dsp.clock.opps[0].ddr_mhz": true, "cpu.cluster[0].clock.opps[0].v": false,
		},
		"xclipse920": {"gpu.clock.opps[0].mhz": true, "gpu.clock.opps[0].v": true},
	} {
		for _, k := range require.V(soc.Keys(name))(t) {
			if assumed, ok := want[k.Path]; ok {
				require.Check(t, k.Assumed() == assumed, "%s: %s: assumed %v by %q", name, k.Path, k.Assumed(), k.Comment)
				delete(want, k.Path)
			}
		}
		require.Check(t, len(want) == 0, "%s has no keys %v", name, want)
	}
}

func TestLoadChanged(t *testing.T) {
	for _, c := range []struct {
		changes string
		is      func(c *soc.Config) bool
	}{
		// Lower clocks of the memory stay; who votes for a higher one has the highest.
		{"dram.mt_per_s=3733", func(c *soc.Config) bool {
			return c.DRAM.MTPerS == 3733 && slices.Equal(c.DRAM.Clock.MHz[9:], []float64{1804, 1866.5}) &&
				c.CPU.Clusters[0].Clock.OPPs[len(c.CPU.Clusters[0].Clock.OPPs)-1].DDRMHz == 1866.5
		}},
		{"dram.mt_per_s=6400", func(c *soc.Config) bool { return slices.Equal(c.DRAM.Clock.MHz[10:], []float64{2092, 3200}) }},
		// Clocks that are changed themselves do not follow.
		{"dram.mt_per_s=3733 dram.clock.mhz[10]=1850 dram.clock.mhz[11]=1866.5", func(c *soc.Config) bool {
			return slices.Equal(c.DRAM.Clock.MHz[9:], []float64{1804, 1850, 1866.5})
		}},
		{"dram.clock.mhz[10]=2100", func(c *soc.Config) bool { return c.GPU.Clock.OPPs[len(c.GPU.Clock.OPPs)-1].DDRMHz == 2100 }},
		{"host.clean_us[0][1]=7", func(c *soc.Config) bool { return c.Host.Clean[0][1] == 7 }},
		{"npu.ublock=4x4x32", func(c *soc.Config) bool { return c.NPU.Ublock == [3]int{4, 4, 32} }},
		{"npu.ublock=[4,4,32]", func(c *soc.Config) bool { return c.NPU.Ublock == [3]int{4, 4, 32} }},
		{"npu.shram_kib=256", func(c *soc.Config) bool { return c.NPU.ShramKiB == 256 }},
		{"npu.ublock[2]=32", func(c *soc.Config) bool { return c.NPU.Ublock == [3]int{4, 4, 32} }},
		{"npu.memory[0].kib=4096 dsp.threads=2 dsp.contexts=1", func(c *soc.Config) bool {
			return c.NPU.Memories[0].KiB == 4096 && c.DSP.Threads == 2 && c.DSP.Contexts == 1
		}},
		{"dram.xor_banks=false", func(c *soc.Config) bool { return !c.DRAM.XORBanks }},
		{"soc.name=other", func(c *soc.Config) bool { return c.SoC.Name == "other" }},
		// The point of the preferences, with them.
		{"npu.clock.opps[1].mhz=400", func(c *soc.Config) bool {
			return c.NPU.Clock.FastMHz == 400 && c.NPU.Clock.SustainedMHz == 400 && c.NPU.Clock.LowPowerMHz == 316
		}},
		{"npu.clock.sustained_mhz=316 npu.clock.opps[1].mhz=400", func(c *soc.Config) bool {
			return c.NPU.Clock.FastMHz == 400 && c.NPU.Clock.SustainedMHz == 316
		}},
		// A key that the file leaves out.
		{"npu.clock.opps[1].ddr_mhz=2133", func(c *soc.Config) bool { return c.NPU.Clock.OPPs[1].DDRMHz == 2133 }},
	} {
		var list []soc.Change
		for _, s := range strings.Fields(c.changes) {
			x := require.V(soc.ParseChange(s))(t)
			list = append(list, x)
		}
		got, err := soc.LoadChanged("pixel4", list...)
		if err != nil {
			t.Errorf("%s: %v", c.changes, err)
		} else if !c.is(got) {
			t.Errorf("%s has not changed it", c.changes)
		}
	}
}

func TestLoadChangedRefuses(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.toml")
	require.NoError(t, os.WriteFile(broken, []byte("[soc]\nname = 3\n"), 0o644))
	for _, c := range []struct{ soc, changes, want string }{
		{"pixel4", "dram.mt_per_s=1e9", "soc: pixel4.toml with dram.mt_per_s=1e9: dram.mt_per_s: 1e+09, want"},
		{"pixel4", "dram.mt_per_s=fast", `dram.mt_per_s: "fast", want a number`},
		{"pixel4", "dram.mt_per_s=NaN", `dram.mt_per_s: "NaN", want a number`},
		{"pixel4", "dram.mt_per_s=-Inf", `dram.mt_per_s: "-Inf", want a number`},
		{"pixel4", "npu.cores=1.5", `npu.cores: "1.5", want a whole number`},
		{"pixel4", "npu.pack_taps=yes", `npu.pack_taps: "yes", want true or false`},
		{"pixel4", "npu.ublock=32x32", `npu.ublock: "32x32" has 2 elements, want 3`},
		{"pixel4", "npu.ublock=[32,32]", `npu.ublock: "[32,32]" has 2 elements, want 3`},
		{"pixel4", "npu.ublock=[]", `npu.ublock: "[]" has 1 elements, want 3`},
		{"pixel4", "gpu.vgpr_rows=255", "gpu.vgpr_rows: 255, want 256..4096"}, // fewer than an instruction can name
		{"pixel4", "gpu.max_workgroup=64", "gpu.max_workgroup: 64, want 256 or more"},
		{"pixel4", "gpu.vgpr_rows=256 gpu.simds_per_cu=2", "gpu.vgpr_rows: 256: a compute unit has 512 rows, want 1024 or more"},
		{"xclipse920", "gpu.waves_per_simd=1 gpu.simds_per_cu=1", "gpu.waves_per_simd: 1: a compute unit holds 32 lanes, want 256 or more"},
		{"pixel4", "npu.shram_kib=16", "npu.shram_kib: 16: 2 banks of 8 KiB, a block of a convolution of 16 bits needs 13"},
		{"pixel4", "npu.shram_kib=48", "npu.shram_kib: 48: 6 banks of 8 KiB, a block of a convolution of 16 bits needs 13"},
		// Twice 96 pixels of 32 inputs, twice 16 sums in four banks, results in two and tables in two: windows of 8x8 taps 3 apart.
		{"ethos-u55-128", "npu.shram_kib=16", "npu.shram_kib: 16: 16 banks of 1 KiB, a block of a convolution of 16 bits needs 20"},
		{"ethos-u55-128", "npu.ublock=2x2x8", "npu.shram_kib: 24: 24 banks of 1 KiB, a block of a convolution of 16 bits needs 32"}, // inputs by 4 banks, sums by 8
		{"ethos-u55-256", "npu.ublock=2x4x8", "npu.shram_kib: 48: 48 banks of 1 KiB, a block of a convolution of 16 bits needs 52"}, // by 8 and by 16
		{"pixel4", "npu.shram_kib=128", "npu.shram_kib: 128: 16 banks of 8 KiB, a block of a depthwise convolution of 16 bits needs 21"},
		{"pixel4", "npu.shram_kib=160 npu.ublock=8x8x64", "npu.shram_kib: 160: 20 banks of 8 KiB, a block of a convolution of 16 bits needs 23"},
		{"pixel4", "npu.ublok=1", "unknown key npu.ublok: in npu there are name, product, clock"},
		{"pixel4", "nnpu.x=1", "unknown key nnpu: there are soc, dram"},
		{"pixel4", "npu=1", "npu is a table: name one of its keys, name, product, clock"},
		{"pixel4", "npu.memory=1", "npu.memory is a list of 2 tables: name a key of one, such as npu.memory[0].name"},
		{"pixel4", "npu.memory[2].kib=1", "unknown key npu.memory[2]: it has 2 elements, [0] to [1]"},
		{"pixel4", "npu.memory[-1].kib=1", "unknown key npu.memory[-1]"},
		{"pixel4", "npu.memory[0.kib=1", "lacks its ]"},
		{"pixel4", "npu.cores[0]=1", "npu.cores is no list"},
		{"pixel4", "npu.cores.x=1", "npu.cores is no table"},
		{"pixel4", "npu.energy.pj.magic=1", "unknown key npu.energy.pj.magic: in npu.energy.pj there are"},
		{"pixel4", "npu.pipeline_delay=4", "npu.pipeline_delay: takes no effect"},
		{"pixel4", "cpu.threads=1 cpu.threads=2", "cpu.threads is changed twice"},
		{"pixel4", "cpu.threads=60", "60 threads on 4 cores"},
		{"pixel4", "npu.clock.fast_mhz=400", "400 MHz is not one of the operating points"},
		{"ethos-u55-32", "gpu.lanes=64", "gpu is not in this SoC"},
		{"pixel4", "gpu.lanes=48", "gpu.lanes: 48, want 32 or 64"},
		{"pixel4", "npu.product=ethos-u75", `npu.product: "ethos-u75", want ethos-u55 or ethos-u65`},
		{"pixel4", "npu.ublock_stream=6", "npu.ublock_stream: 6, want 4 or 8"},
		{"ethos-u55-128", "npu.cores=2", "npu.cores: 2, an ethos-u55 has 1"},
		{"sd888", "dsp.dma.burst_bytes=96", "dsp.dma.burst_bytes: 96 is not a power of two"},
		{"pixel4", "gpu.path.transport=mail", `gpu.path.transport: "mail", want binder or direct`},
		{"pixel4", "dram.scheduler=fcfs", `dram.row_hit_cap: takes no effect: it needs scheduler = "fr-fcfs"`},
		{"pixel4", "dram.scheduler=best", `dram.scheduler: "best", want fr-fcfs or fcfs`},
		{"pixel4", "cpu.library=mnn", `cpu.library: "mnn", want tflite or onnxruntime`},
		{"pixel4", "dram.row_policy=shut", `dram.row_policy: "shut", want open, closed or timeout`},
		{"pixel4", "dram.energy.pj.dram_refresh=2e9", "2e+09 pJ, want at most 1e9"},
		{"pixel4", "dram.clock.governor.kind=turbo", `dram.clock.governor.kind: "turbo", want`},
		{"pixel4", "host.cluster=tin", `host.cluster: no cluster named "tin" in [cpu]`},
		{"nowhere", "cpu.threads=1", `no SoC named "nowhere"`},
		{broken, "cpu.threads=1", "broken.toml:2:8"},
	} {
		var list []soc.Change
		for _, s := range strings.Fields(c.changes) {
			x := require.V(soc.ParseChange(s))(t)
			list = append(list, x)
		}
		if _, err := soc.LoadChanged(c.soc, list...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v, want %q", c.changes, c.soc, err, c.want)
		}
	}
	for _, s := range []string{"", "x", "=1", "x=", strings.Repeat("x", 2000) + "=1"} {
		if _, err := soc.ParseChange(s); err == nil {
			t.Errorf("%.20q is a change", s)
		}
	}
}
