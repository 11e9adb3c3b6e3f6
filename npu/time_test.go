package npu

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// velaCycles is Vela's own estimate of a network's cycles.
func velaCycles(t testing.TB, root, net, machine string) float64 {
	files, _ := filepath.Glob(filepath.Join(root, "ethosu", "networks", net, machine, "*_summary_*.csv"))
	if len(files) != 1 {
		t.Fatalf("%s/%s: %d summaries", net, machine, len(files))
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		if name == "cycles_total" {
			v, err := strconv.ParseFloat(rows[1][i], 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Fatal("no cycles_total")
	return 0
}

// checkReport checks the invariants of every report.
func checkReport(t testing.TB, r *sim.Report) {
	t.Helper()
	if r.Stalls.Total() != r.Cycles {
		t.Errorf("stalls add up to %d, cycles are %d", r.Stalls.Total(), r.Cycles)
	}
	var cycles int64
	var energy float64
	var sum sim.StallTable
	for i := range r.Regions {
		g := &r.Regions[i]
		if g.Stalls.Total() != g.Cycles {
			t.Errorf("region %d: stalls add up to %d, cycles are %d", g.ID, g.Stalls.Total(), g.Cycles)
		}
		for why, n := range g.Stalls {
			if n < 0 {
				t.Errorf("region %d: %d cycles of %s", g.ID, n, sim.Reason(why))
			}
		}
		cycles += g.Cycles
		energy += g.EnergyPJ
		sum.Add(&g.Stalls)
	}
	if cycles != r.Cycles || sum != r.Stalls {
		t.Errorf("regions add up to %d cycles %v, the run has %d %v", cycles, sum, r.Cycles, r.Stalls)
	}
	if d := energy - r.EnergyPJ; d > 1 || d < -1 {
		t.Errorf("regions add up to %v pJ, the run has %v", energy, r.EnergyPJ)
	}
}

// The event model stays near Vela's estimate, which adds up operations without
// overlap and without waits between them.
func TestOracleVelaCycles(t *testing.T) {
	root := sharedDir(t)
	for _, net := range velaNetworks {
		for _, machine := range velaMachines {
			v := loadVela(t, velaPath(root, net, machine))
			c := mustCore(t, machine)
			k, err := v.Load()
			if err != nil {
				t.Fatal(err)
			}
			rep, err := c.Run(&k.Program, k.Regions(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, rep)
			want := velaCycles(t, root, net, machine)
			ratio := float64(rep.Cycles) / want
			t.Logf("%-28s %-14s %8d cycles, Vela %8.0f, ratio %.2f", net, machine, rep.Cycles, want, ratio)
			lo, hi := 0.80, 1.20
			if !strings.Contains(machine, "u55") && (net == "mlperf_tiny_vww_int8" || net == "mobilenet_v1_0.25_128_quant") {
				// Vela charges a DRAM burst of 128 bytes for each 3-channel pixel of
				// the network's input; here a row of pixels is one run.
				lo, hi = 0.40, 0.60
			}
			if ratio < lo || ratio > hi {
				t.Errorf("%s %s: %d cycles are %.2f of Vela's %.0f, want %.2f..%.2f", net, machine, rep.Cycles, ratio, want, lo, hi)
			}
		}
	}
}

// Estimate reproduces Vela's cycles of operations, taken from its per-layer
// tables. Rows that Vela splits over depth or charges with copies have no
// counterpart; the number of rows that match is pinned.
func TestOracleVelaEstimate(t *testing.T) {
	root := sharedDir(t)
	for _, e := range []struct {
		net, machine string
		match        int
	}{
		{"mlperf_tiny_ic_resnet8_int8", "ethos-u55-256", 38},
		{"mlperf_tiny_kws_int8", "ethos-u55-128", 40},
		{"mlperf_tiny_vww_int8", "ethos-u65-512", 53},
	} {
		v := loadVela(t, velaPath(root, e.net, e.machine))
		c := mustCore(t, e.machine)
		k, err := v.Load()
		if err != nil {
			t.Fatal(err)
		}
		list, err := c.Estimate(&k.Program, k.Regions())
		if err != nil {
			t.Fatal(err)
		}
		ours := map[int64]int{}
		for _, x := range list {
			ours[x.Cycles]++
		}
		f, err := os.Open(filepath.Join(filepath.Dir(velaPath(root, e.net, e.machine)), e.net+"_per-layer.csv"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		col := slices.Index(rows[0], "NPU")
		match := 0
		for _, row := range rows[1:] {
			x, err := strconv.ParseFloat(row[col], 64)
			if err != nil {
				t.Fatal(err)
			}
			if ours[int64(x)] > 0 {
				ours[int64(x)]--
				match++
			}
		}
		if match < e.match {
			t.Errorf("%s %s: %d of %d rows match, want at least %d", e.net, e.machine, match, len(rows)-1, e.match)
		}
		t.Logf("%s %s: %d of %d rows", e.net, e.machine, match, len(rows)-1)
	}
}
