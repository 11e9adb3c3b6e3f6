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
	out.Parts = each(s.Parts, func(p hal.Part) *pb.Part { return &pb.Part{Name: p.Name, TimeFs: p.TimeFs, EnergyPj: p.EnergyPJ} })
	out.Components = each(s.Components, func(c hal.ComponentEnergy) *pb.Part { return &pb.Part{Name: c.Name, EnergyPj: c.EnergyPJ} })
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
	out.Parts = each(s.Parts, func(p *pb.Part) hal.Part {
		return hal.Part{Name: p.GetName(), TimeFs: p.GetTimeFs(), EnergyPJ: p.GetEnergyPj()}
	})
	out.Components = each(s.Components, func(c *pb.Part) hal.ComponentEnergy {
		return hal.ComponentEnergy{Name: c.GetName(), EnergyPJ: c.GetEnergyPj()}
	})
	return out
}

// each is a list of what f makes of the elements of another.
func each[A, B any](list []A, f func(A) B) (out []B) {
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

func toStalls(list []hal.StallCycles) []*pb.Count {
	return each(list, func(x hal.StallCycles) *pb.Count { return &pb.Count{Name: x.Reason, Value: x.Cycles} })
}

func fromStalls(list []*pb.Count) []hal.StallCycles {
	return each(list, func(x *pb.Count) hal.StallCycles { return hal.StallCycles{Reason: x.GetName(), Cycles: x.GetValue()} })
}

func toCounters(list []hal.Counter) []*pb.Count {
	return each(list, func(x hal.Counter) *pb.Count { return &pb.Count{Name: x.Name, Value: x.Value} })
}

func fromCounters(list []*pb.Count) []hal.Counter {
	return each(list, func(x *pb.Count) hal.Counter { return hal.Counter{Name: x.GetName(), Value: x.GetValue()} })
}

// ToClock and FromClock convert operating points.
func ToClock(list []hal.ClockPoint) []*pb.ClockPoint {
	return each(list, func(c hal.ClockPoint) *pb.ClockPoint {
		return &pb.ClockPoint{AtFs: c.AtFs, Hz: c.Hz, Volts: c.Volts, Cluster: uint32(c.Cluster)}
	})
}

func FromClock(list []*pb.ClockPoint) []hal.ClockPoint {
	return each(list, func(c *pb.ClockPoint) hal.ClockPoint {
		return hal.ClockPoint{AtFs: c.GetAtFs(), Hz: c.GetHz(), Volts: c.GetVolts(), Cluster: int(c.GetCluster())}
	})
}
