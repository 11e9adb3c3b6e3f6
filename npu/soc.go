package npu

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// FromSoC is the machine that a SoC's [npu] section describes, at the highest
// operating point for a preference.
func FromSoC(c *soc.Config, p sim.Preference) (Spec, error) {
	if c.NPU == nil {
		return Spec{}, errors.New("npu: the SoC has no [npu] section")
	}
	return FromSoCAt(c, c.NPU.Clock.At(p))
}

// FromSoCAt is the same at an operating point.
func FromSoCAt(c *soc.Config, opp sim.OPP) (Spec, error) {
	n := c.NPU
	s := Spec{
		Name: n.Name, Hz: opp.Hz, V: opp.Volts, Cores: n.Cores,
		UBlock:       UBlock{H: n.Ublock[0], W: n.Ublock[1], D: n.Ublock[2], IFM: n.IFMDepth},
		UBlockStream: n.UblockStream, PackTaps: n.PackTaps,
		WeightsPerCycle: n.WeightsPerCycle, DepthwiseTaps: n.DepthwiseTaps,
		PipelineDelay: n.PipelineDelay, PipelineDelay40: n.PipelineDelay40,
		ShramBytes: n.ShramKiB << 10, ShramBank: n.ShramBankKiB << 10,
		OutputCycles: n.OutputCycles, TableCycles: n.TableCycles,
		WeightReads: n.WeightReads, DMAChannels: n.DMAChannels, Kernels: n.Kernels,
		LaunchCycles: n.StartCycles, CommandCycles: n.CommandCycles, DMASetup: n.DMASetup, OperationCycles: n.OperationCycles,
	}
	switch n.Product {
	case "ethos-u55":
		s.Product = ethosu.U55
	case "ethos-u65":
		s.Product = ethosu.U65
	default:
		return s, fmt.Errorf("npu: unknown product %q; there are ethos-u55, ethos-u65", n.Product)
	}
	for i := range n.Memories {
		m := &n.Memories[i]
		spec := MemorySpec{
			Name: m.Name, BytesPerCycle: m.BytesPerCycle, BurstBytes: m.BurstBytes,
			ReadLatency: m.ReadCycles, WriteLatency: m.WriteCycles, Reads: m.Reads, Writes: m.Writes, Duplex: m.Duplex, OffChip: m.OffChip, ReadPJ: m.ReadPJ, WritePJ: m.WritePJ,
		}
		if m.IsDRAM() { // its Level times and charges transfers; these are for estimates
			x := &c.Interconnect
			spec.BytesPerCycle = float64(x.BytesPerCycle) * x.MHz * 1e6 / float64(opp.Hz)
			spec.WriteLatency = int(math.Ceil(float64(x.LatencyCycles) / (x.MHz * 1e6) * float64(opp.Hz)))
		}
		s.Memories = append(s.Memories, spec)
	}
	for i, name := range n.Regions {
		s.RegionMemory[i] = -1
		for k, m := range n.Memories {
			if m.Name == name {
				s.RegionMemory[i] = k
			}
		}
	}
	scale := (opp.Volts / n.Energy.VRef) * (opp.Volts / n.Energy.VRef)
	pj := func(name string) float64 { return n.Energy.PJ[name] * scale }
	s.Energy = EnergySpec{
		MAC: pj("mac"), Output: pj("output"), Elementwise: pj("elementwise"), ShramByte: pj("shram_byte"),
		WeightByte: pj("weight_byte"), Command: pj("command"), StaticW: n.Energy.StaticMW / 1e3, AccessPerMAC: n.AccessPerMAC,
	}
	return s, s.Validate()
}

// ShareFromSoC puts a DRAM that others use in the places of LevelsFromSoC.
func ShareFromSoC(c *soc.Config, dram mem.Level) []mem.Level {
	levels := make([]mem.Level, len(c.NPU.Memories))
	for i := range c.NPU.Memories {
		if c.NPU.Memories[i].IsDRAM() {
			levels[i] = mem.Delayed(dram, sim.Time(math.Round(c.NPU.MemoryNs*float64(sim.Nanosecond))))
		}
	}
	return levels
}

// LevelsFromSoC makes the timed memories of one run, cold: the SoC's DRAM, with
// banks, rows and refresh, in place of each off-chip memory named "dram".
func LevelsFromSoC(c *soc.Config) ([]mem.Level, error) {
	levels := make([]mem.Level, len(c.NPU.Memories))
	for i := range c.NPU.Memories {
		if !c.NPU.Memories[i].IsDRAM() {
			continue
		}
		l, _, err := c.NewPath("npu", c.NPU.MemoryNs)
		if err != nil {
			return nil, err
		}
		levels[i] = l
	}
	return levels, nil
}
