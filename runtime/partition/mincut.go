package partition

import (
	"math"

	"github.com/nnsoc/nnsoc/runtime/partition/internal/flow"
)

// MinCut minimizes the cost of operations plus that of every edge between two
// devices, or between a device and the application: its transfer and half the fixed
// cost of either side. An expansion
// move lets any set of operations change to one device; the best set is a
// minimum cut. Moves over all devices repeat until none pays. For two devices
// the result is the optimum of this sum, for more within twice (Boykov, Veksler
// and Zabih, 2001).
type MinCut struct{}

// Name implements Strategy.
func (MinCut) Name() string { return "mincut" }

// cutRounds bounds the rounds of expansion moves.
const cutRounds = 8

// Plan implements Strategy.
func (MinCut) Plan(p *Problem) (Plan, error) {
	c := newCutter(p)
	plan := Plan{Device: make([]int, len(p.Graph.Operations))}
	for i := range plan.Device {
		plan.Device[i] = c.cheapest(i)
	}
	for range cutRounds {
		moved := false
		for d := range c.devices {
			moved = c.expand(plan.Device, d) || moved
		}
		if !moved {
			break
		}
	}
	return plan, nil
}

// dataEdge is bytes from one operation to another.
type dataEdge struct {
	from, to int
	bytes    float64
}

// neighbours lists the edges between operations. A value read several times
// leaves a segment once: each edge has its share.
func neighbours(g *Graph) []dataEdge {
	var l []dataEdge
	for v := range g.Values {
		x := &g.Values[v]
		if x.Producer < 0 {
			continue
		}
		for _, u := range x.Consumers {
			l = append(l, dataEdge{x.Producer, u, float64(x.Bytes) / float64(len(x.Consumers))})
		}
	}
	return l
}

type cutter struct {
	*table
	edges []dataEdge
	unit  float64 // cost of one unit of flow
}

// newCutter states the sum that is made small. What the model reads and writes comes
// from outside all devices: an edge of which one end costs.
func newCutter(p *Problem) *cutter {
	c := &cutter{table: p.table(p.scale()), edges: neighbours(p.Graph)}
	outside := func(op int, bytes, share float64) {
		for d := range c.devices {
			c.op[op*c.devices+d] += share*c.fixed[d]/2 + bytes*c.perByte[d]
		}
	}
	for v := range p.Graph.Values {
		x := &p.Graph.Values[v]
		if x.Producer < 0 {
			for _, u := range x.Consumers {
				outside(u, float64(x.Bytes)/float64(len(x.Consumers)), 1/float64(len(x.Consumers)))
			}
		} else if x.Output {
			outside(x.Producer, float64(x.Bytes), 1)
		}
	}
	c.unit = c.resolution()
	return c
}

// flowRange is the capacity of the most expensive plan, far below overflow.
const flowRange = 1 << 50

// resolution is a unit in which all costs together are flowRange.
func (c *cutter) resolution() float64 {
	sum := 0.0
	for _, x := range c.op {
		if !math.IsInf(x, 1) {
			sum += x
		}
	}
	for _, e := range c.edges {
		for d := range c.devices {
			sum += c.cutCost(e, d, d) // of each side
		}
	}
	return max(sum, math.SmallestNonzeroFloat64*flowRange) / flowRange
}

// cutCost is the cost of an edge whose ends are on devices a and b.
func (c *cutter) cutCost(e dataEdge, a, b int) float64 {
	return e.bytes*(c.perByte[a]+c.perByte[b]) + (c.fixed[a]+c.fixed[b])/2
}

func (c *cutter) edge(e dataEdge, a, b int) int64 {
	if a == b {
		return 0
	}
	return int64(c.cutCost(e, a, b) / c.unit)
}

func (c *cutter) capacity(op, device int) int64 {
	x := c.op[op*c.devices+device]
	if math.IsInf(x, 1) {
		return 4 * flowRange
	}
	return int64(x / c.unit)
}

// expand moves the best set of operations to a device.
func (c *cutter) expand(device []int, to int) (moved bool) {
	n := len(device)
	source, sink := n, n+1
	change := make([]int64, n) // cost of moving an operation less that of keeping it
	f := flow.New(n + 2)
	for i, d := range device {
		change[i] = c.capacity(i, to) - c.capacity(i, d)
	}
	for _, e := range c.edges {
		a, b := device[e.from], device[e.to]
		both, first, second := c.edge(e, a, b), c.edge(e, to, b), c.edge(e, a, to)
		change[e.from] += first - both
		change[e.to] -= first
		if w := first + second - both; w > 0 {
			f.Add(e.from, e.to, w)
		}
	}
	for i, x := range change {
		if x > 0 {
			f.Add(source, i, x)
		} else if x < 0 {
			f.Add(i, sink, -x)
		}
	}
	move := f.Cut(source, sink)
	for i := range device {
		if move[i] && device[i] != to {
			device[i], moved = to, true
		}
	}
	return moved
}
