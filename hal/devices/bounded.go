package devices

import (
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Bounded counts what Machine.Most has saved.
type Bounded struct {
	Executions int `json:"executions"`           // that were not found in a state that has been simulated
	Simulated  int `json:"simulated_executions"` // the others reused costs of earlier executions of their program
}

// CollectBounded returns what Most has saved since the last call, and resets it.
func (m *Machine) CollectBounded() Bounded {
	b := m.bounded
	m.bounded = Bounded{}
	return b
}

// ReuseCache keeps executions by the key of programs that are alike (base.Call.CostKey). Machines of one SoC may share it, one
// after the other.
type ReuseCache struct {
	ran    map[any][]*remembered
	reused int
}

// NewReuseCache returns none yet.
func NewReuseCache() *ReuseCache { return &ReuseCache{ran: map[any][]*remembered{}} }

// Reused is how many executions reused costs and outputs of other programs, or of executions with other inputs.
func (l *ReuseCache) Reused() int { return l.reused }

// key is what programs have in common whose executions bound each other, and reports whether others than the call's own
// program have it.
func (m *Machine) key(c *base.Call) (key any, alike bool) {
	if m.Reuse == nil || c.CostKey == "" {
		return c.Program, false
	}
	return c.CostKey, true
}

// executions are those that have run, by key.
func (m *Machine) executions() map[any][]*remembered {
	if m.Reuse != nil {
		return m.Reuse.ran
	}
	if m.ran == nil {
		m.ran = map[any][]*remembered{}
	}
	return m.ran
}

// nearest estimates an execution by a previous one of its program and inputs once Most of them have run: the last
// at the same clocks, else the last at the nearest clocks of engine and DRAM, adjusted by retime. nil: it has to run.
func (h *engineHost) nearest(c *base.Call, k platform.Conditions) *remembered {
	var best *remembered
	far, runs, now := math.Inf(1), 0, h.present(k.Points)
	key, alike := h.m.key(c)
	for _, x := range h.m.executions()[key] {
		if !x.fits(c.Buffers) || !alike && !x.same(c.Buffers) {
			continue
		}
		runs++
		d := 0.0
		if !x.began(k.Points) || !h.m.soc.Fits(x.traffic) {
			from := h.clocks(x)
			d = 1 + math.Abs(math.Log(from.hz/now.hz)) + math.Abs(math.Log(from.memoryHz/now.memoryHz))
		}
		if d <= far {
			best, far = x, d
		}
	}
	if runs < h.m.Most {
		return nil
	}
	if alike && (best.program != c.Program || !best.same(c.Buffers)) {
		h.m.Reuse.reused++
	}
	if far == 0 {
		return best
	}
	y := *best
	y.result = copyOf(&best.result)
	retime(&y.result.Stats, h.clocks(best), now, k.Points)
	return &y
}

// clocksOf are the clocks of an execution, with what its engine draws at a volt when it does not work.
type clocksOf struct{ hz, volts, memoryHz, staticMW float64 }

// clocks are those that an execution has had, means where they changed.
func (h *engineHost) clocks(x *remembered) clocksOf {
	m := &x.result.Stats.Memory
	return clocksOf{x.hz, x.points[0].OPP.Volts, float64(m.LowestHz+m.HighestHz) / 2, h.staticMW()}
}

// staticMW is what the engine draws at a volt without work.
func (h *engineHost) staticMW() float64 {
	e := &soc.Energy{VRef: 1}
	switch c := h.m.config; h.engine {
	case soc.EngineGPU:
		e = &c.GPU.Energy
	case soc.EngineDSP:
		e = &c.DSP.Energy
	case soc.EngineNPU:
		e = &c.NPU.Energy
	}
	return e.StaticMW / (e.VRef * e.VRef)
}

// present are those with which an execution begins: the engine's point requests one of the DRAM's at least.
func (h *engineHost) present(points []sim.Change) clocksOf {
	o := points[0].OPP
	vote, _ := h.m.soc.MemoryClocks(h.engine, o.Hz)
	return clocksOf{float64(o.Hz), o.Volts, float64(max(vote, h.m.soc.MemoryHz())), h.staticMW()}
}

// retime scales an execution to other clocks, the engine's at points: waits for the DRAM and the system-level cache keep their
// cycles of the DRAM, all else its cycles of the engine, and the engine's energy scales with the square of its voltage (D-1610).
func retime(s *hal.Stats, from, to clocksOf, points []sim.Change) {
	idle := int64(waits(s) * float64(s.LatencyFs))
	took := s.LatencyFs
	computes := scaled(sim.Time(took-idle), int64(from.hz), points)
	if from.memoryHz > 0 && to.memoryHz > 0 {
		idle = int64(float64(idle) * from.memoryHz / to.memoryHz)
	}
	s.LatencyFs = int64(computes) + idle
	ratio := float64(s.LatencyFs) / float64(max(took, 1))
	left, last := s.LatencyFs, -1
	for i := range s.Operations {
		if x := &s.Operations[i]; x.TimeFs > 0 {
			x.TimeFs = int64(float64(x.TimeFs) * ratio)
			left -= x.TimeFs
			last = i
		}
	}
	if last >= 0 { // rounding
		s.Operations[last].TimeFs += left
	}
	if from.volts > 0 {
		static := func(c clocksOf, fs int64) float64 { return c.staticMW * c.volts * c.volts * float64(fs) / 1e6 }
		dynamic := max(0, s.EnergyPJ-static(from, took)) * (to.volts / from.volts) * (to.volts / from.volts)
		before := s.EnergyPJ
		s.EnergyPJ = dynamic + static(to, s.LatencyFs)
		for i := range s.Operations {
			s.Operations[i].EnergyPJ *= s.EnergyPJ / max(before, 1)
		}
	}
}

// waits is the share of an execution in which its engine waits for the DRAM and the system-level cache.
func waits(s *hal.Stats) (share float64) {
	for _, x := range s.Stalls {
		if s.Cycles > 0 && (x.Reason == sim.StallDRAM.String() || x.Reason == sim.StallSystemCache.String()) {
			share += float64(x.Cycles) / float64(s.Cycles)
		}
	}
	return share
}
