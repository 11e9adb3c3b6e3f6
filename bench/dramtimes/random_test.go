package dramtimes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestClockModel: the clock-by-clock model has DRAMsim3's cycles of the golden rows, to the clock. With -short those of
// few clocks.
func TestClockModel(t *testing.T) {
	text := string(require.File(t, "testdata/golden.tsv"))
	rows, _ := require.V2(Table("golden.tsv", text))(t)
	lines := strings.Split(text, "\n")
	cycles := slices.Index(strings.Split(lines[0], "\t"), "cycles")
	most := int64(math.MaxInt64)
	if testing.Short() {
		most = 92_000
	}
	n := 0
	for i := range rows {
		r := &rows[i]
		want := require.V(strconv.ParseInt(strings.Split(lines[i+1], "\t")[cycles], 10, 64))(t)
		if want <= most {
			n++
			require.Same(t, want, runModel(r.Pattern, r.Window), r.Name, r.Params, "cycles")
		}
	}
	require.Check(t, n >= 3, "%d rows", n)
}

// pick is one of some values.
func pick[T any](r *rand.Rand, v ...T) T { return v[r.IntN(len(v))] }

// mixture is p writes of q requests.
func mixture(r *rand.Rand) string {
	q := 2 + r.IntN(9)
	return fmt.Sprintf(" mix=%d/%d", 1+r.IntN(q), q)
}

// streamParams are parameters of some streams.
func streamParams(r *rand.Rand, n int) string {
	return fmt.Sprintf(" S=%d gap=%dM skew=%dK c=%d", n, pick(r, 16, 24, 32), pick(r, 0, 8, 24, 32), pick(r, 1, 1, 2, 4, 16))
}

// patternKinds are the kinds of random patterns; each returns parameters of requests of some bytes.
var patternKinds = []func(r *rand.Rand, size int) string{
	func(r *rand.Rand, size int) string {
		return fmt.Sprintf(" gen=rand seed=%d block=%d", 1+r.IntN(1000), max(size, pick(r, 64, 64, 256, 1024, 4096)))
	},
	func(r *rand.Rand, size int) string {
		return fmt.Sprintf(" gen=rand seed=%d block=%d", 1+r.IntN(1000), max(size, pick(r, 64, 64, 256, 1024, 4096))) + mixture(r)
	},
	func(r *rand.Rand, _ int) string { return streamParams(r, 1+r.IntN(6)) },
	func(r *rand.Rand, _ int) string { return streamParams(r, 2) + " ops=RW" },
	func(r *rand.Rand, _ int) string {
		ops := pick(r, "RRW", "RRRW", "RWW", "RRWW", "RRRRWW")
		return streamParams(r, len(ops)) + " ops=" + ops
	},
	func(r *rand.Rand, _ int) string {
		s := fmt.Sprintf(" stride=%d", pick(r, 128, 256, 512, 768, 1024, 2048, 3328, 4096, 8192, 65536))
		if r.IntN(3) == 0 {
			s += fmt.Sprintf(" a=%d pitch=%d", 1+r.IntN(8), pick(r, 1792, 2048, 3328, 4096))
		}
		if r.IntN(2) == 0 {
			s += mixture(r)
		}
		return s
	},
}

// randomPattern is a pattern of some KiB, and its requests in flight.
func randomPattern(r *rand.Rand, kib int) (params string, inFlight int) {
	size := pick(r, 32, 64, 64, 64, 128, 256)
	params = fmt.Sprintf("n=%d size=%d", kib<<10/size, size)
	if r.IntN(4) == 0 {
		params += " map=L"
	}
	params += pick(r, patternKinds...)(r, size)
	return params, pick(r, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
}

// TestRandomPatterns: of random patterns 95 % take as long as with the clock-by-clock model, within a tenth. With -short
// those are few and short.
func TestRandomPatterns(t *testing.T) {
	patterns, kib := 300, 96
	if testing.Short() {
		patterns, kib = 60, 32
	}
	c := require.V(GoldenConfig())(t)
	r := rand.New(rand.NewPCG(1, 2))
	in := 0
	for range patterns {
		params, inFlight := randomPattern(r, kib)
		p := require.V(ParsePattern(params))(t)
		d := require.V(p.Controller(c))(t)
		want := runModel(p, inFlight)
		if got := Run(d, p, inFlight).Cycles; 10*max(got-want, want-got) <= want {
			in++
		} else {
			t.Logf("%s, %d in flight: %d clocks, the model's are %d", params, inFlight, got, want)
		}
	}
	t.Logf("%d of %d are within a tenth", in, patterns)
	require.Check(t, 100*in >= 95*patterns, "%d of %d patterns are within a tenth of the model's time", in, patterns)
}
