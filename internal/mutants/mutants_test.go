package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// apply is the file with the fault.
func (f *Fault) apply(src string) string { return src[:f.from] + f.with + src[f.to:] }

// TestFaults: every kind of fault is there, and none in texts.
func TestFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	src := "package a\n\nvar table = []int{1 << 2}\n\n" +
		"func f(a, b int) int {\n\tif !(a < b) && b != 3 {\n\t\ta++\n\t}\n\tx := [4]int{}\n\tcheck(a, b)\n\tfail(\"%d\", 1+1)\n\tx[0] += -a\n\treturn min(a, b)\n}\n\n" +
		"func (a T) String() string { return \"1\" + \"2\" }\n"
	require.NoError(t, os.WriteFile(file, []byte(src), 0o644))
	list := require.V(faults(file))(t)
	var got []string
	for i := range list {
		got = append(got, list[i].Function+": "+list[i].New)
		require.Check(t, list[i].apply(src) != src, "%s changes nothing", list[i].Key())
	}
	want := []string{
		"table: var table = []int{1 >> 2}", "table: var table = []int{2 << 2}", "table: var table = []int{1 << 3}",
		"f: if !(a < b) || b != 3 {", "f: if (a < b) && b != 3 {", "f: if !(a <= b) && b != 3 {", "f: if !(a < b) && b == 3 {", "f: if !(a < b) && b != 4 {",
		"f: a--", "f: check(b, a)", "f: x[0] -= -a", "f: x[1] += -a", "f: x[0] += a", "f: return max(a, b)",
	}
	require.Check(t, slices.Equal(got, want), "faults:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// TestSample: the same seed selects the same faults, of every area; another seed others.
func TestSample(t *testing.T) {
	t.Chdir("../..")
	keys := func(seed uint64) []string {
		s := require.V(sample(areas, seed, ""))(t)
		var out []string
		for _, list := range s {
			require.Check(t, len(list) >= 300, "%d faults of %s", len(list), areas[len(out)].name)
			out = append(out, list[0].Key())
		}
		return out
	}
	one, again, two := keys(1), keys(1), keys(2)
	require.Check(t, slices.Equal(one, again) && !slices.Equal(one, two), "seed 1: %q and %q, seed 2: %q", one, again, two)
	if _, err := sample(areas, 1, "no such file"); err != errNone {
		t.Errorf("no place: %v", err)
	}
	require.ErrorContains(t, require.Err(areasNamed([]string{"gpu", "cpu"})), `"cpu"`, "unknown area")
}

// TestTry plants faults that a test finds, that no test reaches, the same when it is listed, into a table, and one
// that does not compile. Of its tests one is left out, since it computes without end; one that only waits stays.
func TestTry(t *testing.T) {
	t.Chdir("testdata/module")
	list := require.V(faults("a.go"))(t)
	for i := range list {
		list[i].Area, list[i].Package = "all", "."
	}
	unused := "a.go Unused: return a + b => return a - b"
	want := map[string]Outcome{
		"a.go Sum: return a + b => return a - b": Found,
		unused:                                   Known,
		"a.go Text: return Join(n, s) => return Join(s, n)":                                                        "", // not tried
		"a.go steps: var steps = []int{2, 30} => var steps = []int{3, 30}":                                         Found,
		"a.go steps: var steps = []int{2, 30} => var steps = []int{2, 31}":                                         Survived,
		"a.go twice: var twice = func(n int) int { return n * 2 } => var twice = func(n int) int { return n + 2 }": Found,
		"a.go Join: out += s => out -= s":                                                                          "",
	}
	all := []area{{name: "all", in: []string{"./..."}}}
	cache := require.V(exec.Command("go", "env", "GOCACHE").Output())(t)
	results, leftOut, err := try(t.Context(), all, [][]Fault{list}, len(list), 1, &options{longest: 400 * time.Millisecond, cache: strings.TrimSpace(string(cache)), reasons: map[string]string{unused: "why"}})
	require.NoError(t, err)
	require.Check(t, len(leftOut) == 1 && leftOut[0].Test == "TestComputes" && leftOut[0].Package == ".", "left out: %+v", leftOut)
	got := map[string]Outcome{}
	for i := range results {
		got[results[i].Key()] = results[i].Outcome
	}
	for key, o := range want {
		require.Same(t, o, got[key], key)
	}
}

// TestReport: listed survivors count neither for nor against the tests.
func TestReport(t *testing.T) {
	of := func(area string, o Outcome) Result { return Result{Fault: Fault{Area: area, File: "f.go"}, Outcome: o} }
	r := summarize(areas[:2], []Result{of("gpu", Found), of("gpu", Found), of("gpu", Found), of("gpu", Survived), of("npu", Found), of("npu", Known)},
		[]LeftOut{{Package: "gpu", Test: "TestLong", Why: "takes more than 1s of user CPU", Seconds: 2}})
	require.Check(t, r.Share() == 0.8 && r.Areas[0].Share() == 0.75 && r.Areas[1].Share() == 1 && (Count{}).Share() == 1, "%+v", r)
	var out strings.Builder
	if err := r.write(&out, false); err != nil || !slices.Contains(rows(out.String()), "all 6 4 1 1 0 80.0 %") ||
		!slices.Contains(rows(out.String()), "left out: gpu TestLong takes more than 1s of user CPU") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// rows are the lines of a table with single spaces.
func rows(s string) (out []string) {
	for line := range strings.Lines(s) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

// TestSurvivorsList: the list is read whole, every line has a reason, and the faults it names are still in the code.
func TestSurvivorsList(t *testing.T) {
	reasons := require.V(readSurvivors("survivors.txt"))(t)
	t.Chdir("../..")
	known := map[string]map[string]bool{}
	for key := range reasons {
		file, _, _ := strings.Cut(key, " ")
		if known[file] == nil {
			list, err := faults(file)
			if err != nil {
				t.Errorf("%s: %v", key, err)
				continue
			}
			known[file] = map[string]bool{}
			for i := range list {
				known[file][list[i].Key()] = true
			}
		}
		require.Check(t, known[file][key], "no such fault: %s", key)
	}
	bad := filepath.Join(t.TempDir(), "s.txt")
	require.NoError(t, os.WriteFile(bad, []byte("a.go f: a => b\n"), 0o644))
	require.ErrorContains(t, require.Err(readSurvivors(bad)), "s.txt:1: a survivor without a reason", "no reason")
}
