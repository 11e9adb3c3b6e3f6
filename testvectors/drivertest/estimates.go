package drivertest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// Accuracy is how the estimates of parts of programs compare with their simulated cycles, by families.
type Accuracy map[string]*accuracy

type accuracy struct {
	estimated, simulated int64
	ratios               []float64
}

// Add adds a part of a family.
func (a Accuracy) Add(family string, estimated, simulated int64) {
	f := a[family]
	if f == nil {
		f = &accuracy{}
		a[family] = f
	}
	f.estimated, f.simulated = f.estimated+estimated, f.simulated+simulated
	f.ratios = append(f.ratios, float64(estimated)/float64(simulated))
}

// Check prints a row for each family. The median of its ratios may be off by a factor of median, that of their sum by all;
// by more where bounds says so.
func (a Accuracy) Check(t *testing.T, median, all float64, bounds map[string]float64) {
	t.Helper()
	off := func(ratio, most float64) bool { return !(ratio < most && ratio > 1/most) }
	for _, name := range slices.Sorted(maps.Keys(a)) {
		f := a[name]
		slices.Sort(f.ratios)
		sum, mid := float64(f.estimated)/float64(f.simulated), f.ratios[len(f.ratios)/2]
		t.Logf("%-22s %4d: estimated / simulated cycles %.2f to %.2f, median %.2f, all %.2f", name, len(f.ratios), f.ratios[0], f.ratios[len(f.ratios)-1], mid, sum)
		if off(sum, max(bounds[name], all)) || off(mid, max(bounds[name], median)) {
			t.Errorf("%s: estimated / simulated cycles: median %.2f, all %.2f", name, mid, sum)
		}
	}
}

// EachShape calls f with two models of the corpus for each list of operations.
func EachShape(f func(*nn.Model)) {
	seen := map[string]int{}
	for file := range testvectors.Corpus() {
		for _, c := range file.Cases {
			if c.Model == nil || c.ExpectFailure {
				continue
			}
			var types strings.Builder
			for i := range c.Model.Main.Operations {
				fmt.Fprintln(&types, c.Model.Main.Operations[i].Type)
			}
			if seen[types.String()]++; seen[types.String()] <= 2 {
				f(c.Model)
			}
		}
	}
}
