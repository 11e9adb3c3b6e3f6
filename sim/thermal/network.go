package thermal

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/sim"
)

// Ambient as the To of a Node is the air around the phone, whose temperature is fixed.
const Ambient = -1

// Node is a part of the phone that has one temperature.
type Node struct {
	Name       string
	Capacity   float64 // J/K
	Resistance float64 // K/W, on the way to To
	To         int     // a later node, or Ambient
}

// Network is a tree of nodes that loses its heat through its root to the ambient air:
//
//	C[i] dT[i]/dt = P[i] - sum over neighbours j of (T[i] - T[j]) / R[i,j]
//
// With x = C^(1/2) (T - T ambient) that is dx/dt = -A x + C^(-1/2) P with a symmetric,
// positive definite A. In the directions of its eigenvectors each x decays on its own, so
// that a step of any length under constant power is exact.
type Network struct {
	ambient float64
	root    []float64   // square root of the capacity, by node
	vector  [][]float64 // eigenvectors of A, by mode and node
	rate    []float64   // eigenvalues, 1/s, by mode
	mode    []float64   // x in the directions of the eigenvectors
	celsius []float64   // temperatures, of mode
}

// maxNodes bounds a network.
const maxNodes = 32

// New builds a network whose nodes are as warm as the air, in Celsius.
func New(nodes []Node, ambient float64) (*Network, error) {
	n := len(nodes)
	if n == 0 || n > maxNodes {
		return nil, fmt.Errorf("thermal: %d nodes, want 1 to %d", n, maxNodes)
	}
	if !(ambient > -274 && ambient < 1000) {
		return nil, fmt.Errorf("thermal: air of %v C", ambient)
	}
	w := &Network{ambient: ambient, root: make([]float64, n), mode: make([]float64, n), celsius: make([]float64, n)}
	a := make([][]float64, n)
	for i := range nodes {
		x := &nodes[i]
		if !(x.Capacity > 0 && x.Capacity < 1e9 && x.Resistance > 0 && x.Resistance < 1e9) {
			return nil, fmt.Errorf("thermal: node %s: %v J/K behind %v K/W, want positive numbers", x.Name, x.Capacity, x.Resistance)
		}
		if x.To != Ambient && (x.To <= i || x.To >= n) {
			return nil, fmt.Errorf("thermal: node %s: its heat goes to node %d, want a later one of %d", x.Name, x.To, n)
		}
		a[i], w.root[i] = make([]float64, n), math.Sqrt(x.Capacity)
	}
	for i := range nodes {
		x := &nodes[i]
		g := 1 / x.Resistance
		a[i][i] += g / x.Capacity
		if j := x.To; j != Ambient {
			a[j][j] += g / nodes[j].Capacity
			a[i][j] -= g / (w.root[i] * w.root[j])
			a[j][i] = a[i][j]
		}
	}
	w.rate, w.vector = eigen(a)
	w.Reset()
	return w, nil
}

// Reset makes every node as warm as the air.
func (w *Network) Reset() {
	clear(w.mode)
	w.update()
}

// Heat gives every node a temperature.
func (w *Network) Heat(celsius float64) {
	for k := range w.mode {
		w.mode[k] = 0
		for i, v := range w.vector[k] {
			w.mode[k] += float64(v * (w.root[i] * (celsius - w.ambient)))
		}
	}
	w.update()
}

// Celsius are the temperatures of the nodes. The caller must not change them; they are valid until the network's next
// step.
func (w *Network) Celsius() []float64 { return w.celsius }

// Advance advances by a span in which node i receives watts[i].
func (w *Network) Advance(span sim.Time, watts []float64) {
	s := span.Seconds()
	for k, rate := range w.rate {
		left := math.Exp(-rate * s)
		w.mode[k] = float64(w.mode[k]*left) + float64(w.force(k, watts)/rate)*(1-left)
	}
	w.update()
}

// SteadyState puts the network where constant power has it after a long time.
func (w *Network) SteadyState(watts []float64) {
	for k, rate := range w.rate {
		w.mode[k] = w.force(k, watts) / rate
	}
	w.update()
}

// force is the contribution of power to a mode per second.
func (w *Network) force(k int, watts []float64) float64 {
	f := 0.0
	for i, v := range w.vector[k] {
		f += float64(v * (watts[i] / w.root[i]))
	}
	return f
}

// update computes the temperatures of the modes.
func (w *Network) update() {
	for i := range w.celsius {
		x := 0.0
		for k := range w.mode {
			x += float64(w.vector[k][i] * w.mode[k])
		}
		w.celsius[i] = w.ambient + x/w.root[i]
	}
}
