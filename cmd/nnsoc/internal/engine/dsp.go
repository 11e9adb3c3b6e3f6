package engine

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// NewDSP returns the command dsp with its parts.
func NewDSP(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dsp",
		Short: "run, assemble and inspect Hexagon programs",
		Example: "  nnsoc dsp asm program.s -o program.elf\n  nnsoc dsp exec program.elf\n" +
			"  nnsoc dsp disasm program.elf\n  nnsoc dsp pipeline program.elf",
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDSPExec(a), newDSPAsm(a), newDSPDisasm(a), newDSPPipeline(a))
	return cmd
}

// dspCore is the DSP of a SoC; every run of a program begins with cold caches in front of its own memory.
type dspCore struct {
	*dsp.Core
	soc *soc.Config
}

// Exec runs processes, see package linux.
func (c *dspCore) Exec(ps []*linux.Process, o dsp.Options) (*sim.Report, error) {
	var err error
	if o.Memory, _, err = c.soc.NewPath("dsp", 0); err != nil { // the core adds DSP.MemoryNs behind its L2
		return nil, err
	}
	return linux.Exec(c.Core, ps, o)
}

// openDSP is the DSP of the chosen SoC.
func openDSP(a *cli.App) (*dspCore, error) {
	c, err := machine.LoadSoC(a)
	if err != nil {
		return nil, err
	}
	spec, err := dsp.FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		return nil, cli.Usage(err)
	}
	core, err := dsp.New(spec)
	return &dspCore{core, c}, err
}

// maxInput bounds a file that engines' commands read: a program, or the data of a program's argument. Assumed, far
// above a compiler's output (D-1120).
const maxInput = 256 << 20

// readInput reads a file, or standard input where the path is -.
func readInput(path string) ([]byte, error) {
	if path == "-" {
		return cli.ReadAll("standard input", os.Stdin, maxInput)
	}
	return cli.ReadFile(path, maxInput)
}

// readELF reads an executable, or assembles one from source: a file named so, or standard input that is no ELF file.
// lines gives the line of the source by address.
func readELF(path string) (data []byte, lines map[uint32]int, err error) {
	data, err = readInput(path)
	ext := filepath.Ext(path)
	if err != nil || ext != ".s" && ext != ".S" && ext != ".asm" && (path != "-" || bytes.HasPrefix(data, []byte(elf.ELFMAG))) {
		return data, nil, err
	}
	obj, err := assembleText(path, data, asm.Options{Base: dspBase})
	if err != nil {
		return nil, nil, err
	}
	lines = map[uint32]int{}
	for i, n := range obj.Lines {
		lines[obj.Packets[i].Addr] = n
	}
	data, err = obj.ELF()
	if err != nil {
		err = cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return data, lines, err
}

// runCopies executes an ELF file on so many threads at once, each copy in its own memory. The output of the first is
// written as in like.
func runCopies(core *dspCore, path string, data []byte, threads int, like linux.Process, o dsp.Options) ([]*linux.Process, *sim.Report, error) {
	if n := core.Spec().Threads; threads < 1 || threads > n {
		return nil, nil, cli.Usage(fmt.Errorf("%d threads, the DSP has %d", threads, n))
	}
	if o.MaxPackets < 1 {
		return nil, nil, cli.Usage(fmt.Errorf("--max-packets %d: want a number above 0", o.MaxPackets))
	}
	var ps []*linux.Process
	for range threads {
		image, err := linux.LoadELF(data)
		if err != nil {
			return nil, nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
		}
		each := like
		each.Image = image
		ps = append(ps, &each)
		like.Stdout, like.Stderr = io.Discard, io.Discard
	}
	rep, err := core.Exec(ps, o)
	if err != nil {
		return nil, nil, fault(path, err)
	}
	return ps, rep, nil
}

// faultSignals are the signals by which Linux would end a faulting program; its exit code is 128 more.
var faultSignals = map[dsp.FaultKind]struct {
	name   string
	number int
}{
	dsp.FaultIllegal: {"illegal code", 4},             // SIGILL
	dsp.FaultAlign:   {"misaligned access", 7},        // SIGBUS
	dsp.FaultMemory:  {"memory fault", 11},            // SIGSEGV
	dsp.FaultJump:    {"bad jump", 11},                // SIGSEGV
	dsp.FaultLimit:   {"packet limit", 24},            // SIGXCPU
	dsp.FaultCall:    {"unsupported system call", 31}, // SIGSYS
}

// fault converts an error of a simulated program to one that is marked so and has the exit code of the signal.
func fault(path string, err error) error {
	var e *dsp.Error
	if !errors.As(err, &e) {
		return cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	s, ok := faultSignals[e.Kind]
	if !ok {
		return fmt.Errorf("%s: packet %#x: %s", path, e.Packet, e.Rule)
	}
	return &cli.ExitError{Code: 128 + s.number, Err: fmt.Errorf("%s: %s at packet %#x: %s", path, s.name, e.Packet, e.Rule)}
}
