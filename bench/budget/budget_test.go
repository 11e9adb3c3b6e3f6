package budget

import (
	"errors"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func config(t testing.TB, name string) *soc.Config {
	t.Helper()
	c := require.V(soc.Load(name))(t)
	return c
}

// words is the initial memory of the programs.
func words(n int) []byte {
	var b []byte
	for x := uint32(12345); len(b) < 4*n; x = 5*x + 12345 {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return b
}

func word(b []byte, i int) uint32 {
	return uint32(b[4*i]) | uint32(b[4*i+1])<<8 | uint32(b[4*i+2])<<16 | uint32(b[4*i+3])<<24
}

// checksums are the exit codes of the programs that compute something, computed a second way.
func checksums() map[string][]int {
	a := words(131072)
	w := a[512*512:]
	var lanes [32]uint32
	for row := range 512 {
		for column := range 512 {
			sum := uint32(0)
			for k := range 512 {
				// Each four of the depth have 64 columns of four bytes, block after block.
				at := column/64*(128*256) + k/4*256 + column%64*4 + k%4
				sum += uint32(a[512*row+k]) * uint32(w[at])
			}
			lanes[column%32] ^= sum
		}
	}
	crc := crc32.ChecksumIEEE(words(32768))
	primes := 0
	composite := make([]bool, 1<<18)
	for i := 2; i < len(composite); i++ {
		if !composite[i] {
			primes++
			for j := 2 * i; j < len(composite); j += i {
				composite[j] = true
			}
		}
	}
	m, xor := words(2*96*96), uint32(0)
	for i := range 96 {
		for j := range 96 {
			sum := uint32(0)
			for k := range 96 {
				sum += word(m, 96*i+k) * word(m, 96*96+96*k+j)
			}
			xor ^= sum
		}
	}
	return map[string][]int{
		"u8 GEMM 512^3, program": {int((lanes[0] ^ lanes[16]) & 127)},
		"scalar programs":        {int(^crc & 127), primes & 127, int(xor & 127)},
	}
}

// TestPrograms: the programs compute the documented results, and store as many vectors.
func TestPrograms(t *testing.T) {
	b := &bench{Options: Options{SoC: config(t, "pixel4")}}
	c := require.V(b.core())(t)
	want := checksums()
	for name, list := range programs {
		for i, text := range list {
			x := require.V(assemble(text))(t, name)
			status, rep := require.V2(c.execute(x))(t, name)
			if w := want[name]; w != nil && status != w[i] {
				t.Errorf("%s %d exits with %d, want %d", name, i, status, w[i])
			}
			if want[name] != nil {
				continue
			}
			counted := int64(0)
			for _, c := range rep.Counters {
				if c.Name == "vector_store" {
					counted = c.Value
				}
			}
			require.Check(t, counted >= stores && counted <= stores+stores/8, "%s: %d vectors stored, want about %d", name, counted, stores)
		}
	}
}

// TestOraclePrograms: QEMU ends each program with the same status.
func TestOraclePrograms(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	b := &bench{Options: Options{SoC: config(t, "pixel4")}}
	defer b.close()
	for name := range programs {
		m, err := b.emulated(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d, err := m.once(); err != nil || d <= 0 {
			t.Errorf("%s: %v of user CPU, error %v", name, d, err)
		}
	}
}

// TestTable: every row names a work and yardsticks that exist, has a goal that can be missed and a source; a SoC has
// the rows of its engines.
func TestTable(t *testing.T) {
	b := &bench{Options: Options{SoC: config(t, "pixel4"), Program: "nnsoc"}, meters: map[string]*meter{}}
	defer b.close()
	rows := rowsOf(b.SoC, "")
	require.Check(t, len(rows) == len(table) && len(rows) >= 20, "%d rows of %d", len(rows), len(table))
	for i := range rows {
		r := &rows[i]
		if !(r.Goal > 0 && r.Goal < 100) || r.Source == "" || len(r.Yardstick) == 0 {
			t.Errorf("%+v", r)
		}
		for _, name := range append([]string{r.Work}, r.Yardstick...) {
			if b.meters[name] != nil {
				continue
			}
			m, err := b.prepare(name)
			var skip errSkip
			require.Check(t, err == nil || errors.As(err, &skip), "%s: %v", name, err)
			b.meters[name] = m
		}
	}
	for _, name := range []string{"dsp: nothing", "portable Go: nothing"} {
		require.Fails(t, require.Err(b.prepare(name)), "a work is called", name)
	}
	for _, r := range rowsOf(config(t, "ethos-u65-512"), "") {
		require.Check(t, !strings.Contains(r.Work, "dsp") && !strings.Contains(r.Work, "gpu"), "ethos-u65-512 has a row %q", r.Work)
	}
}

// TestMeasured: ratios are those of a round, the figure is their median; a NaN does not meet the goal.
func TestMeasured(t *testing.T) {
	work := []float64{5, 10, 9, 3, 7, 20, 8, 4, 6, 1}
	against := []float64{1, 1, 1, 1, 1, 10, 1, 1, 1, 1}
	r := Row{Goal: 5}
	r.measured(work, against)
	require.Check(t, r.Ratio == 5 && r.Low == 1 && r.High == 9 && r.MS == 6000 && r.Met, "%+v", r)
	r.Goal = 4.9
	if r.measured(work, against); r.Met {
		t.Error("5 meets 4.9")
	}
	if r.measured([]float64{math.NaN()}, []float64{1}); r.Met {
		t.Error("NaN is met")
	}
}

// TestMeter: a short work is done as often as a sample needs, and its time divided.
func TestMeter(t *testing.T) {
	calls := 0
	m := &meter{once: func() (time.Duration, error) { calls++; return time.Millisecond, nil }}
	if err := m.warm(); err != nil || m.times < 100 || m.times > 400 || len(m.samples) != 0 {
		t.Fatalf("%d times, %d samples, error %v", m.times, len(m.samples), err)
	}
	calls = 0
	if err := m.sample(); err != nil || calls != m.times || len(m.samples) != 1 || !(math.Abs(m.samples[0]-1e-3) <= 1e-12) {
		t.Errorf("%d calls, samples %v, error %v", calls, m.samples, err)
	}
	failing := &meter{once: func() (time.Duration, error) { return 0, errors.New("planted") }}
	require.Check(t, failing.warm() != nil && failing.sample() != nil, "a failing work is measured")
}

// TestCompare: a work that is a quarter slower is found although the host got twice as slow in between, one that is a
// tenth slower is not.
func TestCompare(t *testing.T) {
	var base, build []*Report
	for round, host := range []float64{1, 2, 1.5} {
		base = append(base, &Report{Rows: []Row{{Work: "a", MS: 10 * host}, {Work: "b", MS: 4 * host}, {Work: "b", MS: 99}, {Work: "gone", MS: 1}}})
		build = append(build, &Report{Rows: []Row{{Work: "a", MS: 12.5 * host}, {Work: "b", MS: 4.4 * host}, {Work: "fresh", MS: 1}, {Work: "gone", Skipped: "needs X"}}})
		if round == 1 { // one round is disturbed
			build[1].Rows[1].MS *= 3
		}
	}
	got := map[string]Change{}
	for _, c := range Compare(base, build) {
		got[c.Work] = c
	}
	if len(got) != 4 || !got["a"].Regressed || !(math.Abs(got["a"].Ratio-1.25) <= 1e-12) || got["b"].Regressed || got["gone"].Only != "base" || got["fresh"].Only != "new" {
		t.Errorf("%+v", got)
	}
	build[0].Rows[0].MS, build[2].Rows[0].MS = math.NaN(), math.NaN()
	require.Check(t, Compare(base, build)[0].Regressed, "NaN is no regression")
}
