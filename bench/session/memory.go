package session

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Memory is a device's use of the memory that all engines share.
type Memory struct {
	ReadBytes  int64   `json:"read_bytes"` // of DRAM
	WriteBytes int64   `json:"write_bytes"`
	Bursts     int64   `json:"bursts"`
	RowHits    int64   `json:"row_hits"`
	WaitNS     float64 `json:"wait_ns"` // of a read burst in the controller, mean
	// Lines of the system-level cache, on a SoC that has one.
	SystemCache *SystemCache `json:"system_cache,omitempty"`
	// EventsUJ, RefreshUJ and BackgroundUJ are in the energy of the run.
	EventsUJ     float64 `json:"events_uj"`
	RefreshUJ    float64 `json:"refresh_uj"`
	BackgroundUJ float64 `json:"background_uj"` // without refresh
}

type SystemCache struct {
	Hits       int64 `json:"hits"`
	Misses     int64 `json:"misses"`
	WriteBacks int64 `json:"write_backs"`
}

// newMemory is nil for a device that has not used the memory of a machine.
func newMemory(m *hal.MemoryStats) *Memory {
	lookups := m.CacheHits + m.CacheMisses
	if m.Bursts+lookups == 0 {
		return nil
	}
	e := &Memory{
		ReadBytes: m.ReadBytes, WriteBytes: m.WriteBytes, Bursts: m.Bursts, RowHits: m.RowHits,
		WaitNS:   float64(m.WaitFs) / 1e6 / float64(max(m.ReadBursts, 1)),
		EventsUJ: m.EventsPJ / 1e6, RefreshUJ: m.RefreshPJ / 1e6, BackgroundUJ: m.BackgroundPJ / 1e6,
	}
	if lookups > 0 {
		e.SystemCache = &SystemCache{m.CacheHits, m.CacheMisses, m.CacheWriteBacks}
	}
	return e
}

// TensorMemory is the memory that the tensors of a network need, whatever runs it.
type TensorMemory struct {
	ConstantBytes int64 `json:"constant_bytes"`
	// PeakBytes counts inputs, outputs and values between operations that are needed at
	// the same time, most at PeakOperation, when operations run in their order.
	PeakBytes     int64 `json:"peak_bytes"`
	PeakOperation int   `json:"peak_operation"`
	// LiveBytes are those that are needed while each operation runs.
	LiveBytes []int64 `json:"live_bytes"`
}

// tensorMemory is nil for a network whose shapes are known only when it runs.
func tensorMemory(m *nn.Model) *TensorMemory {
	g, err := (*opspec.Table)(nil).Resolve(&m.Main)
	if err != nil {
		return nil
	}
	first, last := make([]int, len(g.Operands)), make([]int, len(g.Operands))
	for x := range first {
		first[x], last[x] = -1, -1
	}
	for _, x := range g.Inputs {
		first[x] = 0
	}
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			last[x] = i
		}
		for _, x := range g.Operations[i].Outputs {
			first[x], last[x] = i, max(last[x], i)
		}
	}
	for _, x := range g.Outputs {
		last[x] = len(g.Operations) - 1
	}
	e := &TensorMemory{}
	change := make([]int64, len(g.Operations)+1)
	for x := range g.Operands {
		o := &g.Operands[x]
		switch {
		case o.IsConst():
			e.ConstantBytes += o.Bytes()
		case first[x] < 0 || last[x] < 0:
		case !o.Known():
			return nil
		default:
			change[first[x]] += o.Bytes()
			change[last[x]+1] -= o.Bytes()
		}
	}
	var live int64
	for i := range g.Operations {
		e.LiveBytes = append(e.LiveBytes, live+change[i])
		if live += change[i]; live > e.PeakBytes {
			e.PeakBytes, e.PeakOperation = live, i
		}
	}
	return e
}
