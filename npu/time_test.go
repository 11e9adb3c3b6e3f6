package npu

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
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
			t.Logf("%-30s %-14s %9d cycles, Vela %9.0f, ratio %.2f, %v", net, machine, rep.Cycles, want, float64(rep.Cycles)/want, rep.Stalls)
		}
	}
}
