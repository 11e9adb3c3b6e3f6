package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/pprof"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/internal/mapped"
	"github.com/nnsoc/nnsoc/internal/try"
)

// TraceSummary is the JSON object of trace-summary.
type TraceSummary struct {
	SchemaVersion int         `json:"schema_version"`
	File          string      `json:"file"`
	Marks         int         `json:"marks"`
	TotalUs       float64     `json:"total_us"`
	Overlaps      int         `json:"overlaps"`
	Cells         []traceCell `json:"cells"`
	Warnings      []string    `json:"warnings"`
}

type traceCell struct {
	Layer string  `json:"layer"`
	Phase string  `json:"phase"`
	Us    float64 `json:"time_us"`
	Count int     `json:"slices"`
}

// NewTraceSummary returns the command trace-summary.
func NewTraceSummary(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "trace-summary FILE",
		Short: "add up the time of each layer of NNAPI in each phase of a trace, or a profile",
		Long: `trace-summary reads a trace of an Android device (atrace text, the HTML of systrace, or
Perfetto's format), Chrome trace events (.json) or a trace of "nnsoc run --trace", finds
the marks of NNAPI - slices with names like [NN_LR_PE]compute: layer LR, phase PE - and
prints the time that each layer spent by itself in each phase. The driver's time is subtracted from that of the IPC that waits for it.
Inconsistent marks cause a warning.
Of a profile of "nnsoc run --profile" it sums operations, programs, reasons and instructions.`,
		Example: "  nnsoc trace-summary systrace.html\n  nnsoc run --device dsp --trace dsp.pftrace && nnsoc trace-summary dsp.pftrace --json\n  nnsoc run --device gpu --profile gpu.pb.gz && nnsoc trace-summary gpu.pb.gz",
		Args:    cli.ExactlyOne,
		RunE: func(_ *cobra.Command, args []string) error {
			begin, done, err := openTrace(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			defer done()
			p, notProfile := pprof.Read(begin())
			if notProfile == nil {
				s, err := pprof.Summarize(p, pprof.Time)
				if err != nil {
					return cli.Usage(fmt.Errorf("%s: %w", args[0], err))
				}
				return printProfileSummary(a, args[0], s)
			}
			events, err := nntrace.Read(begin())
			if err != nil && !errors.Is(notProfile, pprof.ErrFormat) {
				err = notProfile
			}
			if err != nil {
				return cli.Usage(fmt.Errorf("%s: %w", args[0], err))
			}
			s := nntrace.Summarize(events)
			if s.Marks == 0 {
				return cli.Usage(fmt.Errorf("%s: no slice is named [NN_<layer>_<phase>]", args[0]))
			}
			if a.JSON {
				r := TraceSummary{SchemaVersion: cli.SchemaVersion, File: args[0], Marks: s.Marks, TotalUs: s.TotalUs, Overlaps: s.Overlaps, Warnings: slices.Concat([]string{}, s.Warnings)}
				for _, c := range s.Cells {
					r.Cells = append(r.Cells, traceCell{string(c.Layer), string(c.Phase), c.Us, c.Count})
				}
				return cli.PrintJSON(a.Out, r)
			}
			return printTraceSummary(a, s)
		},
	}
}

// maxPiped bounds the data of a pipe, which is held in memory.
const maxPiped = 1 << 30

// openTrace opens a trace or profile to be read from its beginning, more than once. Files
// may be larger than memory.
func openTrace(path string) (begin func() io.Reader, done func(), err error) {
	defer try.Catch(&err)
	info := try.V(os.Stat(path))
	if info.Mode().IsRegular() {
		m := try.V(mapped.Open(path))
		return m.Reader, func() { _ = m.Close() }, nil
	}
	data := try.V(cli.ReadFile(path, maxPiped))
	return func() io.Reader { return bytes.NewReader(data) }, func() {}, nil
}

func printTraceSummary(a *cli.App, s *nntrace.Summary) error {
	w := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	var phases []nntrace.Phase
	for _, p := range nntrace.Phases() {
		if slices.ContainsFunc(s.Cells, func(c nntrace.Cell) bool { return c.Phase == p }) {
			phases = append(phases, p)
		}
	}
	fmt.Fprint(w, "us\t")
	for _, p := range phases {
		fmt.Fprintf(w, "%s\t", p)
	}
	fmt.Fprintln(w, "total\t")
	for _, l := range nntrace.Layers() {
		total, there := 0.0, false
		line := string(l) + "\t"
		for _, p := range phases {
			i := slices.IndexFunc(s.Cells, func(c nntrace.Cell) bool { return c.Layer == l && c.Phase == p })
			if i < 0 {
				line += "-\t"
				continue
			}
			there = true
			total += s.Cells[i].Us
			line += fmt.Sprintf("%.1f\t", s.Cells[i].Us)
		}
		if there {
			fmt.Fprintf(w, "%s%.1f\t\n", line, total)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%d marks, %d inside one of the same layer and phase\n", s.Marks, s.Overlaps)
	for _, x := range s.Warnings {
		fmt.Fprintf(a.Out, "warning: %s\n", x)
	}
	return nil
}
