package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100000 {
		x := (r.Float64() - 0.5) * 1480
		got, want := Exp(x), math.Exp(x)
		if got != want && !(math.Abs(got-want) <= 4e-16*want+5e-324) {
			t.Fatalf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Inf(1), math.Inf(-1), 700, -745, 1e300, -1e300} {
		if got, want := Exp(x), math.Exp(x); got != want {
			t.Errorf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
	if x := Exp(math.NaN()); x == x {
		t.Errorf("Exp(NaN) = %v", x)
	}
}
