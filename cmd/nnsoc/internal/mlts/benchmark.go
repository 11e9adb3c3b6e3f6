package mlts

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/bench/mlts/page"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
)

// New returns the command mlts with its parts.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "mlts",
		Short:   "run the ML Test Suite: Android's benchmark and crash tests for NNAPI drivers",
		Example: "  nnsoc mlts list\n  nnsoc mlts benchmark --short\n  nnsoc mlts crash --scale 0.01",
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchmark(a), newList(a), newCrash(a), newCrashWorker(a))
	return cmd
}

// modelFlags choose models.
type modelFlags struct {
	names []string
	data  string
}

func (f *modelFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().Var(cli.NameList{Names: &f.names, Once: true}, "models", "a models list of AOSP (.json), or names of models and networks (default: "+what+")")
	cmd.Flags().StringVar(&f.data, "data", "", "folder of the files that the list names (default: beside the list)")
}

// list reads the list that the flags name.
func (f *modelFlags) list(names []string) (*mlts.List, error) {
	if len(f.names) > 0 {
		names = f.names
	}
	isFile := func(name string) bool { return strings.HasSuffix(name, ".json") }
	switch {
	case !slices.ContainsFunc(names, isFile):
		if f.data != "" {
			return nil, cli.Usage(fmt.Errorf("--data does nothing without a models list (--models LIST.json)"))
		}
		l, err := mlts.Named(names)
		return l, cli.Usage(err)
	case len(names) > 1:
		return nil, cli.Usage(fmt.Errorf("--models: a list stands alone, not beside %d other names", len(names)-1))
	}
	var dirs []string
	if f.data != "" {
		dirs = []string{f.data}
	}
	l, err := mlts.ReadList(names[0], dirs...)
	return l, cli.Usage(err)
}

// benchmarkFlags are the flags of mlts benchmark.
type benchmarkFlags struct {
	modelFlags
	devices  []string
	short    bool
	csv      string
	html     string
	hostTime bool
}

func newBenchmark(a *cli.App) *cobra.Command {
	var f benchmarkFlags
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "measure latency and accuracy of each model on each backend",
		Long: `benchmark does what Android's benchmark app for NNAPI does: it runs each model of a list
on TFLite_CPU (the baseline), on TFLite_NNAPI (the devices that the runtime chooses), on
TFLite_NNAPI_NAME for each accelerator and on TFLite_GPU, warms up for 2 s and measures for
10 s of the phone's time (0.3 s and 1 s with --short), and judges the outputs. Without
--models it runs one small model of each kind, with synthetic weights and inputs; the
expected outputs are those of the reference CPU.

--csv writes the app's own result file. Its first line has the time of day; where
SOURCE_DATE_EPOCH is set, that time. A model without a baseline has no lines there.`,
		Example: "  nnsoc mlts benchmark --short\n  nnsoc mlts benchmark --models mobilenet_v1_1.0_224_quant_topk_aosp,tts_float --device npu,dsp --csv result.csv\n  nnsoc mlts benchmark --models models_list/speech.json --json",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return benchmark(a, &f) },
	}
	f.add(cmd, strings.Join(mlts.Short, ", "))
	fl := cmd.Flags()
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "accelerators for TFLite_NNAPI_NAME (default: all)")
	fl.BoolVar(&f.short, "short", false, "the short form of the loops: 0.3 s of warm-up and 1 s")
	fl.StringVar(&f.csv, "csv", "", "write the result file of the app")
	cli.MarkFile(fl, "csv")
	fl.StringVar(&f.html, "html", "", "write a page of the results: one file, readable without network")
	cli.MarkFile(fl, "html")
	fl.BoolVar(&f.hostTime, "host-time", false, "add the host time of the simulation")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd)
	return cmd
}

// benchmarkReport is the JSON object of mlts benchmark.
type benchmarkReport struct {
	SchemaVersion int            `json:"schema_version"`
	SoC           string         `json:"soc"`
	Build         string         `json:"build"`
	WarmUpSec     float64        `json:"warm_up_s"`
	RunSec        float64        `json:"run_s"`
	Results       []*mlts.Result `json:"results"`
}

func benchmark(a *cli.App, f *benchmarkFlags) (err error) {
	defer try.Catch(&err)
	list := try.V(f.list(mlts.Short))
	at := try.V(timeOfDay())
	m := try.V(machine.OpenLive(a, hal.FastSingleAnswer))
	accelerators := try.V(chosen(m, f.devices))
	files := make([]*cli.File, 2)
	for i, path := range []string{f.csv, f.html} {
		if path == "" {
			continue
		}
		files[i] = try.V(cli.CreateFile(path))
		defer files[i].Discard()
	}
	progress := a.Progress()
	defer progress.Done()
	b := &mlts.Benchmark{List: list, Registry: m.Registry, Machine: m.Live, Span: mlts.Long, Accelerators: accelerators, Progress: progress.Update}
	if f.short {
		b.Span = mlts.ShortSpan
	}
	if slices.ContainsFunc(m.Registry.Devices(), func(d hal.Device) bool { return d.Name() == "gpu" }) {
		b.GPU = "gpu"
	}
	results := try.V(b.Run())
	progress.Done()
	if !f.hostTime {
		for _, r := range results {
			r.HostSec = 0
		}
	}
	r := &benchmarkReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Build: "nnsoc " + m.Config.SoC.Name,
		WarmUpSec: b.Span.WarmUp.Seconds(), RunSec: b.Span.Run.Seconds(), Results: results}
	writers := []func(io.Writer) error{
		func(w io.Writer) error { return mlts.WriteCSV(w, at, r.Build, results) },
		func(w io.Writer) error {
			return page.Write(w, page.About{SoC: r.SoC, Build: r.Build, At: at, WarmUp: r.WarmUpSec, Run: r.RunSec}, results)
		},
	}
	for i, file := range files {
		if file == nil {
			continue
		}
		try.E(writers[i](file))
		try.E(file.Commit(0o644))
	}
	if a.JSON {
		err = cli.PrintJSON(a.Out, r)
	} else {
		err = r.text(a.Out, f.hostTime)
	}
	if err != nil {
		return err
	}
	return r.verdict()
}

// chosen are the accelerators of a machine that names choose; none choose all.
func chosen(m *machine.Machine, names []string) ([]string, error) {
	var all []string
	for _, d := range m.Registry.Devices()[1:] {
		all = append(all, d.Name())
	}
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if name == m.Registry.CPU().Name() || session.Divides(name) {
			return nil, cli.Usage(fmt.Errorf("--device %s: TFLite_CPU and TFLite_NNAPI are always measured; accelerators are %s", name, strings.Join(all, ", ")))
		}
	}
	return m.Choose(names)
}

// timeOfDay is the present time, or that of SOURCE_DATE_EPOCH.
func timeOfDay() (time.Time, error) {
	text, set := os.LookupEnv("SOURCE_DATE_EPOCH")
	if !set || text == "" {
		return time.Now(), nil
	}
	s, err := strconv.ParseInt(text, 10, 64)
	if err != nil || s < 0 || s > 1<<36 {
		return time.Time{}, cli.Usage(fmt.Errorf("SOURCE_DATE_EPOCH=%s, want seconds since 1970", text))
	}
	return time.Unix(s, 0).UTC(), nil
}

// verdict is the exit code: a wrong result or one that fails its validation, and where
// nothing was measured the first reason.
func (r *benchmarkReport) verdict() error {
	bad := 0
	if !slices.ContainsFunc(r.Results, func(x *mlts.Result) bool { return x.Inference != nil || x.Failed != "" }) && len(r.Results) > 0 {
		return cli.Usage(fmt.Errorf("nothing was measured: %s: %s", r.Results[0].Model, r.Results[0].Skipped))
	}
	for _, x := range r.Results {
		if x.Failed != "" || len(x.ValidationErrors) > 0 {
			bad++
		}
	}
	if bad > 0 {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d results failed", bad, len(r.Results))}
	}
	return nil
}

func (r *benchmarkReport) text(out io.Writer, hostTime bool) error {
	fmt.Fprintf(out, "ML Test Suite on %s, %g s after %g s of warm-up, simulated\n", r.SoC, r.RunSec, r.WarmUpSec)
	model := ""
	var t *tabwriter.Writer
	var base *mlts.Latency
	var notes []string
	flush := func() error {
		if t == nil {
			return nil
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for _, n := range notes {
			fmt.Fprintln(out, n)
		}
		notes = nil
		return nil
	}
	for _, x := range r.Results {
		if x.Model != model {
			if err := flush(); err != nil {
				return err
			}
			fmt.Fprintf(out, "\n%s: %d inputs\n", x.Model, x.TestSetSize)
			model, base = x.Model, nil
			t = tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprint(t, "backend\titerations\tmean ms\tstd ms\tvs CPU\tenergy uJ\tmax error\taccuracy\t")
			if hostTime {
				fmt.Fprint(t, "host s\t")
			}
			fmt.Fprintln(t)
		}
		if x.Inference == nil {
			notes = append(notes, fmt.Sprintf("%s: %s", x.Backend, reason(x)))
			continue
		}
		l := x.Inference
		against := "-"
		if x.Backend == mlts.BackendCPU {
			base = l
		} else if base != nil {
			against = fmt.Sprintf("%+.1f %%", 100*(l.MeanSec/base.MeanSec-1))
		}
		fmt.Fprintf(t, "%s\t%d\t%.3f\t%.3f\t%s\t%.1f\t%.4g\t%s\t", x.Backend, l.Iterations, 1e3*l.MeanSec, 1e3*l.StdSec, against, x.EnergyUJ, x.MaxSingleError, accuracy(x))
		if hostTime {
			fmt.Fprintf(t, "%.2f\t", x.HostSec)
		}
		fmt.Fprintln(t)
		for _, engine := range slices.Sorted(maps.Keys(x.ClocksMHz)) {
			notes = append(notes, fmt.Sprintf("%s: the governor of the %s leaves its clock at %g MHz", x.Backend, engine, x.ClocksMHz[engine]))
		}
		for _, e := range x.ValidationErrors {
			notes = append(notes, fmt.Sprintf("%s: FAILED: %s", x.Backend, e))
		}
	}
	return flush()
}

// reason is why there is no measurement.
func reason(x *mlts.Result) string {
	if x.Failed != "" {
		return "FAILED: " + x.Failed
	}
	return "skipped: " + x.Skipped
}

// accuracy is the evaluator's result, the first and last of a series.
func accuracy(x *mlts.Result) string {
	var l []string
	for _, v := range x.Values {
		if v.Key != "top_2" && v.Key != "top_3" && v.Key != "top_4" {
			l = append(l, fmt.Sprintf("%s %.4g", strings.TrimPrefix(v.Key, "max_"), v.Value))
		}
	}
	if l == nil {
		return "-"
	}
	return strings.Join(l, " ")
}
