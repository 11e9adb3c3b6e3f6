package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// Presets lists the names Preset knows.
func Presets() []string {
	return []string{"ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256",
		"ethos-u65-256", "ethos-u65-512", "edgetpu-like"}
}

// armTable is the part of Arm's machines that differs by size, from Vela's
// architecture table.
var armTable = []struct {
	name    string
	product ethosu.Product
	cores   int
	ub      UBlock
	shram   int
	delay40 int
	delay   int
	out     [NumOutClasses]float64
}{
	{"ethos-u55-32", ethosu.U55, 1, UBlock{1, 1, 4, 8}, 16 << 10, 7, 3, [NumOutClasses]float64{2, 3, 3, 3, 4, 6, 1, 2}},
	{"ethos-u55-64", ethosu.U55, 1, UBlock{1, 1, 8, 8}, 16 << 10, 3, 2, [NumOutClasses]float64{1, 1.5, 1.5, 1.5, 2, 3, .5, 1}},
	{"ethos-u55-128", ethosu.U55, 1, UBlock{1, 2, 8, 8}, 24 << 10, 3, 2, [NumOutClasses]float64{.75, 1.25, .75, .75, 1, 1.5, .25, .5}},
	{"ethos-u55-256", ethosu.U55, 1, UBlock{2, 2, 8, 8}, 48 << 10, 2, 2, [NumOutClasses]float64{.625, 1.125, .5, .375, .5, .75, .125, .25}},
	{"ethos-u65-256", ethosu.U65, 1, UBlock{2, 2, 8, 8}, 48 << 10, 2, 2, [NumOutClasses]float64{.625, 1.125, .5, .375, .5, .75, .125, .25}},
	{"ethos-u65-512", ethosu.U65, 2, UBlock{2, 2, 8, 8}, 48 << 10, 2, 2, [NumOutClasses]float64{.3125, .5625, .25, .1875, .25, .375, .0625, .125}},
}

// Preset is a named machine.
//
// The Arm machines have the clocks and memories of Vela's default systems: U55
// High End Embedded with flash behind region 0 and shared SRAM, U65 High End
// with DRAM behind regions 0 and 1 and a dedicated SRAM behind region 2. The
// flash is as fast as in Arm's evaluation kit: 50 words of 8 bytes per 400
// cycles, counted by whole transactions of 64 bytes, are 56 words.
func Preset(name string) (Spec, error) {
	if name == "edgetpu-like" {
		return edgeTPULike(), nil
	}
	for _, a := range armTable {
		if a.name != name {
			continue
		}
		s := Spec{
			Name: a.name, Product: a.product, V: 0.8, Cores: a.cores, UBlock: a.ub,
			UBlockStream: a.ub.D, WeightsPerCycle: 8, DepthwiseTaps: 4,
			PipelineDelay: a.delay, PipelineDelay40: a.delay40,
			ShramBytes: a.shram, ShramBank: 1 << 10,
			OutputCycles: a.out, TableCycles: 1,
			DMAChannels: 1, Kernels: 2,
			LaunchCycles:  1000, // assumed: doorbell, QREAD set-up and first command fetch
			CommandCycles: 1,    // assumed
			DMASetup:      20,   // assumed
			Energy:        energy7nm(),
		}
		if a.cores == 2 {
			s.TableCycles = .5
		}
		if a.product == ethosu.U55 {
			s.Hz = 500e6
			s.Memories = []MemorySpec{
				{Name: "sram", BytesPerCycle: 8, BurstBytes: 32, ReadLatency: 32, WriteLatency: 32, ReadPJ: sramPJ, WritePJ: sramPJ},
				{Name: "flash", BytesPerCycle: 1.12, BurstBytes: 128, ReadLatency: 64, OffChip: true, ReadPJ: dramPJ},
			}
			s.RegionMemory = [8]int{1, 0, 0, 0, 0, 0, 0, 0}
		} else {
			s.Hz = 1e9
			s.DMAChannels = 2
			s.Memories = []MemorySpec{
				{Name: "sram", BytesPerCycle: 16, BurstBytes: 32, ReadLatency: 32, WriteLatency: 32, ReadPJ: sramPJ, WritePJ: sramPJ},
				{Name: "dram", BytesPerCycle: 3.75, BurstBytes: 128, ReadLatency: 500, WriteLatency: 250, OffChip: true, ReadPJ: dramPJ, WritePJ: dramPJ},
			}
			s.RegionMemory = [8]int{1, 1, 0, 1, 1, 1, 1, 1}
		}
		return s, nil
	}
	return Spec{}, fmt.Errorf("npu: unknown preset %q", name)
}

// Energy per byte: 14 pJ per 64 bits of a 1 MB SRAM at 7 nm (Jouppi, ISCA
// 2021, table 2), LPDDR4X 5 pJ/bit.
const (
	sramPJ = 14.0 / 8
	dramPJ = 40
)

// energy7nm is per event at 7 nm: int8 multiply 0.07 and int32 add 0.03 pJ,
// small SRAM 7.5 pJ per 64 bits (same table). Output, elementwise, decoder,
// command and static power are assumed.
func energy7nm() EnergySpec {
	return EnergySpec{
		MAC: 0.10, Output: 2.0, Elementwise: 2.0, ShramByte: 7.5 / 8, WeightByte: 1.0, Command: 20,
		StaticW:      0.05,
		AccessPerMAC: 1.0 / 16, // assumed: each byte read feeds 16 MACs
	}
}

// edgeTPULike is a Pixel-Neural-Core-class machine: a 64x64 weight-stationary
// array, as the array width and the rates of published Edge TPU descriptions
// suggest, with an 8 MiB on-chip memory (Coral Edge TPU) and LPDDR4X behind
// region 0. It runs U65 command streams; everything not marked otherwise is
// assumed.
func edgeTPULike() Spec {
	s := Spec{
		Name: "edgetpu-like", Product: ethosu.U65, V: 0.8, Hz: 800e6, // clock: Edge TPU class V1
		Cores:        1,
		UBlock:       UBlock{1, 1, 64, 64}, // 4096 MAC/cycle
		UBlockStream: 8, PackTaps: true,
		WeightsPerCycle: 64, // one row of the array per cycle
		DepthwiseTaps:   4,
		PipelineDelay:   2, PipelineDelay40: 2,
		ShramBytes: 512 << 10, ShramBank: 8 << 10,
		DMAChannels: 2, Kernels: 2,
		TableCycles: 1.0 / 16,
		Memories: []MemorySpec{
			{Name: "sram", BytesPerCycle: 128, BurstBytes: 32, ReadLatency: 16, WriteLatency: 16, ReadPJ: sramPJ, WritePJ: sramPJ},
			// 17 GB/s at 800 MHz (Edge TPU class V1); 120 ns.
			{Name: "dram", BytesPerCycle: 21.25, BurstBytes: 64, ReadLatency: 96, WriteLatency: 48, OffChip: true, ReadPJ: dramPJ, WritePJ: dramPJ},
		},
		RegionMemory: [8]int{1, 0, 0, 1, 1, 1, 1, 1},
		LaunchCycles: 8000, CommandCycles: 1, DMASetup: 20,
		Energy: energy7nm(),
	}
	for i, c := range armTable[3].out {
		s.OutputCycles[i] = c / 16 // as U55-256 per MAC of the array
	}
	s.Energy.StaticW = 0.25
	return s
}
