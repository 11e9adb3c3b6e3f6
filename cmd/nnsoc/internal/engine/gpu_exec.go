package engine

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/gpu/launch"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
)

type gpuExecFlags struct {
	gpuLaunchFlags
	also    []string
	limit   int64
	profile measure.ProfileFlags
}

func newGPUExec(a *cli.App) *cobra.Command {
	var f gpuExecFlags
	cmd := &cobra.Command{
		Use:   "exec FILE.co|FILE.s",
		Short: "run a kernel of a code object on buffers and report its cycles",
		Long: `exec runs one kernel of a code object for gfx1030 on the GPU of the SoC: what clang makes
for amdgcn-amd-amdhsa with -mcpu=gfx1030 at any -O level, shared or relocatable, ABI
v3 to v6; a source file (clang -S, or written by hand) is assembled first. The path -
is standard input. --kernel may be left out when the file has one kernel.

--grid counts work-groups, --block the work-items of one, each X,Y,Z or fewer. Every
explicit argument of the kernel is one --arg, in order:
  buf:FILE.npy      a buffer with the elements of the file
  new:DTYPE:SHAPE   a buffer of zeros, as new:f4:16,16 (f2 f4 f8, i1 to i8, u1 to u8)
  i32:N f32:X       a value; i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64
  hex:BYTES         bytes by value, for a struct
  lds:BYTES         local memory for a pointer argument
Hidden arguments (block counts, group sizes, apertures) come from the metadata.
--save I:FILE.npy writes the buffer of argument I, counted from 0, after the run.

--also 'FLAGS' launches one more kernel of the file in the same run (repeat for more): FLAGS
are --kernel, --grid, --block, --arg, --save, --stack and --queue of it; --arg same:K.I is the
buffer of argument I of the K-th kernel, counted from 0. Kernels of one --queue run one after the other;
with --no-barrier one does not wait for the end of those before it, as a packet of AQL without the
barrier bit. Queues run concurrently. The report has when each began and ended.

The report has cycles, what they were spent on, caches, energy and a hash of each buffer.
--limit ends a kernel that executes more wave instructions, so that one that never ends
is found. --stack gives each lane more scratch than the
kernel declares, which recursion needs: compilers count it once. A fault names kernel, instruction, lane and
address (exit code 1).`,
		Example: "  nnsoc gpu exec kernels.co --kernel vadd --grid 16 --block 64 --arg buf:a.npy --arg buf:b.npy --arg new:f4:1024 --arg i32:1024 --save 2:out.npy\n" +
			"  clang -x cl -target amdgcn-amd-amdhsa -mcpu=gfx1030 -nogpulib -S -o - k.cl | nnsoc gpu exec - --grid 4,4 --block 8,8 --arg buf:in.npy --json\n" +
			"  nnsoc gpu exec kernels.s --kernel blur --grid 64 --arg new:f4:4096 --also '--kernel sum --queue 1 --grid 8 --arg new:f4:512'",
		Args: cli.ExactlyOne,
		RunE: func(_ *cobra.Command, args []string) error { return gpuExec(a, args[0], &f) },

		ValidArgsFunction: cli.CompleteFiles("co", "o", "s", "S", "hsaco"),
	}
	fl := cmd.Flags()
	f.add(fl)
	fl.StringArrayVar(&f.also, "also", nil, "flags of one more kernel of the run, in quotes")
	fl.Int64Var(&f.limit, "limit", launch.DefaultMaxInstructions, "wave instructions after which a kernel is ended")
	f.profile.Add(fl)
	return cmd
}

// gpuReport is the JSON object of gpu exec.
type gpuReport struct {
	SchemaVersion int                   `json:"schema_version"`
	Program       string                `json:"program"`
	Kernel        string                `json:"kernel"`
	GPU           string                `json:"gpu"`
	Grid          [3]int                `json:"grid"`
	Block         [3]int                `json:"block"`
	WaveSize      int                   `json:"wave_size"`
	VGPRs         int                   `json:"vgprs"`
	LDSBytes      int                   `json:"lds_bytes"`
	ScratchBytes  int                   `json:"scratch_bytes"`
	Cycles        int64                 `json:"cycles"`
	ClockMHz      float64               `json:"clock_mhz"`
	TimeUs        float64               `json:"time_us"`
	Instructions  int64                 `json:"instructions"`
	LaneInstrs    int64                 `json:"lane_instructions"`
	IPC           float64               `json:"instructions_per_cycle"`
	Stalls        map[string]int64      `json:"stall_cycles"`
	Caches        map[string]cacheStats `json:"caches"`
	Counters      map[string]int64      `json:"counters"`
	DRAMBytes     int64                 `json:"dram_bytes"`
	EnergyUJ      float64               `json:"energy_uj"`
	Buffers       []gpuBuffer           `json:"buffers"`
	Dispatches    []gpuDispatch         `json:"dispatches,omitempty"`

	stalls sim.StallTable
}

func gpuExec(a *cli.App, path string, f *gpuExecFlags) (err error) {
	defer try.Catch(&err)
	if f.limit < 1 {
		return cli.Usage(fmt.Errorf("--limit %d: want a number above 0", f.limit))
	}
	data := try.V(readInput(path))
	file := try.V(readCodeObject(path, data))
	launches := try.V(parseLaunches(path, file, f))
	l := &launches[0].Launch
	l.MaxInstructions = f.limit
	profile := try.V(f.profile.Open())
	defer profile.Discard()
	core, memory := try.V2(openGPU(a))
	if profile != nil {
		l.Profile = &sim.Profile{}
	}
	l.Memory = memory
	list := make([]*launch.Launch, len(launches))
	for i := range launches {
		list[i] = &launches[i].Launch
	}
	rep, err := launch.RunAll(core, list)
	var fault *gpu.Fault
	if errors.As(err, &fault) {
		if full := (*launch.StackError)(nil); errors.As(err, &full) {
			err = fmt.Errorf("%w (--stack BYTES allows a lane more)", err)
		}
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%s: %w", path, err)}
	} else if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	for i := range launches {
		try.E(launches[i].write())
	}
	if profile != nil {
		profile.Core("gpu", l.Profile, rep.Hz, func(i int) string {
			if len(list) > 1 {
				return list[i].Kernel
			}
			return ""
		}, path, func(at int64) int { return l.File.Line(uint64(at)) })
	}
	try.E(profile.Commit())
	r := newGPUReport(l, core.Spec().Name, rep)
	r.Program, r.Buffers = path, launches[0].buffers()
	if len(launches) > 1 {
		for i := range launches {
			r.Dispatches = append(r.Dispatches, launches[i].report(&rep.Regions[i]))
		}
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.print(a.Out)
}

// readCodeObject reads a code object, or assembles one from source.
func readCodeObject(path string, data []byte) (*codeobject.File, error) {
	if isSource(path, data) {
		return assembleKernels(path, data)
	}
	f, err := codeobject.Read(data)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return f, nil
}

func newGPUReport(l *launch.Launch, name string, rep *sim.Report) *gpuReport {
	k, _ := l.File.Kernel(l.Kernel) // it has run
	d := &k.Descriptor
	r := &gpuReport{
		SchemaVersion: cli.SchemaVersion, Kernel: l.Kernel, GPU: name, Grid: l.Groups, Block: l.Block,
		WaveSize: d.WaveSize(), VGPRs: d.VGPRs, LDSBytes: int(d.LDSBytes), ScratchBytes: int(d.ScratchBytes),
		Cycles: rep.Cycles, ClockMHz: float64(rep.Hz) / 1e6, TimeUs: rep.Time.Microseconds(), Instructions: rep.Instructions,
		Stalls: map[string]int64{}, Caches: map[string]cacheStats{}, Counters: map[string]int64{}, EnergyUJ: rep.EnergyPJ / 1e6,
		stalls: rep.Stalls,
	}
	if r.Cycles > 0 {
		r.IPC = float64(r.Instructions) / float64(r.Cycles)
	}
	for reason, n := range rep.Stalls {
		if n != 0 {
			r.Stalls[sim.Reason(reason).String()] = n
		}
	}
	for _, c := range rep.Counters {
		r.Counters[c.Name] += c.Value
	}
	r.LaneInstrs, r.DRAMBytes = r.Counters["lane_instructions"], r.Counters["dram_bytes"]
	for _, name := range gpuCaches {
		c := cacheStats{Reads: r.Counters[name+"_read"], Misses: r.Counters[name+"_read_miss"]}
		if c.Reads > 0 {
			c.HitRate = 1 - float64(c.Misses)/float64(c.Reads)
			r.Caches[name] = c
		}
	}
	return r
}

var gpuCaches = [...]string{"l0", "scalar", "icache", "gl1", "l2"}

func (r *gpuReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s on %s, %d,%d,%d work-groups of %d,%d,%d, wave%d\n", r.Program, r.Kernel, r.GPU,
		r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2], r.WaveSize)
	fmt.Fprintf(w, "  %d cycles (%.1f us), %d wave instructions, %.2f per cycle, %.2f uJ\n", r.Cycles, r.TimeUs, r.Instructions, r.IPC, r.EnergyUJ)
	fmt.Fprintf(w, "  %d vector registers, %d bytes of LDS, %d bytes of scratch per lane\n", r.VGPRs, r.LDSBytes, r.ScratchBytes)
	fmt.Fprintln(w, "  cycles by reason")
	for reason, n := range r.stalls {
		if n != 0 {
			fmt.Fprintf(w, "    %-12s %12d  %5.1f %%\n", sim.Reason(reason), n, 100*float64(n)/float64(max(r.Cycles, 1)))
		}
	}
	fmt.Fprint(w, "  caches")
	for _, name := range gpuCaches {
		if c, ok := r.Caches[name]; ok {
			fmt.Fprintf(w, "  %s %.2f %% of %d", name, 100*c.HitRate, c.Reads)
		}
	}
	_, err := fmt.Fprintf(w, "  DRAM %d bytes\n", r.DRAMBytes)
	if len(r.Dispatches) == 0 {
		r.Dispatches = []gpuDispatch{{Buffers: r.Buffers}}
	} else {
		fmt.Fprintln(w, "  dispatches: queue, start and end in us, cycles of the run, uJ")
	}
	for i, d := range r.Dispatches {
		if d.Kernel != "" {
			fmt.Fprintf(w, "    %d %s  queue %d  %.2f to %.2f  %d  %.2f\n", i, d.Kernel, d.Queue, d.StartUs, d.EndUs, d.Cycles, d.EnergyUJ)
		}
		for _, b := range d.Buffers {
			_, err = fmt.Fprintf(w, "  argument %d  %s %v  sha256 %s\n", b.Arg, b.Dtype, b.Shape, b.SHA256)
		}
	}
	return err
}
