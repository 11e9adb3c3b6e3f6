package session

import (
	"cmp"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Export is the problem of a network as data. With measured costs on a machine of its own it has what operations cost on their engines at each
// operating point, and how much slower devices are beside each other.
func (x *Planner) Export(f *Network) (*partition.Exported, error) {
	p, err := x.Problem(f, x.Costs)
	if err != nil {
		return nil, err
	}
	e := p.Export(x.Phone.Config.SoC.Name)
	if cmp.Or(x.Costs, CostsMeasured) != CostsMeasured || x.outline(f.Model) == nil {
		return e, nil
	}
	q, err := nnrt.NewProblem(x.Phone.Registry, f.Model, x.options)
	if err != nil {
		return nil, err
	}
	loads, err := x.measurer(f.Model, f.Inputs).Loads(q)
	if err != nil {
		return nil, err
	}
	use := map[string]traffic{}
	for d := range q.Devices {
		plan, err := partition.Single(d).Plan(q)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(plan.Device, d) {
			continue
		}
		points := x.operatingPoints(q.Devices[d].Name)
		for k, at := range points {
			works, err := onDevice(loads, plan, d, at)
			if err != nil {
				return nil, err
			}
			e.Points = append(e.Points, points[k].rows(q.Devices[d].Name, works)...)
			use[q.Devices[d].Name] = sumOf(works) // the last and highest
		}
	}
	peak := x.Phone.Live.SoC().MemoryBytesPerSecond()
	for _, a := range q.Devices {
		for _, b := range q.Devices {
			if of, beside := use[a.Name], use[b.Name]; a.Name != b.Name && of.timeFs > 0 && beside.timeFs > 0 {
				e.Contention = append(e.Contention, partition.ExportedContention{Device: a.Name, Beside: b.Name, Slowdown: 1 + of.waits()*(devices.Queueing(beside.bytes/beside.timeFs*1e15/peak)-1)})
			}
		}
	}
	return e, nil
}

// operatingPoint is a clock of an engine and one of the DRAM, in Hz.
type operatingPoint struct {
	hz, memoryHz int64
	pinned       bool // a governor moves the clock: this is one of its points
}

// operatingPoints lists how a device can run, rising: each clock of its engine with the lowest and the highest of the DRAM that it
// may meet, or the present ones if no governor moves them.
func (x *Planner) operatingPoints(device string) (list []operatingPoint) {
	e, _ := soc.EngineNamed(device)
	live := x.Phone.Live.SoC()
	clocks := []int64{live.Hz(e)}
	if x.governed(device) {
		clocks = live.PointsOf(e)
	}
	for _, hz := range clocks {
		low, high := live.MemoryClocks(e, hz)
		if x.governed(device) && low < high {
			list = append(list, operatingPoint{hz, low, true})
		}
		list = append(list, operatingPoint{hz, high, x.governed(device)})
	}
	return list
}

// operationWork is the work of an operation of the model, or of beginning and ending a program, -1.
type operationWork struct {
	operation int
	cost.Work
}

// onDevice is what the operations of a device cost its engine at an operating point, when it runs all that it supports.
func onDevice(loads *cost.Loads, plan partition.Plan, device int, at operatingPoint) (list []operationWork, err error) {
	for i, d := range plan.Device {
		if d != device {
			continue
		}
		part, ok := loads.Part(device, []int{i}, 0)
		if !ok {
			continue
		}
		works, err := part.At(at.hz, at.memoryHz)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			list = append(list, operationWork{-1, works[0]})
		}
		list = append(list, operationWork{i, works[1]})
	}
	return list, nil
}

// rows are the works as they are exported.
func (at operatingPoint) rows(device string, works []operationWork) (rows []partition.ExportedPoint) {
	for _, w := range works {
		r := partition.ExportedPoint{Device: device, ClockMHz: float64(at.hz) / 1e6, MemoryMHz: float64(at.memoryHz) / 1e6,
			EngineUS: w.TimeFs / 1e9, EnergyUJ: w.EnergyPJ / 1e6, DRAMBytes: w.DRAMBytes, Waits: w.Waits}
		if w.operation >= 0 {
			r.Operation = &w.operation
		}
		if !at.pinned && w.Cycles > 0 && w.TimeFs > 0 { // what it had in the mean, of the CPU the cluster that counts cycles
			r.ClockMHz = math.Round(w.Cycles/w.TimeFs*1e12) / 1e3 // to a kilohertz
		}
		rows = append(rows, r)
	}
	return rows
}

// traffic is the time of works, how much of it waits for the DRAM, and the bytes that they move.
type traffic struct{ timeFs, waitsFs, bytes float64 }

func sumOf(works []operationWork) (t traffic) {
	for _, w := range works {
		t.timeFs += w.TimeFs
		t.waitsFs += w.TimeFs * w.Waits
		t.bytes += w.DRAMBytes
	}
	return t
}

// waits is the share of the time that waits for the DRAM.
func (t traffic) waits() float64 { return t.waitsFs / t.timeFs }
