// Package micro has microbenchmarks of a GPU: kernels in assembly and in OpenCL C, which users can run on silicon, and
// their results on an Adreno 640, beside the simulated GPU of a preset.
package micro

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/gpu/launch"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// assembly has the kernels in the syntax of LLVM, openCL the same for compilers of phones.
var (
	//go:embed kernels/micro.s
	assembly string
	//go:embed kernels/micro.cl
	openCL string
	// machineAssembly and machineCL are those without published figures: conflicts, atomics, constants and barriers.
	//go:embed kernels/machine.s
	machineAssembly string
	//go:embed kernels/machine.cl
	machineCL string
	// coreAssembly and coreCL are the kernels that measure how a core holds code, constants and waves.
	//go:embed kernels/core.s
	coreAssembly string
	//go:embed kernels/core.cl
	coreCL string
)

// benchmark is a kernel and the work of one of its iterations.
type benchmark struct {
	kernel, what string
	groups       int // 0: 8 per compute unit
	size         int
	extra        uint32  // third argument, of kernels that have one; of read_range the bytes of the range, less 1
	few, more    int     // iterations of the two runs
	iterations   int     // of all runs; few and more are then their work-groups
	work         float64 // of one lane in one iteration, in the unit times 1e9 seconds
	unit         string
	measured     float64 // 0: not measured
	source       string
	queues       int // 0: the kernel once, else twice, in so many queues
}

// Sources of the measured figures: a Pixel 4 and a OnePlus 7 Pro, both with an Adreno 640 at 585 MHz.
const (
	archProbe = "ArchProbe, Pixel 4"
	notes     = "Chips and Cheese, OnePlus 7 Pro"
)

// benchmarks lists the kernels of micro.s. A unit of cycles is per instruction, of us per kernel; others are rates.
var benchmarks = []benchmark{
	{kernel: "mad_f32", what: "multiply-add, single", size: 256, few: 4, more: 20, work: 64, unit: "GFLOPS", measured: 889.9, source: archProbe},
	{kernel: "mad_f16", what: "multiply-add, halves", size: 256, few: 4, more: 20, work: 128, unit: "GFLOPS", measured: 890.1, source: archProbe},
	{kernel: "add_i32", what: "integer addition", size: 256, few: 4, more: 20, work: 32, unit: "Gop/s", measured: 188, source: notes},
	{kernel: "mul_i32", what: "integer multiplication", size: 256, few: 4, more: 20, work: 32, unit: "Gop/s", measured: 62, source: notes},
	{kernel: "rcp_f32", what: "reciprocal", size: 256, few: 4, more: 20, work: 32, unit: "Gop/s", measured: 55, source: notes},
	{kernel: "chain_f32", what: "dependent multiplication", groups: 1, size: 1, few: 16, more: 80, work: 32, unit: "cycles", measured: 4, source: archProbe},
	{kernel: "local_read", what: "local memory", size: 256, few: 4, more: 20, work: 8 * 16, unit: "GB/s", measured: 100.9, source: archProbe},
	{kernel: "broadcast", what: "one address, 1024 lanes", groups: 1, size: 1024, few: 4, more: 20, work: 16, unit: "cycles", measured: 146, source: archProbe},
	{kernel: "read_l2", what: "L2, 32 KB", size: 256, few: 4, more: 12, work: 8 * 16, unit: "GB/s", measured: 95.8, source: archProbe},
	{kernel: "read_range", what: "buffer of 128 KB", size: 1024, extra: 128<<10 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 86.9, source: archProbe},
	{kernel: "read_range", what: "buffer of 256 KB", size: 1024, extra: 256<<10 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 57.7, source: archProbe},
	{kernel: "read_range", what: "buffer of 512 KB", size: 1024, extra: 512<<10 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 40.7, source: archProbe},
	{kernel: "read_range", what: "buffer of 1 MB", size: 1024, extra: 1024<<10 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 34.8, source: archProbe},
	{kernel: "read_range", what: "buffer of 4 MB", size: 1024, extra: 4096<<10 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 38.8, source: archProbe},
	{kernel: "read_range", what: "buffer of 32 MB", size: 1024, extra: 32<<20 - 1, iterations: 8, few: 24, more: 48, work: 8 * 16, unit: "GB/s", measured: 30.3, source: archProbe},
	{kernel: "chain_f32", what: "kernel of one lane", groups: 1, size: 1, few: 1, more: 1, unit: "us", measured: 3.2, source: archProbe},
	{kernel: "local_stride", what: "local memory, one bank", size: 256, few: 4, more: 20, work: 8 * 4, unit: "GB/s"},
	{kernel: "atomics", what: "atomic additions, one address", size: 256, few: 4, more: 20, work: 16, unit: "Gop/s"},
	{kernel: "barriers", what: "barrier of 256 lanes", groups: 1, size: 256, few: 4, more: 20, work: 16, unit: "cycles"},
	{kernel: "chain_f32", what: "two kernels of one lane, one queue", groups: 1, size: 1, few: 1, more: 1, unit: "us", queues: 1},
	{kernel: "chain_f32", what: "two kernels of one lane, two queues", groups: 1, size: 1, few: 1, more: 1, unit: "us", queues: 2},
	{kernel: "code_16k", what: "straight code of 16 KiB", groups: 1, size: 1, few: 2, more: 4, work: 2048, unit: "cycles"},
	{kernel: "code_64k", what: "straight code of 64 KiB", groups: 1, size: 1, few: 2, more: 4, work: 8192, unit: "cycles"},
	{kernel: "jumps_32", what: "jumps 32 bytes back, 64 KiB", groups: 1, size: 1, few: 2, more: 4, work: 2048, unit: "cycles"},
	{kernel: "jumps_64", what: "jumps 64 bytes back, 64 KiB", groups: 1, size: 1, few: 2, more: 4, work: 1024, unit: "cycles"},
	{kernel: "jumps_256", what: "jumps 256 bytes back, 64 KiB", groups: 1, size: 1, few: 2, more: 4, work: 256, unit: "cycles"},
	{kernel: "scalar_ring", what: "dependent read of one address", groups: 1, size: 1, extra: ring(5, 5), few: 4, more: 20, work: 16, unit: "cycles"},
	{kernel: "scalar_ring", what: "dependent reads, 64 bytes apart in 8 KiB", groups: 1, size: 1, extra: ring(6, 13), few: 16, more: 32, work: 16, unit: "cycles"},
	{kernel: "scalar_ring", what: "dependent reads, 64 bytes apart in 64 KiB", groups: 1, size: 1, extra: ring(6, 16), few: 64, more: 128, work: 16, unit: "cycles"},
	{kernel: "scalar_ring", what: "dependent reads, 32 bytes apart in 64 KiB", groups: 1, size: 1, extra: ring(5, 16), few: 128, more: 256, work: 16, unit: "cycles"},
	{kernel: "chain_f32", what: "dependent multiplication, all waves", size: 256, few: 4, more: 20, work: 32, unit: "Gop/s"},
	{kernel: "chain_registers", what: "the same, half of the registers a wave", size: 256, few: 32, more: 96, work: 32, unit: "Gop/s"},
	{kernel: "chain_local", what: "the same, half of the local memory a group", size: 256, few: 4, more: 20, work: 32, unit: "Gop/s"},
	{kernel: "vector_chain", what: "dependent read of a lane, groups of 32", groups: 384, size: 32, few: 4, more: 20, work: 0.5, unit: "Gop/s"},
	{kernel: "vector_chain", what: "dependent read of a lane, groups of 64", groups: 192, size: 64, few: 4, more: 20, work: 0.5, unit: "Gop/s"},
	{kernel: "mad_f32", what: "multiply-add, one group, CU mode", groups: 1, size: 1024, few: 4, more: 20, work: 64, unit: "GFLOPS"},
	{kernel: "mad_wgp", what: "multiply-add, one group, WGP mode", groups: 1, size: 1024, few: 4, more: 20, work: 64, unit: "GFLOPS"},
}

// ring is the argument of scalar_ring for steps of 1<<step bytes in a ring of 1<<size.
func ring(step, size uint32) uint32 { return step | size<<8 }

// Row is a measured figure beside ours; Published and Ratio are 0 where there is none.
type Row struct {
	Kernel    string  `json:"kernel"`
	What      string  `json:"measure"`
	Unit      string  `json:"unit"`
	Published float64 `json:"published,omitempty"`
	Ours      float64 `json:"simulated_value"`
	Ratio     float64 `json:"ratio,omitempty"` // ours / published
	Source    string  `json:"source,omitempty"`
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
	c = c.Voted(&c.GPU.Clock, p)
	var files []*codeobject.File
	for _, text := range []string{assembly, machineAssembly, coreAssembly} {
		file, err := assemble(text)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	var rows []Row
	for i := range benchmarks {
		b := &benchmarks[i]
		at := slices.IndexFunc(files, func(f *codeobject.File) bool { return slices.Contains(f.Names(), b.kernel) })
		ours, err := b.run(c, core, &spec, files[at])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.kernel, err)
		}
		row := Row{Kernel: b.kernel, What: b.what, Unit: b.unit, Published: b.measured, Ours: ours, Source: b.source}
		if b.measured > 0 {
			row.Ratio = ours / b.measured
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// assemble is the code object of a source.
func assemble(text string) (*codeobject.File, error) {
	unit, err := asm.Assemble(text)
	if err != nil {
		return nil, err
	}
	return unit.Link()
}

// run is the result of a benchmark, in its unit.
func (b *benchmark) run(c *soc.Config, core *gpu.Core, s *gpu.Spec, file *codeobject.File) (float64, error) {
	cycles := func(n int) (_ float64, err error) {
		defer try.Catch(&err)
		l := try.V(b.launch(s, file, n))
		l.Memory = try.V(c.NewEngineMemory(soc.EngineGPU))
		list := []*launch.Launch{l}
		if b.queues > 0 {
			twin := *l
			twin.Args, twin.Queue = slices.Clone(l.Args), b.queues-1
			list = append(list, &twin)
		}
		r := try.V(launch.RunAll(core, list))
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
	switch {
	case b.unit == "cycles":
		return each / b.work, nil
	case b.iterations > 0:
		return b.work * float64(b.size*b.iterations) / each * float64(s.Hz) / 1e9, nil
	}
	return b.work * float64(b.lanes(s)) / each * float64(s.Hz) / 1e9, nil
}

// launch is the kernel with n iterations, or work-groups, on a buffer of zeros.
func (b *benchmark) launch(s *gpu.Spec, file *codeobject.File, n int) (*launch.Launch, error) {
	args := []launch.Arg{{Buffer: make([]byte, 54<<20), Type: "a buffer"}}
	groups := b.lanes(s) / b.size
	if b.iterations > 0 {
		groups, n = n, b.iterations
	}
	values := []int{n}
	if b.extra > 0 {
		values = append(values, int(b.extra))
	}
	for _, v := range values {
		a, err := launch.ParseValue("i32", fmt.Sprint(v))
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	return &launch.Launch{File: file, Kernel: b.kernel, Groups: [3]int{groups, 1, 1}, Block: [3]int{b.size, 1, 1}, Args: args}, nil
}

// lanes returns the number of lanes in all groups.
func (b *benchmark) lanes(s *gpu.Spec) int {
	if b.groups == 0 {
		return 8 * s.Clusters * s.CUsPerCluster * b.size
	}
	return b.groups * b.size
}
