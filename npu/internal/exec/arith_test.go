package exec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

func TestRescale(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 20000 {
		v := int64(r.Uint64()) >> (16 + r.IntN(48))
		scale := r.Uint32() >> r.IntN(32)
		shift := uint8(r.IntN(64))
		if r.IntN(4) == 0 { // ties
			v, scale, shift = v&^7|4, 1, 3
		}
		p := new(big.Int).Mul(big.NewInt(v), new(big.Int).SetUint64(uint64(scale)))
		pow := func(n uint8) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }
		half := func(x *big.Int, n uint8) *big.Int { // half up
			if n == 0 {
				return new(big.Int).Set(x)
			}
			y := new(big.Int).Add(x, pow(n-1))
			return y.Rsh(y, uint(n))
		}
		away := func(x *big.Int, n uint8) *big.Int { // ties away from zero
			y := half(new(big.Int).Abs(x), n)
			if x.Sign() < 0 {
				y.Neg(y)
			}
			return y
		}
		for mode, want := range map[int]*big.Int{
			ethosu.RoundNatural:  half(p, shift),
			ethosu.RoundDouble:   away(half(p, min(shift, 31)), shift-min(shift, 31)),
			ethosu.RoundTruncate: new(big.Int).Quo(p, pow(shift)),
		} {
			if !want.IsInt64() {
				continue
			}
			if got := rescale(v, scale, shift, mode); got != want.Int64() {
				t.Fatalf("rescale(%d, %d, %d, %d) = %d, want %v", v, scale, shift, mode, got, want)
			}
		}
	}
}

// TestActivation: lookup tables, tanh and sigmoid.
func TestActivation(t *testing.T) {
	table := make([]byte, 256)
	for i := range table {
		table[i] = byte(7 * i)
	}
	s := state.Output{ElemSize: 1, Signed: true, TableBias: 128, Min: -128, Max: 127, Activation: ethosu.ActTable + 1, Table: table}
	if got := byte(finish(&s, -3)); got != byte(125*7&255) {
		t.Errorf("table of -3 is %d", got)
	}
	// tanh and sigmoid at zero, at the ends, and odd or complementary between.
	if tanhSigmoid(0, true) != 0 || tanhSigmoid(1<<20, true) != 32767 || tanhSigmoid(-1<<20, true) != -32767 {
		t.Errorf("tanh: %d %d %d", tanhSigmoid(0, true), tanhSigmoid(1<<20, true), tanhSigmoid(-1<<20, true))
	}
	if tanhSigmoid(0, false) != 16384 || tanhSigmoid(1<<20, false) != 32767 || tanhSigmoid(-1<<20, false) != 1 {
		t.Errorf("sigmoid: %d %d %d", tanhSigmoid(0, false), tanhSigmoid(1<<20, false), tanhSigmoid(-1<<20, false))
	}
	for x := int64(0); x < 70000; x += 37 {
		if d := tanhSigmoid(x, true) + tanhSigmoid(-x, true); d < -1 || d > 1 {
			t.Fatalf("tanh(%d) is not odd", x)
		}
		if d := tanhSigmoid(x, false) + tanhSigmoid(-x, false); d < 32766 || d > 32769 {
			t.Fatalf("sigmoid(%d): %d", x, d)
		}
	}
}

// TestTanhSigmoid: both are the functions of x/12288 in units of 1/32768, up to the error of linear interpolation
// between points 1/24 apart: a quarter of the step squared times the largest second derivative, and one rounding.
func TestTanhSigmoid(t *testing.T) {
	for x := int64(-135000); x <= 135000; x += 37 {
		v := float64(x) / 12288
		for tanh, want := range map[bool]float64{false: 32768 / (1 + math.Exp(-v)), true: 32768 * math.Tanh(v)} {
			if got := float64(tanhSigmoid(x, tanh)); !(math.Abs(got-want) <= 2.5) || !(math.Abs(got-want) <= 1.5) && !tanh {
				t.Errorf("tanh %v of %g: %g, want %g", tanh, v, got, want)
			}
		}
	}
}

// TestTanhSigmoidRounds: halves of a line between two points go up, and the other side of zero is the mirror image.
func TestTanhSigmoidRounds(t *testing.T) {
	between := func(x, step int64) float64 { // in units of 1/65536
		u := min(x/step, 255)
		if u == 255 {
			return 65535 // beyond the table
		}
		a, b := float64(sigmoidTable[u]), float64(sigmoidTable[u+1])
		return a + (b-a)*float64(x%step)/float64(step)
	}
	for x := range int64(255 * 512) {
		tanh, sigmoid := tanhSigmoid(x, true), tanhSigmoid(x, false)
		if want := int64(math.Floor(between(x, 512)/2 + 0.5)); sigmoid != want || tanhSigmoid(-x, false) != 32768-want && x > 0 {
			t.Fatalf("sigmoid of %d: %d, and of its negative %d, want %d", x, sigmoid, tanhSigmoid(-x, false), want)
		}
		if want := int64(math.Floor(between(x, 256) - 32768 + 0.5)); tanh != want || tanhSigmoid(-x, true) != -want {
			t.Fatalf("tanh of %d: %d, and of its negative %d, want %d", x, tanh, tanhSigmoid(-x, true), want)
		}
	}
}

// TestSigmoidTable: the table is round(65536 / (1 + exp(-i/24))), one more where the hardware's is.
func TestSigmoidTable(t *testing.T) {
	more := map[int]bool{}
	for _, i := range []int{4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45, 46, 49, 50, 54, 62, 63, 64,
		66, 82, 86, 93, 100, 103, 112, 116, 135, 255} {
		more[i] = true
	}
	for i, got := range sigmoidTable {
		want := uint16(math.Round(65536 / (1 + math.Exp(-float64(i)/24))))
		if more[i] {
			want++
		}
		if got != want {
			t.Errorf("entry %d is %d, want %d", i, got, want)
		}
	}
}
