package cpu

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
)

// specs are the machines that the CPU is at different operating points of its clusters.
type specs struct {
	base *timing.CPUSpec // of an execution without points
	at   func([]sim.Change) (*timing.CPUSpec, error)
	mu   sync.Mutex
	made []*timing.CPUSpec
}

// find returns the machine at points.
func (s *specs) find(points []sim.Change) (*timing.CPUSpec, error) {
	is := func(x *timing.CPUSpec) bool {
		return slices.EqualFunc(x.Cores, points, func(c timing.CoreSpec, p sim.Change) bool { return c.ClockHz == p.OPP.Hz })
	}
	if len(points) == 0 || s.at == nil || is(s.base) {
		return s.base, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.made, is); i >= 0 {
		return s.made[i], nil
	}
	x, err := s.at(points)
	if err == nil {
		s.made = append(s.made, x)
	}
	return x, err
}
