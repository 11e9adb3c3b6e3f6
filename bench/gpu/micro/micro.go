// Package micro has microbenchmarks of a GPU: kernels in assembly and in OpenCL C, which users can run on
// silicon, and what they measured on an Adreno 640, beside the simulated GPU of a preset.
package micro

import (
	_ "embed"
	"fmt"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/gpu/launch"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Assembly has the kernels in the syntax of LLVM, OpenCL the same for compilers of phones.
var (
	//go:embed kernels/micro.s
	Assembly string
	//go:embed kernels/micro.cl
	OpenCL string
)

// benchmark is a kernel and what one iteration of it does.
type benchmark struct {
	kernel, what string
	groups       int // 0: 8 per compute unit
	size         int
	few, more    int     // iterations of the two runs
	work         float64 // of one lane in one iteration, in the unit times 1e9 seconds
	unit         string
	measured     float64
	source       string
}

// Sources of the measured figures: a Pixel 4 and a OnePlus 7 Pro, both with an Adreno 640 at 585 MHz.
const (
	archProbe = "ArchProbe, Pixel 4"
	notes     = "Chips and Cheese, OnePlus 7 Pro"
)

// benchmarks are those of micro.s. A unit of cycles is per instruction, of us per kernel; others are rates.
var benchmarks = []benchmark{
	{"mad_f32", "multiply-add, single", 0, 256, 4, 20, 64, "GFLOPS", 889.9, archProbe},
	{"mad_f16", "multiply-add, halves", 0, 256, 4, 20, 128, "GFLOPS", 890.1, archProbe},
	{"add_i32", "integer addition", 0, 256, 4, 20, 32, "Gop/s", 188, notes},
	{"mul_i32", "integer multiplication", 0, 256, 4, 20, 32, "Gop/s", 62, notes},
	{"rcp_f32", "reciprocal", 0, 256, 4, 20, 32, "Gop/s", 55, notes},
	{"chain_f32", "dependent multiplication", 1, 1, 16, 80, 32, "cycles", 4, archProbe},
	{"local_read", "local memory", 0, 256, 4, 20, 8 * 16, "GB/s", 100.9, archProbe},
	{"broadcast", "one address, 1024 lanes", 1, 1024, 4, 20, 16, "cycles", 146, archProbe},
	{"read_l2", "L2, 32 KB", 0, 256, 4, 12, 8 * 16, "GB/s", 95.8, archProbe},
	{"read_dram", "DRAM", 48, 256, 4, 14, 8 * 16, "GB/s", 30.3, archProbe},
	{"chain_f32", "kernel of one lane", 1, 1, 1, 1, 0, "us", 3.2, archProbe},
}

// Row is a measured figure beside ours.
type Row struct {
	Kernel    string  `json:"kernel"`
	What      string  `json:"what"`
	Unit      string  `json:"unit"`
	Published float64 `json:"published"`
	Ours      float64 `json:"measured"`
	Ratio     float64 `json:"ratio"` // ours / published
	Source    string  `json:"source"`
}

// Run measures the GPU of a SoC at the clock of a preference.
func Run(c *soc.Config, p sim.Preference) ([]Row, error) {
	spec, err := gpu.FromSoC(c, p)
	if err != nil {
		return nil, err
	}
	core, err := gpu.New(spec)
	if err != nil {
		return nil, err
	}
	unit, err := asm.Assemble(Assembly)
	if err != nil {
		return nil, err
	}
	file, err := unit.Link()
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i := range benchmarks {
		b := &benchmarks[i]
		ours, err := b.run(c, core, &spec, file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.kernel, err)
		}
		rows = append(rows, Row{b.kernel, b.what, b.unit, b.measured, ours, ours / b.measured, b.source})
	}
	return rows, nil
}

// run is what a benchmark came to, in its unit.
func (b *benchmark) run(c *soc.Config, core *gpu.Core, s *gpu.Spec, file *codeobject.File) (float64, error) {
	groups := b.groups
	if groups == 0 {
		groups = 8 * s.Clusters * s.CUsPerCluster
	}
	cycles := func(n int) (float64, error) {
		memory, _, err := c.NewPath("gpu", 0)
		if err != nil {
			return 0, err
		}
		count, err := launch.ParseValue("u32", fmt.Sprint(n))
		if err != nil {
			return 0, err
		}
		l := launch.Launch{File: file, Kernel: b.kernel, Groups: [3]int{groups, 1, 1}, Block: [3]int{b.size, 1, 1},
			Args: []launch.Arg{{Buffer: make([]byte, 24<<20), Type: "a buffer"}, count}, Memory: memory}
		r, err := l.Run(core)
		if err != nil {
			return 0, err
		}
		return float64(r.Cycles), nil
	}
	few, err := cycles(b.few)
	if err != nil || b.unit == "us" {
		return few / float64(s.Hz) * 1e6, err
	}
	more, err := cycles(b.more)
	if err != nil {
		return 0, err
	}
	each := (more - few) / float64(b.more-b.few)
	if b.unit == "cycles" {
		return each / b.work, nil
	}
	return b.work * float64(groups*b.size) / each * float64(s.Hz) / 1e9, nil
}
