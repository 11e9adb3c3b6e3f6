package thermal_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

func network(t testing.TB, ambient float64, nodes ...thermal.Node) *thermal.Network {
	t.Helper()
	w := require.V(thermal.New(nodes, ambient))(t)
	return w
}

// near fails unless two temperatures agree to a millionth of a degree.
func near(t testing.TB, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf("%s: %.9f C, want %.9f", what, got, want)
	}
}

// TestStepOfOneNode: the response of one node to constant power is P R (1 - exp(-t/RC)).
func TestStepOfOneNode(t *testing.T) {
	const r, c, p = 12.0, 45.0, 2.5
	w := network(t, 25, thermal.Node{Name: "skin", Capacity: c, Resistance: r, To: thermal.Ambient})
	for s := 0; s <= 3600; s += 60 {
		near(t, "skin", w.Celsius()[0], 25+p*r*(1-math.Exp(-float64(s)/(r*c))))
		w.Advance(60*sim.Second, []float64{p})
	}
}

// TestStepOfTwoNodes compares with the roots of the characteristic polynomial of two
// nodes in a row.
func TestStepOfTwoNodes(t *testing.T) {
	const c1, r1, c2, r2, p = 1.25, 6.0, 45.0, 12.0, 3.0
	w := network(t, 20,
		thermal.Node{Name: "die", Capacity: c1, Resistance: r1, To: 1},
		thermal.Node{Name: "skin", Capacity: c2, Resistance: r2, To: thermal.Ambient})
	// s^2 + b s + k has the roots -l1 and -l2; the die's response is P (R1 + R2) + A1 exp(-l1 t) + A2 exp(-l2 t) with
	// T(0) = 0 and T'(0) = P / C1.
	b, k := 1/(r1*c1)+1/(r1*c2)+1/(r2*c2), 1/(r1*c1*r2*c2)
	root := math.Sqrt(b*b - 4*k)
	l1, l2 := (b+root)/2, (b-root)/2
	final := p * (r1 + r2)
	a1 := (final*l2 - p/c1) / (l1 - l2)
	a2 := -final - a1
	now := 0.0
	for _, span := range []float64{0.001, 0.5, 1, 7, 60, 600, 6000} {
		w.Advance(sim.Time(span*float64(sim.Second)), []float64{p, 0})
		now += span
		near(t, "die", w.Celsius()[0], 20+final+a1*math.Exp(-l1*now)+a2*math.Exp(-l2*now))
	}
	w.SteadyState([]float64{p, 0})
	near(t, "steady die", w.Celsius()[0], 20+final)
	near(t, "steady skin", w.Celsius()[1], 20+p*r2)
	w.Reset()
	near(t, "after Reset", w.Celsius()[0], 20)
}

// TestStepsCompose: a span equals its parts, however it is cut, and heat never flows from cold to warm: under power all
// nodes are warmer than the air.
func TestStepsCompose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		var nodes []thermal.Node
		watts := make([]float64, n)
		for i := range n {
			x := thermal.Node{Name: "n", To: thermal.Ambient,
				Capacity: rapid.Float64Range(0.01, 100).Draw(t, "J/K"), Resistance: rapid.Float64Range(0.1, 50).Draw(t, "K/W")}
			if i < n-1 {
				x.To = rapid.IntRange(i+1, n-1).Draw(t, "to")
			}
			nodes = append(nodes, x)
			watts[i] = rapid.Float64Range(0, 10).Draw(t, "W")
		}
		one := require.V(thermal.New(nodes, 25))(t)
		other, _ := thermal.New(nodes, 25)
		parts := rapid.SliceOfN(rapid.Int64Range(1, int64(100*sim.Second)), 1, 20).Draw(t, "parts")
		sum := int64(0)
		for _, p := range parts {
			other.Advance(sim.Time(p), watts)
			sum += p
		}
		one.Advance(sim.Time(sum), watts)
		for i := range n {
			a, b := one.Celsius()[i], other.Celsius()[i]
			if !(math.Abs(a-b) <= 1e-6 && a >= 25-1e-9) {
				t.Fatalf("node %d: %v C in one step, %v in %d", i, a, b, len(parts))
			}
		}
	})
}

// TestHeat: every node has the temperature, and loses it to the air.
func TestHeat(t *testing.T) {
	w := network(t, 25, thermal.Node{Name: "die", Capacity: 2, Resistance: 3, To: 1}, thermal.Node{Name: "skin", Capacity: 40, Resistance: 10, To: thermal.Ambient})
	w.Heat(45)
	near(t, "die", w.Celsius()[0], 45)
	near(t, "skin", w.Celsius()[1], 45)
	w.Advance(10*sim.Second, []float64{0, 0})
	if c := w.Celsius(); !(c[1] < 45 && c[1] > 44 && c[0] > c[1] && c[0] < 45) {
		t.Errorf("%v after ten seconds in air of 25 C", c)
	}
	w.Reset()
	near(t, "after a reset", w.Celsius()[0], 25)
}

func TestBadNetworks(t *testing.T) {
	good := thermal.Node{Name: "skin", Capacity: 45, Resistance: 12, To: thermal.Ambient}
	bad := func(change func(*thermal.Node)) []thermal.Node { x := good; change(&x); return []thermal.Node{x} }
	for want, nodes := range map[string][]thermal.Node{
		"0 nodes":              nil,
		"33 nodes":             make([]thermal.Node, 33),
		"NaN J/K":              bad(func(x *thermal.Node) { x.Capacity = math.NaN() }),
		"behind 0 K/W":         bad(func(x *thermal.Node) { x.Resistance = 0 }),
		"goes to node 0,":      bad(func(x *thermal.Node) { x.To = 0 }),
		"goes to node 1, want": bad(func(x *thermal.Node) { x.To = 1 }),
	} {
		require.ErrorContains(t, require.Err(thermal.New(nodes, 25)), want)
	}
	require.Fails(t, require.Err(thermal.New([]thermal.Node{good}, math.NaN())), "air of NaN C")
}

func BenchmarkAdvance(b *testing.B) {
	var nodes []thermal.Node
	for i := range 7 {
		nodes = append(nodes, thermal.Node{Capacity: 1 + float64(i), Resistance: 5, To: i + 1})
	}
	nodes[6].To = thermal.Ambient
	w := network(b, 25, nodes...)
	watts := []float64{1, 2, 3, 0, 0, 1, 0}
	for b.Loop() {
		w.Advance(sim.Millisecond, watts)
	}
}
