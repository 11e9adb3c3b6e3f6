package cpudriver

import (
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
)

// maxSpecs bounds the machines that are kept: a client that sets the clocks may set any values.
const maxSpecs = 64

// specs are the machines that the CPU is at different operating points of its clusters.
type specs struct {
	base *timing.CPUSpec // of an execution without points
	at   func([]sim.OPP) (*timing.CPUSpec, error)
	mu   sync.Mutex
	made []*timing.CPUSpec
}

// find returns the machine at the points of its clusters.
func (s *specs) find(points []sim.OPP) (*timing.CPUSpec, error) {
	is := func(x *timing.CPUSpec) bool {
		return slices.EqualFunc(x.Cores, points, func(c timing.CoreSpec, o sim.OPP) bool { return c.ClockHz == o.Hz })
	}
	// Points of another number of clusters are those of another engine, whose place this CPU has.
	if len(points) != len(s.base.Cores) || s.at == nil || is(s.base) {
		return s.base, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.made, is); i >= 0 {
		return s.made[i], nil
	}
	x, err := s.at(points)
	if err == nil {
		s.made = append(s.made[max(0, len(s.made)+1-maxSpecs):], x)
	}
	return x, err
}

// changes returns the CPU's parameters over an execution, as the points of
// its clusters change; the first is that of the first points.
func (s *specs) changes(points []sim.Change) ([]timing.Change, error) {
	var now []sim.OPP // by cluster
	var course []timing.Change
	for i, c := range points {
		now = append(now, make([]sim.OPP, max(0, c.Cluster+1-len(now)))...)
		now[c.Cluster] = c.OPP
		if i+1 < len(points) && points[i+1].At == c.At {
			continue // the machine between two changes of one instant is none
		}
		spec, err := s.find(now)
		if err != nil {
			return nil, err
		}
		course = append(course, timing.Change{AtFs: int64(c.At), Spec: spec})
	}
	return course, nil
}
