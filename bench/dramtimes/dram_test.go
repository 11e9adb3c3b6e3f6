package dramtimes_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/dramtimes"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
)

func table(t testing.TB, path string) []dramtimes.Row {
	t.Helper()
	text := require.File(t, path)
	rows, _ := require.V2(dramtimes.Table(path, string(text)))(t)
	return rows
}

func run(t testing.TB, r *dramtimes.Row) dramtimes.Result {
	t.Helper()
	c := require.V(dramtimes.GoldenConfig())(t)
	d := require.V(r.Pattern.Controller(c))(t)
	return dramtimes.Run(d, r.Pattern, r.Window)
}

// TestGolden: at least nine rows of ten are in the bands of clock-by-clock simulators.
func TestGolden(t *testing.T) {
	rows := table(t, "testdata/golden.tsv")
	in, p95 := 0, 0
	for i := range rows {
		r := &rows[i]
		got := run(t, r)
		v := dramtimes.Compare(&got, r.Golden)
		if v.InBand() {
			in++
		} else {
			t.Logf("%s %s W=%d: %.3f GB/s, mean %.2f ns; golden %+v", r.Name, r.Params, r.Window, got.GBps, got.LatMeanNs, *r.Golden)
		}
		if v.LatP95 {
			p95++
		}
	}
	doctable.Check(t, "../../docs/Memory.md", fmt.Sprintf("| %d golden rows | in order of arrival, before | now |", len(rows)), []string{
		fmt.Sprintf("| bandwidth within 10 %% of its band and mean latency within 15 %% | 31 | %d |", in),
		fmt.Sprintf("| 95th percentile of the latency within 15 %% | - | %d |", p95),
	})
	require.Check(t, float64(in) >= dramtimes.InBandShare*float64(len(rows)) && len(rows) != 0, "%d of %d rows in band", in, len(rows))
}

// TestClosedForm: rows whose values follow from the timing, to the last digit
// written.
func TestClosedForm(t *testing.T) {
	rows := table(t, "testdata/rows.tsv")
	for i := range rows {
		r := &rows[i]
		got := run(t, r)
		if r.Golden == nil {
			continue
		}
		for _, c := range []struct {
			name string
			got  float64
			want dramtimes.Band
		}{{"GB/s", got.GBps, r.Golden.GBps}, {"mean", got.LatMeanNs, r.Golden.LatMeanNs}, {"p95", got.LatP95Ns, r.Golden.LatP95Ns}, {"row hits", got.RowHit, r.Golden.RowHit}} {
			require.Check(t, c.want.Contains(c.got, 1e-4), "%s: %s %.4f, want %.4f", r.Name, c.name, c.got, c.want.Lo)
		}
	}
	require.Check(t, len(rows) == 4 && rows[3].Golden == nil, "%d rows", len(rows))
}

// TestRowHits: rows that refreshes close before they are used are no fewer hits: 32 bytes of
// each row hit none, two bursts of each one in two. Addresses wrap around after 4 GiB.
func TestRowHits(t *testing.T) {
	for params, want := range map[string]float64{
		"size=32 stride=128K n=8000":     0,
		"size=64 stride=128K n=8000":     0.5,
		"size=128 stride=4294967232 n=2": 0.75, // the second is the last 64 bytes and the first
	} {
		p := require.V(dramtimes.ParsePattern(params))(t)
		got := run(t, &dramtimes.Row{Pattern: p, Window: 1})
		require.Same(t, want, got.RowHit, params, "row hits")
	}
}

// TestCompare: a value outside is outside, and so is one that is no number.
func TestCompare(t *testing.T) {
	g := dramtimes.Golden{GBps: dramtimes.Band{Lo: 10, Hi: 12}, LatMeanNs: dramtimes.Band{Lo: 100, Hi: 100}, LatP95Ns: dramtimes.Band{Lo: math.NaN(), Hi: math.NaN()}}
	for _, c := range []struct {
		gbps, mean float64
		in         bool
	}{
		{11, 100, true}, {9.01, 114.9, true}, {13.19, 85.1, true}, {8.9, 100, false}, {13.3, 100, false},
		{11, 116, false}, {11, 84, false}, {math.NaN(), 100, false}, {11, math.NaN(), false}, {math.Inf(1), 100, false},
	} {
		if v := dramtimes.Compare(&dramtimes.Result{GBps: c.gbps, LatMeanNs: c.mean}, &g); v.InBand() != c.in || !v.LatP95 {
			t.Errorf("%v GB/s, %v ns: %+v", c.gbps, c.mean, v)
		}
	}
}

// TestDeterministic: the same row has the same result, on a new controller and on a used one.
func TestDeterministic(t *testing.T) {
	p := require.V(dramtimes.ParsePattern("gen=rand mix=3/10 seed=3 n=3000"))(t)
	c := require.V(dramtimes.GoldenConfig())(t)
	d := require.V(p.Controller(c))(t)
	first := fmt.Sprint(dramtimes.Run(d, p, 16))
	if again := fmt.Sprint(dramtimes.Run(d, p, 16)); again != first {
		t.Errorf("%s, then %s", first, again)
	}
}

// TestPolicies: each policy acts as its name states, on patterns that show it.
func TestPolicies(t *testing.T) {
	result := func(params string, window int, change func(*dram.Config)) dramtimes.Result {
		p := require.V(dramtimes.ParsePattern(params))(t)
		c := require.V(dramtimes.GoldenConfig())(t)
		cfg := c.Config()
		change(&cfg)
		d := require.V(dram.New(cfg))(t)
		return dramtimes.Run(d, p, window)
	}
	same := func(*dram.Config) {}
	const bank, random = "S=4 gap=16M n=4000", "gen=rand n=4000"
	base := result(bank, 32, same)
	if r := result(bank, 32, func(c *dram.Config) { c.Scheduler = dram.FCFS{} }); r.GBps > 0.6*base.GBps || r.RowHit > base.RowHit {
		t.Errorf("first come: %.2f GB/s and %.2f hits, with row hits first %.2f and %.2f", r.GBps, r.RowHit, base.GBps, base.RowHit)
	}
	if r := result(bank, 32, func(c *dram.Config) { c.Scheduler = dram.FRFCFS{RowHitCap: 1} }); r.RowHit >= base.RowHit {
		t.Errorf("a cap of one hit leaves %.3f hits, want fewer than %.3f", r.RowHit, base.RowHit)
	}
	if r := result(bank, 32, func(c *dram.Config) { c.Scheduler = dram.FRFCFS{AgeLimit: 4} }); r.RowHit >= base.RowHit {
		t.Errorf("an age limit of 4 clocks leaves %.3f hits, want fewer than %.3f", r.RowHit, base.RowHit)
	}
	base = result(random, 1, same)
	if r := result(random, 1, func(c *dram.Config) { c.RowPolicy = dram.ClosedRows{} }); r.LatP50Ns >= base.LatP50Ns {
		t.Errorf("closed rows: median %.1f ns, open %.1f", r.LatP50Ns, base.LatP50Ns)
	}
	if r := result("n=4000", 1, func(c *dram.Config) { c.RowPolicy = dram.TimeoutRows{Clocks: 10} }); r.RowHit > 0.6 {
		t.Errorf("rows closed after 10 clocks: %.2f hits", r.RowHit)
	}
	base = result(random, 32, same)
	if r := result(random, 32, func(c *dram.Config) { c.QueueDepth = 4 }); r.GBps > 0.8*base.GBps {
		t.Errorf("a queue of 4: %.2f GB/s, of 32 %.2f", r.GBps, base.GBps)
	}
	allBanks := result("n=20000", 32, same)
	perBank := result("n=20000", 32, func(c *dram.Config) { c.Refresh, c.TRFCpb = dram.RefreshPerBank, 140*sim.Nanosecond })
	none := result("n=20000", 32, func(c *dram.Config) { c.Refresh = dram.RefreshNone })
	if !(allBanks.GBps < perBank.GBps && perBank.GBps < none.GBps) {
		t.Errorf("a stream with all-bank, per-bank and no refresh: %.2f, %.2f, %.2f GB/s", allBanks.GBps, perBank.GBps, none.GBps)
	}
}

// TestBadTables: errors name file and line.
func TestBadTables(t *testing.T) {
	const head = "pattern\tparams\tW\n"
	for text, want := range map[string]string{
		"":                                             "x.tsv:1: no line of column names",
		head:                                           "x.tsv:1: no rows",
		"pattern\tW\n":                                 `x.tsv:1: no column "params"`,
		"pattern\tparams\tW\tW\n":                      `x.tsv:1: column "W" twice`,
		head + "a\tn=1\n":                              "x.tsv:2: 2 columns, want the 3",
		head + "\na\tn=1\t0\n":                         `x.tsv:3: column W = "0", want 1..65536`,
		head + "a\tn=1\t-\n":                           `x.tsv:2: column W = "-"`,
		head + "a\tn=1 T=4\t3\n":                       "x.tsv:2: column W = \"3\": a pattern with T is an open loop",
		head + "a\t\t1\n":                              "x.tsv:2: n is missing",
		head + "a\tn=9999999999\t1\n":                  "x.tsv:2: n = 9999999999, want 1..",
		head + "a\tn=4M size=1M\t1\n":                  "x.tsv:2: n = 4194304 requests of 1048576 bytes are more",
		head + "a\tn=1 n=2\t1\n":                       "x.tsv:2: n is given twice",
		head + "a\tn\t1\n":                             `x.tsv:2: "n", want name=value`,
		head + "a\tn=-1\t1\n":                          `x.tsv:2: n: "-1" is not a number`,
		head + "a\tn=1 foo=2\t1\n":                     `x.tsv:2: unknown parameter "foo"`,
		head + "a\tn=1 ops=RX\t1\n":                    `x.tsv:2: ops = "RX"`,
		head + "a\tn=1 gen=zipf\t1\n":                  `x.tsv:2: gen = "zipf"`,
		head + "a\tn=1 map=Z\t1\n":                     `x.tsv:2: map = "Z"`,
		head + "a\tn=1 mix=3/2\t1\n":                   `x.tsv:2: mix = "3/2"`,
		head + "a\tn=1 mix=1\t1\n":                     `x.tsv:2: mix = "1"`,
		head + "a\tn=1 seed=0\t1\n":                    `x.tsv:2: seed = "0"`,
		head + "a\tn=1 off=4\t1\n":                     "x.tsv:2: off and burst need T",
		head + "a\tn=1 block=4 gen=rand\t1\n":          "x.tsv:2: block = 4 is less than size = 64",
		head + "a\tn=1 gen=rand block=4K span=1K\t1\n": "x.tsv:2: span = 1024 is less than block",
		head + "a\tn=4M T=1M\t-\n":                     "x.tsv:2: the last request comes after clock",
		head + "\tn=1\t1\n":                            `x.tsv:2: pattern ""`,
		"pattern\tparams\tW\tgbps\na\tn=1\t1\tNaN\n":   `x.tsv:2: gbps = "NaN"`,
		"pattern\tparams\tW\tgbps_lo\na\tn=1\t1\t5\n":  "x.tsv:2: gbps_lo without gbps_hi",
		"pattern\tparams\tW\tp95_lo\tp95_hi\na\tn=1\t1\t-\t5\n":   "x.tsv:2: p95_hi without p95_lo",
		"pattern\tparams\tW\tgbps_lo\tgbps_hi\na\tn=1\t1\t5\t4\n": "x.tsv:2: gbps_lo = 5 above gbps_hi = 4",
		head + strings.Repeat("a\tn=4M size=64\t1\n", 40):         "bursts",
		head + "a\tn=1 " + strings.Repeat("x", 5000) + "\t1\n":    "x.tsv:2: longer than 4096 bytes",
	} {
		_, _, err := dramtimes.Table("x.tsv", text)
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzTable: whatever a table holds is refused or can be run: work and memory are
// bounded and every result is a number.
func FuzzTable(f *testing.F) {
	const head = "pattern\tparams\tW\n"
	f.Add(head + "a\tn=100 S=3 ops=RW gap=1K skew=3 c=2 a=3 pitch=7 stride=5 size=33\t4\n")
	f.Add(head + "a\tn=100 gen=rand mix=1/3 block=1K span=2K seed=9 T=7 off=3 burst=4 map=L\t-\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, _, err := dramtimes.Table("x.tsv", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.tsv:") {
				t.Fatalf("%v names no line", err)
			}
			return
		}
		for i := range rows[:min(len(rows), 4)] {
			p := &rows[i].Pattern
			p.N = min(p.N, 200)
			if p.Size > 1<<12 {
				continue
			}
			r := run(t, &rows[i])
			if !(r.GBps > 0) || math.IsInf(r.GBps, 0) || !(r.RowHit >= 0 && r.RowHit <= 1) || r.LatMeanNs < 0 {
				t.Fatalf("%+v: %+v", p, r)
			}
		}
	})
}

// BenchmarkController is the speed of the controller: one operation is a request of 64 bytes, two bursts passed one by
// one.
func BenchmarkController(b *testing.B) {
	for _, k := range []struct {
		name, params string
		window       int
	}{
		{"stream", "n=100000", 32}, {"random", "gen=rand n=100000", 32}, {"mixed", "gen=rand mix=3/10 n=100000", 32}, {"one bank", "S=4 gap=16M n=100000", 32},
	} {
		b.Run(k.name, func(b *testing.B) {
			p := require.V(dramtimes.ParsePattern(k.params))(b)
			p.N = int64(b.N)
			c := require.V(dramtimes.GoldenConfig())(b)
			d := require.V(p.Controller(c))(b)
			b.ReportAllocs()
			b.ResetTimer()
			dramtimes.Run(d, p, k.window)
		})
	}
}
