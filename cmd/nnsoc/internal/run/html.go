package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/workbench"
	"github.com/nnsoc/nnsoc/importer/tensor"
)

// page is the report to look at.
func (r *report) page(name string) (*htmlreport.Page, error) {
	var b bytes.Buffer
	if err := cli.PrintJSON(&b, r.object()); err != nil {
		return nil, err
	}
	p := &htmlreport.Page{Title: name, Names: []string{name}, Files: []json.RawMessage{b.Bytes()}}
	if r.drawn != nil {
		p.Timelines = append(p.Timelines, r.drawn.Timeline())
	}
	return p, nil
}

// writeHTML writes a page to a file.
func writeHTML(path string, p *htmlreport.Page) error {
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		return err
	}
	return cli.WriteFile(path, b.Bytes())
}

// NewReport returns the command report.
func NewReport(a *cli.App) *cobra.Command {
	f := runFlags{Flags: input.Flags{Norm: tensor.DefaultNormalization}}
	advice := 3
	cmd := &cobra.Command{
		Use:   "report [MODEL|RUN.json]...",
		Short: "write a page to look at: timeline, network, operations, roofline, stalls",
		Long: `report runs networks, as "nnsoc run" does, and writes one self-contained HTML file:
the answer in sentences, changes that would save time (simulated), devices, timeline, the network coloured by device, time, energy or stall, operations
that sort and filter, roofline of each engine, stalls, memory, clocks and temperatures, why
operations run where they do, differences to the reference. Of files that "nnsoc run
--json" wrote it draws all but the timeline; of two of them, of the same network on
two SoCs or before and after a change, it shows what changed by operation.`,
		Example: `  nnsoc report mobilenet_v1_0.25_128_quant --device npu,dsp -o out.html
  nnsoc report before.json after.json -o changes.html`,
		Args:              func(_ *cobra.Command, args []string) error { return cli.Usage(cli.Distinct(args)) },
		ValidArgsFunction: input.CompleteModels,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.html == "" {
				return cli.Usage(errors.New("no file to write: give --output"))
			}
			if advice < 0 || advice > maxAdvice {
				return cli.Usage(fmt.Errorf("--advice %d, want 0 to %d", advice, maxAdvice))
			}
			if len(args) > maxReports {
				return cli.Usage(fmt.Errorf("%d networks, at most %d", len(args), maxReports))
			}
			if len(args) > 0 && !slices.ContainsFunc(args, func(s string) bool { return !isRun(s) }) {
				if names := runFlagsOf(cmd); len(names) > 0 {
					return cli.Usage(fmt.Errorf("--%s does nothing with files of runs alone", names[0]))
				}
			}
			return makeReport(a, &f, args, advice)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.html, "output", "o", "", "file to write")
	cli.MarkFile(fl, "output")
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "devices to run on: names of the SoC's devices, auto: a plan by prediction, or aosp: divided by Android's rule (default: all)")
	fl.StringVar(&f.preference, "preference", "fast", "execution preference: fast, sustained or low-power")
	fl.IntVar(&advice, "advice", advice, "changes with the largest predicted gains to simulate, as nnsoc advise does, for the fastest device")
	f.pace.Add(fl)
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Plans...)
	return cmd
}

// maxAdvice bounds the changes of a page.
const maxAdvice = 100

// advice simulates changes that would make the fastest run of a report faster: of one network on one engine, from which
// they are derived.
func (r *report) advice(a *cli.App, f *runFlags, named []string, top int) ([]*htmlreport.Advice, error) {
	best := r.data.Fastest()
	if top == 0 || best == nil || session.Divides(best.Device) || best.Outside != "" || best.Model != "" || len(named) == 0 {
		return []*htmlreport.Advice{nil}, nil
	}
	x, err := workbench.Best(a, f.preference, f.pace, named[0], best.Device, top)
	return []*htmlreport.Advice{x}, err
}

// isRun reports whether an argument of report is a file that "run --json" wrote: one of that suffix that holds no test
// cases, whose network is a MODEL.
func isRun(name string) bool {
	if !strings.HasSuffix(name, ".json") {
		return false
	}
	_, err := input.ReadSpec(name)
	return err != nil
}

// runFlagsOf are the given flags of a command that concern what it runs.
func runFlagsOf(cmd *cobra.Command) (names []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"output", "json", "quiet", "verbose"}, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// maxReports bounds the networks of a page.
const maxReports = 16

// makeReport reads files of runs, runs networks, and writes the page of all.
func makeReport(a *cli.App, f *runFlags, args []string, advice int) error {
	all := &htmlreport.Page{}
	var bad error
	list := [][]string{nil} // the default network
	if len(args) > 0 {
		list = slices.Collect(slices.Chunk(args, 1))
	}
	for _, named := range list {
		var p *htmlreport.Page
		var err error
		if len(named) > 0 && isRun(named[0]) {
			p, err = readPage(named[0])
		} else {
			var r *report
			if r, err = collect(a, f, named); err == nil {
				if e := r.verdict(); e != nil {
					bad = e
				}
				if p, err = r.page(r.data.Model); err == nil {
					p.Advice, err = r.advice(a, f, named, advice)
				}
			}
		}
		if err != nil {
			return err
		}
		all.Names, all.Files = append(all.Names, p.Names...), append(all.Files, p.Files...)
		all.Timelines, all.Advice = append(all.Timelines, p.Timelines...), append(all.Advice, p.Advice...)
	}
	all.Title = strings.Join(all.Names, ", ")
	if err := writeHTML(f.html, all); err != nil {
		return err
	}
	if a.JSON {
		if err := cli.PrintJSON(a.Out, writtenPage{cli.SchemaVersion, f.html, all.Names}); err != nil {
			return err
		}
	}
	return bad
}

// writtenPage is the JSON object of report.
type writtenPage struct {
	SchemaVersion int      `json:"schema_version"`
	File          string   `json:"file"`
	Networks      []string `json:"model_names"` // names, or files of runs
}

// readPage reads a file of "run --json".
func readPage(path string) (*htmlreport.Page, error) {
	data, err := input.ReadModelFile(path)
	if err != nil {
		return nil, err
	}
	if _, err := htmlreport.Read(path, bytes.NewReader(data)); err != nil {
		return nil, cli.Usage(err)
	}
	return &htmlreport.Page{Names: []string{path}, Files: []json.RawMessage{data}, Timelines: []*htmlreport.Timeline{nil}, Advice: []*htmlreport.Advice{nil}}, nil
}
