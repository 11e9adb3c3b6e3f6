package mlts

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// TestWriteCSV: a result file by hand, from the layout that the page generator reads.
func TestWriteCSV(t *testing.T) {
	even := newLatency([]spell{{0.004, 3}})
	spread := newLatency([]spell{{0.001, 1}, {0.032, 1}, {0.0165, 2}}) // steps of 1 ms
	none := strings.Repeat(",0.0", 31)
	results := []*Result{
		{Model: "asr", Backend: BackendCPU, Inference: even, TestSetSize: 16, Values: []Value{{"max_phone_error_rate", 6}}, ValidationErrors: []string{"Phone error rate, too\nhigh"}},
		{Model: "asr", Backend: BackendNNAPI, Skipped: "no"},
		{Model: "asr", Backend: BackendGPU, Inference: spread, MaxSingleError: 1e-5, TestSetSize: 16,
			Compilation: &Compilation{WithoutCache: even, FromCache: even, CacheBytes: 1234}},
		{Model: "tts", Backend: BackendCPU, Failed: "no baseline"},
		{Model: "tts", Backend: BackendNNAPI, Inference: even},
	}
	var out strings.Builder
	require.NoError(t, WriteCSV(&out, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "a,b", results))
	lines := strings.Split(out.String(), "\n")
	require.Check(t, strings.HasPrefix(lines[1], "#testInfo,backendType,"), "the second line is %q", lines[1])
	lines[1] = "#"
	histogram := "4,0.066,0.001,0.001,32,1.0" + strings.Repeat(",0.0", 14) + ",2.0" + strings.Repeat(",0.0", 15) + ",1.0"
	want := []string{
		"20260102_030405,a b",
		"#",
		"asr,TFLite_CPU,3,0.012,0.004,0.0,32,3.0" + none + ",0.0,16,1,1,max_phone_error_rate,6.0,Phone error rate  too high,false,false,false,0",
		"asr,TFLite_GPU," + histogram + ",1.0E-5,16,0,0,true,3,0.012,0.004,0.0,32,3.0" + none + ",false,true,3,0.012,0.004,0.0,32,3.0" + none + ",1234",
		"",
	}
	require.Equal(t, want, lines)
}

// TestJavaFloat: numbers as Float.toString of Java writes them.
func TestJavaFloat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2.5: "-2.5", 100: "100.0", 0.001: "0.001", 0.0009: "9.0E-4", 1e7: "1.0E7", 9999999: "9999999.0",
		1.0 / 3: "0.33333334", 1.5e-10: "1.5E-10", -123456789: "-1.2345679E8",
	} {
		require.Same(t, want, javaFloat(v), v)
	}
	if javaFloat(math.NaN()) != "NaN" || javaFloat(math.Inf(1)) != "Infinity" || javaFloat(math.Inf(-1)) != "-Infinity" {
		t.Error("NaN and infinities")
	}
}

func TestLatency(t *testing.T) {
	l := newLatency([]spell{{1, 1}, {2, 2}, {3, 1}})
	require.Check(t, l.Iterations == 4 && l.TotalSec == 8 && l.MeanSec == 2 && math.Abs(l.StdSec-math.Sqrt(0.5)) <= 1e-12, "%+v", l)
	sum := 0.0
	for _, n := range l.Counts {
		sum += n
	}
	require.Check(t, sum == 4 && l.Counts[0] == 1 && l.Counts[Buckets-1] == 1, "histogram %v", l.Counts)
}

// TestLoop: a loop lasts its span, not counting the warm-up, and one that repeats has the result that it would have
// without being cut short.
func TestLoop(t *testing.T) {
	span := Span{WarmUp: 20 * sim.Millisecond, Run: 100 * sim.Millisecond}
	turn := func(times ...sim.Time) (func() (sim.Time, error), *int) {
		n := new(int)
		return func() (sim.Time, error) {
			*n++
			return times[min(*n, len(times))-1] * sim.Millisecond, nil
		}, n
	}
	next, calls := turn(20, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
	l, early, err := span.repeat(1, next)
	if err != nil || early || l.Iterations != 10 || !(math.Abs(l.TotalSec-0.115) <= 1e-12) || *calls != 11 {
		t.Errorf("%+v, ended early %v, %d calls, %v; want the ten times after the warm-up", l, early, *calls, err)
	}
	next, calls = turn(1)
	l, early, err = Span{WarmUp: 20 * sim.Millisecond, Run: sim.Second, Steady: 200 * sim.Millisecond}.repeat(1, next)
	if err != nil || !early || l.Iterations != 1000 || !(math.Abs(l.TotalSec-1) <= 1e-9) || *calls != 20+4+200 {
		t.Errorf("%+v, ended early %v, %d calls, %v; want 1000 times 1 ms, of which those of a period and 200 ms are called", l, early, *calls, err)
	}
	n := 0
	alternate := func() (sim.Time, error) { n++; return sim.Time(1+n%2) * sim.Millisecond, nil }
	l, early, err = Span{Run: sim.Second}.repeat(2, alternate)
	if err != nil || !early || l.Iterations != 667 || l.Counts[0]+l.Counts[Buckets-1] != 667 || !(math.Abs(l.Counts[0]-l.Counts[Buckets-1]) <= 1) {
		t.Errorf("%+v, ended early %v, %v; want half of 667 turns of each kind", l, early, err)
	}
	if l, _, err = (Span{Run: sim.Second, Iterations: 5}).repeat(2, alternate); err != nil || l.Iterations != 5 {
		t.Errorf("%+v, %v; want 5 iterations", l, err)
	}
	if _, _, err = span.repeat(1, func() (sim.Time, error) { return 0, nil }); err == nil {
		t.Error("a loop that takes no time was taken")
	}
	next, _ = turn(10)
	l, early, err = (Span{Run: sim.Second, Iterations: 51}).repeat(1, next)
	require.Check(t, err == nil && early && l.Iterations == 51, "%+v, ended early %v, %v; want 51 iterations, which is no multiple of a period", l, early, err)
	n = 0
	l, early, err = (Span{Run: sim.Second, Iterations: 200}).repeat(1, func() (sim.Time, error) { // every sixth differs, which no period of four has
		n++
		return sim.Millisecond * sim.Time(1+max(0, n%6-4)), nil
	})
	require.Check(t, err == nil && !early && n == 200, "%+v after %d calls, ended early %v, %v; equal times count while they follow each other", l, n, early, err)
}

// TestLoopEnergy: the energy of a loop is the mean of the last iteration of each input.
func TestLoopEnergy(t *testing.T) {
	b := Benchmark{Span: Span{Run: sim.Second, Iterations: 7}}
	n := 0.0
	turn := func(pj float64) func() (iteration, error) {
		return func() (iteration, error) { n++; return iteration{sim.Millisecond, pj + n*1e6}, nil }
	}
	_, uj, _, err := b.loop([]func() (iteration, error){turn(0), turn(10e6)})
	require.Check(t, err == nil && math.Abs(uj-(7+16)/2.) <= 1e-9, "%v uJ, %v", uj, err)
}
