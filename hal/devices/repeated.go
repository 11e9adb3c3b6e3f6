package devices

import (
	"cmp"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim/platform"
)

// Repeated counts what Machine.Tolerance has saved.
type Repeated struct {
	Executions int     `json:"executions"`           // that were not found in a state that has been simulated
	Simulated  int     `json:"simulated_executions"` // the others repeated one of these
	Spread     float64 `json:"spread"`               // largest relative difference, in latency or energy, between executions that one of them stood for the rest of
}

// CollectRepeated returns what Tolerance has saved since the last call, and resets it.
func (m *Machine) CollectRepeated() Repeated {
	r := m.repeated
	m.repeated = Repeated{}
	return r
}

// repeatRuns is how many executions have to be alike before the next repeats them: two may be by chance (assumed, D-2700).
const repeatRuns = 3

// repetition finds the execution that stands for one in a state that has not been simulated: where the last repeatRuns
// of its program and inputs, at the same clocks and on caches that the same program left, lie within Tolerance of each
// other in latency and energy, the one of them with the median latency. nil: it has to run.
func (h *engineHost) repetition(c *base.Call, k platform.Conditions, before memoryState) *remembered {
	var last []*remembered
	for _, x := range slices.Backward(h.m.turns[c.Program]) {
		if x.memory.program != before.program || !x.began(k.Points) || !x.same(c.Buffers) || !h.m.soc.Fits(x.traffic) {
			continue
		}
		if last = append(last, x); len(last) == repeatRuns {
			break
		}
	}
	if len(last) < repeatRuns {
		return nil
	}
	spread := max(
		spreadOf(last, func(x *remembered) float64 { return float64(x.result.Stats.LatencyFs) }),
		spreadOf(last, func(x *remembered) float64 { return x.result.Stats.EnergyPJ }),
	)
	if !(spread <= h.m.Tolerance) {
		return nil
	}
	h.m.repeated.Spread = max(h.m.repeated.Spread, spread)
	slices.SortStableFunc(last, func(a, b *remembered) int { return cmp.Compare(a.result.Stats.LatencyFs, b.result.Stats.LatencyFs) })
	return last[repeatRuns/2]
}

// spreadOf is the relative difference of the largest and the smallest value.
func spreadOf(list []*remembered, of func(*remembered) float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, x := range list {
		least, most = min(least, of(x)), max(most, of(x))
	}
	if least == most {
		return 0
	}
	return (most - least) / math.Abs(most)
}

// turn keeps an execution for repetition.
func (m *Machine) turn(c *base.Call, x *remembered) {
	if m.turns == nil {
		m.turns = map[any][]*remembered{}
	}
	list := append(m.turns[c.Program], x)
	m.turns[c.Program] = list[max(0, len(list)-maxRemembered):]
}
