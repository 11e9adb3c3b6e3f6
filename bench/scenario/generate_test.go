package scenario

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestGenerate: numbers make scenarios that differ, that repeat and that survive being written.
func TestGenerate(t *testing.T) {
	seen := map[string]bool{}
	for i := range 200 {
		s := require.V(Generate(7, i))(t)
		text := require.V(s.TOML())(t)
		require.Check(t, !seen[string(text)] && len(s.Networks) >= 2 && len(s.Networks) <= 4, "number %d: %s", i, text)
		seen[string(text)] = true
		if d := cmp.Diff(s, require.V(Parse("s.toml", text))(t)); d != "" {
			t.Fatalf("number %d written and read: %s", i, d)
		}
		require.Check(t, cmp.Equal(s, require.V(Generate(7, i))(t)), "number %d is another the second time", i)
	}
	require.Check(t, !cmp.Equal(require.V(Generate(8, 0))(t).Networks, require.V(Generate(7, 0))(t).Networks), "another seed, the same scenario")
}

// TestStore: results are found again, those of other shards as well; a line that was cut off is not.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	a, b := require.V(OpenStore(dir, 1, 2))(t), require.V(OpenStore(dir, 2, 2))(t)
	require.NoError(t, b.Add("second", 1, 5))
	require.NoError(t, a.Add("first", 0, "x"))
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	name := filepath.Join(dir, "scenarios-1-of-2.jsonl")
	f := require.V(os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0))(t)
	require.V(f.WriteString(`{"key": "cut`))(t)
	require.NoError(t, f.Close())
	a = require.V(OpenStore(dir, 1, 2))(t)
	require.Check(t, a.Done("first") && a.Done("second") && !a.Done("cut"), "%v", a.done)
	require.NoError(t, a.Add("third", 2, nil))
	all := require.V(a.Entries())(t)
	require.Check(t, len(all) == 3 && all[0].Key == "first" && string(all[1].Data) == "5" && all[2].Key == "third", "%+v", all)
	require.NoError(t, a.Close())
	require.NoError(t, os.WriteFile(name, []byte("nonsense\n"), 0o600))
	_, err := OpenStore(dir, 1, 2)
	require.Check(t, err != nil, "nonsense is read")
}

// TestSum has intervals that are computed by hand: 1 +- 12.706 x 1 of two samples.
func TestSum(t *testing.T) {
	mean, half := interval([]float64{0, 2})
	require.Check(t, mean == 1 && math.Abs(half-12.706) < 1e-3, "%v +- %v", mean, half)
	one := func(name string, missed int, ms float64) *Summary {
		return &Summary{Strategy: name, JobCount: 10, Missed: missed, MeanMS: ms, EnergyUJ: 1}
	}
	list := Sum([][]*Summary{{one("a", 5, 2), one("b", 0, 1)}, {one("a", 5, 4), one("b", 0, 2.1)}, {one("a", 5, 2), one("b", 0, 1.02)}})
	require.Check(t, len(list) == 2 && list[0].MissedPercent == 50 && list[1].MissedPercent == 0 && list[1].Best == 3 && !list[1].Tied, "%+v", list[1])
	require.Check(t, list[1].Ratio > 0.5 && list[1].Ratio < 0.53 && list[1].RatioHigh < 1 && list[0].Ratio == 1, "%+v", list[1])
	list = Sum([][]*Summary{{one("a", 0, 2), one("b", 0, 1)}, {one("a", 0, 2), one("b", 0, 4)}})
	require.Check(t, list[1].Tied && !list[0].Tied, "%+v", list[1])
	require.Check(t, len(Sum(nil)) == 0, "sums of nothing")
}
