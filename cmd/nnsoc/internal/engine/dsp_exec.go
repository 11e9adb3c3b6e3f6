package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/sim"
)

type execFlags struct {
	report  string
	limit   int64
	env     []string
	threads int
	profile measure.ProfileFlags
}

func newDSPExec(a *cli.App) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec FILE.elf|FILE.s [[--] ARG]...",
		Short: "run a static Linux program for Hexagon and report its cycles",
		Long: `exec runs a static Linux executable for Hexagon V66 with 128-byte vectors on one
thread of the DSP; a source file is assembled first, and the path - is standard input.
The program's arguments follow FILE; flags before -- are those of nnsoc, after it the
program's. Its standard output, standard error and exit code are forwarded. The report - cycles, packets, instructions
per cycle, utilization of the vector resources, cycles by reason, caches, energy -
goes to standard error, or with --report to a file; --json makes it one object.

The program may call write, exit, exit_group, brk and anonymous mmap; any other system
call ends it with an error that names the call. A program that breaks a rule ends with
an error that names the packet, and an exit code as from the signal that Linux sends:
132 illegal packet, 135 misaligned access, 139 access or jump outside memory, 152 more
packets than --max-packets, 159 system call that is not supported.

Programs read time from c15:14, the core's cycle (__builtin_readcyclecounter of clang),
c19:18, the packets of the thread, and c31:30, simulated time in ticks of 19.2 MHz.

VTCM is at 0xd8000000 of every program; the linker may place a section there.
--threads runs the program that many times at once, each on a hardware thread and in
memory of its own; output is forwarded of the first only, with the first exit
code that is not 0. The report counts the work of all; the cycles by reason are those of
the thread that ended last.`,
		Example: "  nnsoc dsp exec program.elf\n  nnsoc dsp exec kernel.s\n  nnsoc dsp exec --threads 4 kernel.s\n  nnsoc dsp exec program.elf --json -- -n 100\n  nnsoc dsp exec --json --report report.json program.elf > output",
		Args:    cli.AtLeastOne,
		RunE:    func(_ *cobra.Command, args []string) error { return dspExec(a, args, &f) },

		Annotations:       map[string]string{cli.ProgramArguments: ""},
		ValidArgsFunction: cli.CompleteFiles("elf", "s", "S"),
	}
	cmd.Flags().StringVar(&f.report, "report", "", "write the report to a file")
	cli.MarkFile(cmd.Flags(), "report")
	cmd.Flags().IntVar(&f.threads, "threads", 1, "hardware threads that run the program")
	cmd.Flags().Int64Var(&f.limit, "max-packets", dsp.DefaultMaxPackets, "end a program that runs longer")
	cmd.Flags().StringArrayVarP(&f.env, "env", "E", nil, "NAME=VALUE for the program's environment (default empty)")
	f.profile.Add(cmd.Flags())
	return cmd
}

// execReport is the JSON object of dsp exec.
type execReport struct {
	SchemaVersion int                   `json:"schema_version"`
	Program       string                `json:"program"`
	SoC           string                `json:"soc"`
	Threads       int                   `json:"threads"`
	Status        int                   `json:"exit_status"`
	Cycles        int64                 `json:"cycles"`
	ClockMHz      float64               `json:"clock_mhz"`
	TimeUs        float64               `json:"time_us"`
	Instructions  int64                 `json:"instructions"`
	Packets       int64                 `json:"packets"`
	IPC           float64               `json:"instructions_per_cycle"`
	Vector        vectorReport          `json:"hvx"`
	Stalls        map[string]int64      `json:"stall_cycles"`
	Caches        map[string]cacheStats `json:"caches"`
	DRAMBytes     int64                 `json:"dram_bytes"`
	EnergyUJ      float64               `json:"energy_uj"`

	stalls sim.StallTable
}

// vectorReport is how the HVX contexts were used. Busy is the share of the cycles,
// over all threads, in which a resource worked for some packet.
type vectorReport struct {
	Packets  int64              `json:"packets"`
	Products int64              `json:"products"`
	Busy     map[string]float64 `json:"busy_share"`
}

type cacheStats struct {
	Reads   int64   `json:"reads"`
	Misses  int64   `json:"misses"`
	HitRate float64 `json:"hit_rate"`
}

// vectorResources are the HVX resources in the order of the pipe bits, then the
// ports, then any of them.
var vectorResources = [...]string{"mpy0", "mpy1", "shift", "xlane", "load", "store", "any"}

func dspExec(a *cli.App, args []string, f *execFlags) (err error) {
	defer try.Catch(&err)
	for _, e := range f.env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return cli.Usage(fmt.Errorf("--env %q: want NAME=VALUE", e))
		}
	}
	core := try.V(openDSP(a))
	elf, lines := try.V2(readELF(args[0]))
	profile := try.V(f.profile.Open())
	defer profile.Discard()
	var prof dsp.Profile
	ps, rep := try.V2(runCopies(core, args[0], elf, f.threads, linux.Process{Args: args, Env: f.env, Stdout: a.Out, Stderr: a.Err}, dsp.Options{Profile: &prof, MaxPackets: f.limit}))
	if profile != nil {
		try.E(profileProgram(profile, core.Core, args[0], elf, ps[0].Image.Program, rep, &prof, lines))
	}
	try.E(profile.Commit())
	e := newExecReport(core.Core, f.threads, ps[0].Image.Program, rep, &prof)
	e.Program, e.SoC = args[0], core.soc.SoC.Name
	for _, p := range ps {
		e.Status = cmp.Or(e.Status, p.Status)
	}
	var text bytes.Buffer
	if a.JSON {
		err = cli.PrintJSON(&text, e)
	} else {
		err = e.print(&text)
	}
	if err == nil && f.report != "" {
		err = cli.WriteFile(f.report, text.Bytes())
	} else if err == nil {
		_, err = a.Err.Write(text.Bytes())
	}
	if err == nil && e.Status != 0 {
		err = &cli.ExitError{Code: e.Status} // the program's own; the report names it
	}
	return err
}

// profileProgram adds the costs of a program's packets. Functions are its symbols; lines gives the lines of a source by
// address.
func profileProgram(to *measure.Profile, core *dsp.Core, path string, elf []byte, program *dsp.Program, rep *sim.Report, prof *dsp.Profile, lines map[uint32]int) error {
	code, err := object.ReadELF(elf)
	if err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	var list sim.Profile
	spec := core.Spec()
	// Offsets are addresses, so that they are those of a listing.
	prof.AddTo(&list, &spec, program, rep, func(addr uint32) (string, uint32) {
		for i := range code {
			if c := &code[i]; addr >= c.Addr && addr-c.Addr < uint32(len(c.Data)) {
				if name, _, _ := strings.Cut(c.SymbolAt(addr), "+"); name != "" {
					return name, 0
				}
			}
		}
		return filepath.Base(path), 0
	})
	to.Core("dsp", &list, rep.Hz, func(int) string { return "" }, path, func(at int64) int { return lines[uint32(at)] })
	return nil
}

func newExecReport(core *dsp.Core, threads int, program *dsp.Program, rep *sim.Report, prof *dsp.Profile) *execReport {
	e := &execReport{
		SchemaVersion: cli.SchemaVersion, Threads: threads, Cycles: rep.Cycles, ClockMHz: float64(rep.Hz) / 1e6, TimeUs: rep.Time.Microseconds(), Instructions: rep.Instructions,
		Stalls: map[string]int64{}, Caches: map[string]cacheStats{}, EnergyUJ: rep.EnergyPJ / 1e6, stalls: rep.Stalls,
	}
	if e.Cycles > 0 {
		e.IPC = float64(e.Instructions) / float64(e.Cycles)
	}
	for r, n := range rep.Stalls {
		if n != 0 {
			e.Stalls[sim.Reason(r).String()] = n
		}
	}
	counters := map[string]int64{}
	for _, c := range rep.Counters {
		counters[c.Name] += c.Value
	}
	e.DRAMBytes = counters["dram_bytes"]
	for _, name := range []string{"l1i", "l1d", "l2"} {
		c := cacheStats{Reads: counters[name+"_read"], Misses: counters[name+"_read_miss"]}
		if c.Reads > 0 {
			c.HitRate = 1 - float64(c.Misses)/float64(c.Reads)
		}
		e.Caches[name] = c
	}
	e.Vector.count(core.Spec().IssueInterval, program, prof, e.Cycles*int64(e.Threads))
	for i := range prof.Packets {
		e.Packets += prof.Packets[i].Count
	}
	return e
}

// count adds up the use of the vector resources by the packets of a profile. A packet occupies a resource for one issue
// interval.
func (v *vectorReport) count(interval int, program *dsp.Program, prof *dsp.Profile, cycles int64) {
	var busy [len(vectorResources)]int64
	words := hexagon.Words(program.Code)
	for i := range prof.Packets {
		x := &prof.Packets[i]
		p, _, err := hexagon.DecodePacket(words[(x.Addr-program.Base)/4:], x.Addr)
		if err != nil {
			continue // it has run, so this does not happen
		}
		use, products := vectorUse(&p)
		for k := range busy {
			busy[k] += x.Count * int64(use>>k&1)
		}
		v.Products += x.Count * int64(products)
	}
	v.Packets = busy[len(busy)-1]
	v.Busy = map[string]float64{}
	for k, name := range vectorResources {
		v.Busy[name] = float64(busy[k]*int64(interval)) / float64(max(cycles, 1))
	}
}

// vectorUse is the set of vector resources that a packet occupies, by bit, and the number of its products.
func vectorUse(p *hexagon.Packet) (use uint8, products int) {
	pl := p.Place()
	for i := range p.Insts[:p.N] {
		f := p.Insts[i].Op.Form()
		if !f.IsHVX() {
			continue
		}
		use |= pl.Pipes[i] | 1<<6
		if f.Has(hexagon.FlagLoad) {
			use |= 1 << 4
		}
		if f.Has(hexagon.FlagStore) {
			use |= 1 << 5
		}
		products += f.Products()
	}
	return use, products
}

func (e *execReport) print(w io.Writer) error {
	fmt.Fprintf(w, "%s: exit status %d, %d cycles (%.1f us), %d packets, %d instructions, %.2f per cycle, %.2f uJ\n",
		e.Program, e.Status, e.Cycles, e.TimeUs, e.Packets, e.Instructions, e.IPC, e.EnergyUJ)
	fmt.Fprintf(w, "  on %s\n  cycles by reason\n", e.SoC)
	for r, n := range e.stalls {
		if n != 0 {
			fmt.Fprintf(w, "    %-12s %12d  %5.1f %%\n", sim.Reason(r), n, 100*float64(n)/float64(max(e.Cycles, 1)))
		}
	}
	if e.Vector.Packets > 0 {
		fmt.Fprintf(w, "  vectors: %d packets, %d products, busy", e.Vector.Packets, e.Vector.Products)
		for _, name := range vectorResources {
			fmt.Fprintf(w, "  %s %.1f %%", name, 100*e.Vector.Busy[name])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "  caches")
	for _, name := range []string{"l1i", "l1d", "l2"} {
		if c := e.Caches[name]; c.Reads > 0 {
			fmt.Fprintf(w, "  %s %.2f %% of %d", name, 100*c.HitRate, c.Reads)
		}
	}
	_, err := fmt.Fprintf(w, "  DRAM %d bytes\n", e.DRAMBytes)
	return err
}
