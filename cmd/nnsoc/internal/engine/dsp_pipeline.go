package engine

import (
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/sim"
)

// maxShown bounds --packets.
const maxShown = 1 << 16

type pipelineFlags struct {
	function, address string
	packets, threads  int
	loop              bool
	limit             int64
}

func newDSPPipeline(a *cli.App) *cobra.Command {
	var f pipelineFlags
	cmd := &cobra.Command{
		Use:   "pipeline FILE.elf|FILE.s [ARG]...",
		Short: "show a program's inner loop packet by packet",
		Long: `pipeline runs a program and shows the packets of its hottest inner loop in the middle
of their work, thread by thread: the core cycle in which each was issued, the slot and the
vector pipes of every instruction, and what its thread waited for - an operand before it,
a memory access or a branch after it. Below are the cycles of one iteration and what
bounds the loop. A source file is assembled first. The program's own output is discarded.

--function and --address choose other packets, from their first execution on; with --loop
the hottest inner loop among them. --threads runs the program that many times at once, each
on a hardware thread and in memory of its own.`,
		Example: "  nnsoc dsp pipeline gemm.elf\n  nnsoc dsp pipeline kernel.s --threads 4 --packets 12\n  nnsoc dsp pipeline program.elf --function memcpy\n  nnsoc dsp pipeline program.elf --address 0x20100-0x20180 --json",
		Args:    cli.AtLeastOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("packets") && (f.packets < 1 || f.packets > maxShown) {
				return cli.Usage(fmt.Errorf("--packets %d: want 1 to %d", f.packets, maxShown))
			}
			return dspPipeline(a, args, &f)
		},

		ValidArgsFunction: cli.CompleteFiles("elf", "s", "S"),
	}
	fl := cmd.Flags()
	fl.StringVar(&f.function, "function", "", "show this function")
	fl.StringVar(&f.address, "address", "", "show the packets in [LO,HI), as LO-HI")
	fl.BoolVar(&f.loop, "loop", false, "with --function or --address: the hottest inner loop there")
	fl.IntVar(&f.packets, "packets", 0, "packets to show of every thread (default: two iterations, at most 32)")
	fl.IntVar(&f.threads, "threads", 1, "hardware threads that run the program")
	fl.Int64Var(&f.limit, "max-packets", dsp.DefaultMaxPackets, "end a program that runs longer")
	return cmd
}

// pipelineReport is the JSON object of dsp pipeline.
type pipelineReport struct {
	SchemaVersion int             `json:"schema_version"`
	Program       string          `json:"program"`
	Threads       int             `json:"threads"`
	Cycles        int64           `json:"cycles"`
	Lo            uint32          `json:"start_addr"`
	Hi            uint32          `json:"end_addr"`
	Symbol        string          `json:"symbol,omitempty"`
	Loop          bool            `json:"loop"`
	Summary       pipelineSummary `json:"summary"`
	Packets       []issuedPacket  `json:"issued_packets"`
}

// pipelineSummary is about all executions of the packets shown, on all threads.
type pipelineSummary struct {
	Iterations          int64              `json:"iterations,omitempty"`
	PacketsPerIteration float64            `json:"packets_per_iteration,omitempty"`
	CyclesPerIteration  float64            `json:"cycles_per_iteration,omitempty"`
	Packets             int64              `json:"packets"`
	Instructions        int64              `json:"instructions"`
	Share               float64            `json:"cycle_share"`
	Products            int64              `json:"products"`
	ProductsPerPacket   float64            `json:"products_per_packet"`
	ProductsPerCycle    float64            `json:"products_per_thread_cycle"`
	Busy                map[string]float64 `json:"busy_share"`
	Cycles              map[string]int64   `json:"thread_cycles"`
	BoundBy             string             `json:"bound_by"`

	stalls sim.StallTable
}

type issuedPacket struct {
	Thread       int          `json:"thread"`
	Addr         uint32       `json:"addr"`
	Issue        int64        `json:"issue_cycle"`
	Instructions []issuedInst `json:"slots"`
	Waits        []issuedWait `json:"waits"`
}

type issuedInst struct {
	Slot  uint8    `json:"slot"`
	Units []string `json:"units"`
	Text  string   `json:"text"`
}

// issuedWait is a wait of the packet's thread, before the packet or after it.
type issuedWait struct {
	When   string `json:"position"`
	Reason string `json:"reason"`
	Cycles int64  `json:"cycles"`
	For    string `json:"waits_for,omitempty"`
}

// program is a program to run several times.
type program struct {
	path string
	elf  []byte
	code []object.Code
}

func readProgram(path string) (*program, error) {
	p := &program{path: path}
	var err error
	if p.elf, _, err = readELF(path); err != nil {
		return nil, err
	}
	if p.code, err = object.ReadELF(p.elf); err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}

func dspPipeline(a *cli.App, args []string, f *pipelineFlags) (err error) {
	defer try.Catch(&err)
	core := try.V(openDSP(a))
	p := try.V(readProgram(args[0]))
	var prof dsp.Profile
	copies := func(o dsp.Options) ([]*linux.Process, *sim.Report, error) {
		o.MaxPackets = f.limit
		return runCopies(core, p.path, p.elf, f.threads, linux.Process{Args: args, Stdout: io.Discard, Stderr: io.Discard}, o)
	}
	ps, rep := try.V2(copies(dsp.Options{Profile: &prof}))
	code := ps[0].Image.Program
	packets := ranPackets(code, &prof)
	where, loop := try.V2(p.choose(code, packets, f))
	r := &pipelineReport{SchemaVersion: cli.SchemaVersion, Program: p.path, Threads: f.threads, Cycles: rep.Cycles, Lo: where.lo, Hi: where.hi,
		Symbol: p.symbol(where.lo), Loop: loop, Packets: []issuedPacket{}}
	var shown []ranPacket
	for _, x := range packets {
		if x.Addr >= where.lo && x.Addr < where.hi {
			shown = append(shown, x)
		}
	}
	if len(shown) == 0 {
		return cli.Usage(fmt.Errorf("%s: no packet in [%#x,%#x) has run", p.path, where.lo, where.hi))
	}
	r.Summary.sum(core.Spec().IssueInterval, packets, shown, where, loop)
	rec := &dsp.Recorder{Lo: where.lo, Hi: where.hi, Max: f.packets}
	if rec.Max == 0 {
		rec.Max = min(2*len(shown), 32)
	}
	if loop { // the middle of a thread's executions there
		rec.Skip = shown[0].cost.Count / int64(f.threads) / 2
	}
	try.V2(copies(dsp.Options{Record: rec}))
	r.issued(rec, shown)
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.print(a.Out)
}

// choose is the range of packets to show, and whether it is a loop.
func (p *program) choose(code *dsp.Program, packets []ranPacket, f *pipelineFlags) (codeRange, bool, error) {
	all := codeRange{lo: code.Base, hi: code.Base + uint32(len(code.Code))}
	if f.function != "" && f.address != "" {
		return all, false, cli.Usage(fmt.Errorf("--function and --address exclude each other"))
	}
	where := all
	switch {
	case f.function != "":
		r, err := p.function(f.function)
		if err != nil {
			return all, false, err
		}
		where = r
	case f.address != "":
		lo, hi, ok := strings.Cut(f.address, "-")
		a, errA := strconv.ParseUint(lo, 0, 32)
		b, errB := strconv.ParseUint(hi, 0, 32)
		if !ok || errA != nil || errB != nil || a >= b {
			return all, false, cli.Usage(fmt.Errorf("address range %q: want LO-HI", f.address))
		}
		where = codeRange{lo: uint32(a), hi: uint32(b)}
	}
	if f.function == "" && f.address == "" || f.loop {
		if loops := innerLoops(packets, where); len(loops) > 0 {
			return loops[0], true, nil
		}
		if f.loop {
			return all, false, cli.Usage(fmt.Errorf("%s: no loop has run there", p.path))
		}
	}
	return where, false, nil
}

// function is the range from a symbol to the next.
func (p *program) function(name string) (codeRange, error) {
	var names []string
	for i := range p.code {
		c := &p.code[i]
		for k, s := range c.Symbols {
			names = append(names, s.Name)
			if s.Name != name {
				continue
			}
			r := codeRange{lo: s.Addr, hi: c.Addr + uint32(len(c.Data))}
			for _, n := range c.Symbols[k+1:] {
				if n.Addr > s.Addr {
					r.hi = n.Addr
					break
				}
			}
			return r, nil
		}
	}
	sort.Strings(names)
	return codeRange{}, cli.Usage(fmt.Errorf("%s: no function %q; there are %s", p.path, name, strings.Join(names, ", ")))
}

// symbol is the name of an address.
func (p *program) symbol(addr uint32) string {
	for i := range p.code {
		if c := &p.code[i]; addr-c.Addr < uint32(len(c.Data)) {
			return c.SymbolAt(addr)
		}
	}
	return ""
}

// sum fills the summary from the profile.
func (s *pipelineSummary) sum(interval int, all, shown []ranPacket, where codeRange, loop bool) {
	total := int64(0)
	for i := range all {
		total += all[i].cost.Stalls.Total()
	}
	var busy [len(vectorResources)]int64
	for i := range shown {
		x := &shown[i]
		use, products := vectorUse(&x.Packet)
		for k := range busy {
			busy[k] += x.cost.Count * int64(use>>k&1)
		}
		s.Packets += x.cost.Count
		s.Instructions += x.cost.Count * int64(x.N)
		s.Products += x.cost.Count * int64(products)
		s.stalls.Add(&x.cost.Stalls)
	}
	cycles := float64(max(s.stalls.Total(), 1))
	s.Share = cycles / float64(max(total, 1))
	s.ProductsPerPacket, s.ProductsPerCycle = float64(s.Products)/float64(max(s.Packets, 1)), float64(s.Products)/cycles
	s.Busy, s.Cycles = map[string]float64{}, map[string]int64{}
	for k, name := range vectorResources {
		s.Busy[name] = float64(busy[k]*int64(interval)) / cycles
	}
	for reason, n := range s.stalls {
		if n != 0 {
			s.Cycles[sim.Reason(reason).String()] = n
		}
	}
	s.BoundBy = s.stalls.Largest().String()
	if loop {
		s.Iterations = where.count
		s.PacketsPerIteration = float64(s.Packets) / float64(max(where.count, 1))
		s.CyclesPerIteration = cycles / float64(max(where.count, 1))
	}
}

// pipeNames are the vector pipes by bit.
var pipeNames = [...]string{"MPY0", "MPY1", "SHIFT", "XLANE"}

// issued converts the recorded events to packets of the report.
func (r *pipelineReport) issued(rec *dsp.Recorder, shown []ranPacket) {
	at := map[uint32]*hexagon.Packet{}
	for i := range shown {
		at[shown[i].Addr] = &shown[i].Packet
	}
	for _, e := range rec.Events {
		p := at[e.Addr]
		if p == nil {
			continue
		}
		out := issuedPacket{Thread: e.Thread, Addr: e.Addr, Issue: e.Issue, Waits: []issuedWait{}}
		pl := p.Place()
		for i := range p.Insts[:p.N] {
			in := &p.Insts[i]
			out.Instructions = append(out.Instructions, issuedInst{Slot: pl.Slot[i], Units: instUnits(in, pl.Pipes[i]), Text: in.Text(p.Addr)})
		}
		wait := func(when, reason string, cycles int64, what string) {
			if cycles > 0 {
				out.Waits = append(out.Waits, issuedWait{when, reason, cycles, what})
			}
		}
		wait("before", sim.StallFetch.String(), e.Fetch, "")
		wait("before", sim.StallIssue.String(), e.Vectors, "vectors")
		wait("before", sim.StallOperand.String(), e.Operand, e.Register)
		for _, w := range e.Waits {
			what := ""
			if w.Addr != 0 {
				what = fmt.Sprintf("%#x", w.Addr)
			}
			wait("after", w.Reason.String(), w.Cycles, what)
		}
		wait("after", sim.StallBranch.String(), e.Branch, "")
		r.Packets = append(r.Packets, out)
	}
	sort.SliceStable(r.Packets, func(i, j int) bool { return r.Packets[i].Issue < r.Packets[j].Issue })
}

// scalarUnits are the units of scalar instructions, named as in the manual.
var scalarUnits = map[hexagon.Class]string{
	hexagon.ALU32: "ALU32", hexagon.ALU64: "XTYPE", hexagon.SOP: "XTYPE", hexagon.MPY: "XTYPE",
	hexagon.JUMP: "J", hexagon.NCJ: "J", hexagon.CJ: "ALU32+J", hexagon.CR: "CR",
}

// instUnits are the units that an instruction occupies: its scalar unit or vector pipes, and memory ports.
func instUnits(in *hexagon.Inst, pipes uint8) []string {
	units := []string{}
	for k, name := range pipeNames {
		if pipes>>k&1 != 0 {
			units = append(units, name)
		}
	}
	f := in.Op.Form()
	if name := scalarUnits[f.Class]; name != "" {
		units = append(units, name)
	}
	if f.Has(hexagon.FlagLoad) {
		units = append(units, "LD")
	}
	if f.Has(hexagon.FlagStore) {
		units = append(units, "ST")
	}
	return units
}
