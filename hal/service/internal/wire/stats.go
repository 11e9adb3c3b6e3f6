package wire

import (
	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// toStats and fromStats carry the costs of an execution.
func toStats(s *hal.Stats) *pb.Stats {
	m := &s.Memory
	out := &pb.Stats{
		Cycles: s.Cycles, LatencyFs: s.LatencyFs, ClockHz: s.ClockHz, EnergyPj: s.EnergyPJ, Instructions: s.Instructions, Launches: int64(s.Launches),
		Stalls: toStalls(s.Stalls), Counters: toCounters(s.Counters),
	}
	if *m != (hal.MemoryStats{}) {
		out.Memory = &pb.MemoryStats{
			ReadBytes: m.ReadBytes, WriteBytes: m.WriteBytes, Bursts: m.Bursts, RowHits: m.RowHits, ReadBursts: m.ReadBursts, WaitFs: m.WaitFs,
			CacheHits: m.CacheHits, CacheMisses: m.CacheMisses, CacheWriteBacks: m.CacheWriteBacks,
			EventsPj: m.EventsPJ, RefreshPj: m.RefreshPJ, BackgroundPj: m.BackgroundPJ, LowestHz: m.LowestHz, HighestHz: m.HighestHz,
		}
	}
	for i := range s.Operations {
		o := &s.Operations[i]
		out.Operations = append(out.Operations, &pb.OperationStats{
			Index: int64(o.Index), Cycles: o.Cycles, TimeFs: o.TimeFs, EnergyPj: o.EnergyPJ, Macs: o.MACs, BoundBy: o.BoundBy, DramBytes: o.DRAMBytes,
			Stalls: toStalls(o.Stalls), Threads: toStalls(o.Threads), Counters: toCounters(o.Counters),
		})
	}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, &pb.Part{Name: p.Name, TimeFs: p.TimeFs, EnergyPj: p.EnergyPJ})
	}
	for _, c := range s.Components {
		out.Components = append(out.Components, &pb.Part{Name: c.Name, EnergyPj: c.EnergyPJ})
	}
	return out
}

func fromStats(s *pb.Stats) (out hal.Stats) {
	if s == nil {
		return out
	}
	out = hal.Stats{
		Cycles: s.Cycles, LatencyFs: s.LatencyFs, ClockHz: s.ClockHz, EnergyPJ: s.EnergyPj, Instructions: s.Instructions, Launches: int(s.Launches),
		Stalls: fromStalls(s.Stalls), Counters: fromCounters(s.Counters),
	}
	if m := s.Memory; m != nil {
		out.Memory = hal.MemoryStats{
			ReadBytes: m.ReadBytes, WriteBytes: m.WriteBytes, Bursts: m.Bursts, RowHits: m.RowHits, ReadBursts: m.ReadBursts, WaitFs: m.WaitFs,
			CacheHits: m.CacheHits, CacheMisses: m.CacheMisses, CacheWriteBacks: m.CacheWriteBacks,
			EventsPJ: m.EventsPj, RefreshPJ: m.RefreshPj, BackgroundPJ: m.BackgroundPj, LowestHz: m.LowestHz, HighestHz: m.HighestHz,
		}
	}
	for _, o := range s.Operations {
		out.Operations = append(out.Operations, hal.OperationStats{
			Index: int(o.GetIndex()), Cycles: o.GetCycles(), TimeFs: o.GetTimeFs(), EnergyPJ: o.GetEnergyPj(), MACs: o.GetMacs(), BoundBy: o.GetBoundBy(), DRAMBytes: o.GetDramBytes(),
			Stalls: fromStalls(o.GetStalls()), Threads: fromStalls(o.GetThreads()), Counters: fromCounters(o.GetCounters()),
		})
	}
	for _, p := range s.Parts {
		out.Parts = append(out.Parts, hal.Part{Name: p.GetName(), TimeFs: p.GetTimeFs(), EnergyPJ: p.GetEnergyPj()})
	}
	for _, c := range s.Components {
		out.Components = append(out.Components, hal.ComponentEnergy{Name: c.GetName(), EnergyPJ: c.GetEnergyPj()})
	}
	return out
}

func toStalls(list []hal.StallCycles) (out []*pb.Count) {
	for _, x := range list {
		out = append(out, &pb.Count{Name: x.Reason, Value: x.Cycles})
	}
	return out
}

func fromStalls(list []*pb.Count) (out []hal.StallCycles) {
	for _, x := range list {
		out = append(out, hal.StallCycles{Reason: x.GetName(), Cycles: x.GetValue()})
	}
	return out
}

func toCounters(list []hal.Counter) (out []*pb.Count) {
	for _, x := range list {
		out = append(out, &pb.Count{Name: x.Name, Value: x.Value})
	}
	return out
}

func fromCounters(list []*pb.Count) (out []hal.Counter) {
	for _, x := range list {
		out = append(out, hal.Counter{Name: x.GetName(), Value: x.GetValue()})
	}
	return out
}

// ToClock and FromClock convert operating points.
func ToClock(list []hal.ClockPoint) (out []*pb.ClockPoint) {
	for _, c := range list {
		out = append(out, &pb.ClockPoint{AtFs: c.AtFs, Hz: c.Hz, Volts: c.Volts, Cluster: uint32(c.Cluster)})
	}
	return out
}

func FromClock(list []*pb.ClockPoint) (out []hal.ClockPoint) {
	for _, c := range list {
		out = append(out, hal.ClockPoint{AtFs: c.GetAtFs(), Hz: c.GetHz(), Volts: c.GetVolts(), Cluster: int(c.GetCluster())})
	}
	return out
}
