package measure

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/bench/pprof"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim"
)

// ProfileFlags are the file of a profile and the value that it counts first.
type ProfileFlags struct {
	File  string
	value string
}

// Add adds the flags.
func (f *ProfileFlags) Add(fl *pflag.FlagSet) {
	fl.StringVar(&f.File, "profile", "", `write where cycles and energy went, down to the instruction, to this file: folded stacks if it ends with .folded, else what "go tool pprof" opens`)
	cli.MarkFile(fl, "profile")
	fl.StringVar(&f.value, "profile-value", "", "what --profile counts, or shows first: cycles, time, energy or executions (default cycles)")
}

// Profile is the profile of a command; nil without one.
type Profile struct {
	*pprof.Recorder
	file  *cli.File
	value pprof.Value
}

// foldedEnding ends the name of a file of folded stacks.
const foldedEnding = ".folded"

// Open begins the file.
func (f *ProfileFlags) Open() (*Profile, error) {
	if f.File == "" {
		if f.value != "" {
			return nil, cli.Usage(fmt.Errorf("--profile-value does nothing without --profile"))
		}
		return nil, nil
	}
	p := &Profile{Recorder: pprof.NewRecorder()}
	if f.value != "" {
		var err error
		if p.value, err = pprof.ParseValue(f.value); err != nil {
			return nil, cli.Usage(fmt.Errorf("--profile-value: %w", err))
		}
	}
	var err error
	p.file, err = cli.CreateFile(f.File)
	return p, err
}

// Commit writes the file and puts it in its place.
func (p *Profile) Commit() error {
	if p == nil {
		return nil
	}
	if p.Len() == 0 {
		return cli.Usage(fmt.Errorf("--profile %s: nothing was profiled, no device ran the network", p.file.Path))
	}
	var err error
	if strings.HasSuffix(p.file.Path, foldedEnding) {
		err = p.WriteFolded(p.file, p.value)
	} else {
		err = p.Write(p.file, p.value)
	}
	if err != nil {
		return err // Discard does the rest
	}
	f := p.file
	p.file = nil
	return f.Commit(0o644)
}

// Discard removes an uncommitted profile.
func (p *Profile) Discard() {
	if p != nil && p.file != nil {
		p.file.Discard()
	}
}

// Of profiles a run of a name, which distinguishes devices when it is on several.
func (p *Profile) Of(run string) nnrt.Profiler { return &profiler{p, run} }

// profiler implements nnrt.Profiler.
type profiler struct {
	*Profile
	run string
}

// Sample implements nnrt.Profiler.
func (p *profiler) Sample(device string, s *hal.Sample, op *nnrt.OperationCost) {
	x := pprof.Sample{Device: device, Operation: op.Name(), Program: s.Program, At: s.At, Text: s.Text, Count: s.Count, EnergyPJ: s.EnergyPJ}
	if device != p.run {
		x.Device = p.run + ": " + device
	}
	if op.Index >= 0 {
		x.Operation = fmt.Sprintf("%d %s", op.Index, op.Name())
	}
	if op.Cycles > 0 {
		x.FsPerCycle = float64(op.TimeFs) / float64(op.Cycles)
	}
	for _, c := range s.Stalls {
		x.Cycles = append(x.Cycles, pprof.Stall(c))
	}
	p.Add(&x)
}

// Core adds the samples of a core that ran without NNAPI. line returns the source line of an offset of a program, 0
// none; nil: there is no source.
func (p *Profile) Core(device string, list *sim.Profile, hz int64, operation func(region int) string, file string, line func(at int64) int) {
	for i := range list.Samples {
		s := &list.Samples[i]
		x := pprof.Sample{Device: device, Operation: operation(s.Region), Program: s.Program, At: s.At, Text: s.Text, Count: s.Count,
			FsPerCycle: float64(sim.Second) / float64(max(hz, 1)), EnergyPJ: s.EnergyPJ}
		if line != nil && s.At >= 0 {
			if n := line(s.At); n > 0 {
				x.File, x.Line = file, n
			}
		}
		for why, n := range s.Stalls {
			if n > 0 {
				x.Cycles = append(x.Cycles, pprof.Stall{Reason: sim.Reason(why).String(), Cycles: n})
			}
		}
		p.Add(&x)
	}
}
