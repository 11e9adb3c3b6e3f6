package verify

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/metric"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/dataset"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// evalFlags are the flags of eval.
type evalFlags struct {
	dataset, metric, labels, results string
	devices                          []string
	limit                            int
	norm                             tensor.Normalization
	choice                           input.ChoiceFlags
}

// EvalReport is the JSON object of eval.
type EvalReport struct {
	SchemaVersion int `json:"schema_version"`
	session.ModelReport
	SoC     string       `json:"soc"`
	Dataset string       `json:"dataset"`
	Metric  string       `json:"metric"`
	Better  string       `json:"better"` // higher or lower
	Samples int          `json:"sample_count"`
	Devices []*evalEntry `json:"devices"`
}

// evalEntry is the accuracy of a device; the first entry is the reference.
type evalEntry struct {
	Device    string `json:"device"`
	*Accuracy        // nil of a device that supports nothing
	Status    string `json:"status"` // ok or unsupported
	Samples   int    `json:"sample_count"`
	// Fallback are the operations that the CPU ran in the device's place.
	Fallback int `json:"fallback_operations"`
}

// Accuracy is the metric over all samples.
type Accuracy struct {
	Value float64 `json:"value"`
	// Difference is the value less that of the reference.
	Difference float64 `json:"difference"`
	// Agreement is the share of samples with the reference's highest score in the
	// first output.
	Agreement float64 `json:"agreement_share"`
}

// referenceName is the name of the reference CPU's kernels in results.
const referenceName = "reference"

// NewEval returns the command eval.
func NewEval(a *cli.App) *cobra.Command {
	f := evalFlags{norm: tensor.DefaultNormalization}
	cmd := &cobra.Command{
		Use:   "eval MODEL --dataset PATH --metric METRIC",
		Short: "measure the accuracy of a network on a data set, on devices and reference",
		Long: `eval runs a network on every sample of a data set, on the reference and on devices, and
prints a metric of accuracy: top1, top5, mse, wer, map or psnr.

A data set is a folder with a folder of pictures per class, or with a labels.txt of lines
"FILE CLASS"; a .npz with arrays x and y; a COCO .json beside its pictures; or a .txt of
lines "FILE<TAB>TRUTH", the truth a class, a transcription or a file with the expected
output. With --results each score is saved at once, and the next run resumes there.
wer needs the alphabet as --labels, one symbol per line, the blank of CTC last.`,
		Example:           "  nnsoc eval model.tflite --dataset val/ --metric top1 --labels labels.txt\n  nnsoc eval detector.tflite --dataset instances.json --metric map --device dsp --results scores.jsonl",
		Args:              cli.ExactlyOne,
		ValidArgsFunction: input.CompleteModel,
		RunE:              func(_ *cobra.Command, args []string) error { return eval(a, &f, args[0]) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.dataset, "dataset", "", "folder or file with the samples")
	fl.StringVar(&f.metric, "metric", "", "metric: "+strings.Join(metric.Names(), ", "))
	fl.StringVar(&f.labels, "labels", "", "text file with the name of class N on line N+1")
	fl.StringVar(&f.results, "results", "", "save the score of each sample in this file and resume after those in it")
	fl.Var(cli.NameList{Names: &f.devices, Once: true}, "device", "devices to compare with the reference, auto: a plan by prediction, or aosp: divided by Android's rule (default: all but the CPU)")
	fl.IntVar(&f.limit, "limit", 0, "use the first samples only (0: all)")
	fl.Var((*cli.Finite)(&f.norm.Mean), "mean", "float inputs from pixels are (pixel-mean)/std")
	fl.Var((*cli.Finite)(&f.norm.Std), "std", "see --mean")
	f.choice.Add(cmd)
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Plans...)
	_ = cmd.RegisterFlagCompletionFunc("metric", cobra.FixedCompletions(metric.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func eval(a *cli.App, f *evalFlags, name string) (err error) {
	defer try.Catch(&err)
	switch {
	case f.dataset == "":
		return cli.Usage(fmt.Errorf("--dataset is missing: a folder, .npz, COCO .json or .txt list"))
	case f.metric == "":
		return cli.Usage(fmt.Errorf("--metric is missing; there are %s", strings.Join(metric.Names(), ", ")))
	case f.limit < 0:
		return cli.Usage(fmt.Errorf("--limit %d: want 0 or more", f.limit))
	case !(f.norm.Std > 0):
		return cli.Usage(fmt.Errorf("--std %v: want a number above 0", f.norm.Std))
	}
	score, err := metric.Find(f.metric)
	if err != nil {
		return cli.Usage(err)
	}
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	names := f.devices
	if len(names) == 0 {
		for _, d := range m.Registry.Devices()[1:] {
			names = append(names, d.Name())
		}
	} else if names, err = m.Choose(names); err != nil {
		return err
	}
	model := try.V(input.ReadModel(a, name, try.V(f.choice.Parse())))
	if err := nnrt.Validate(model); err != nil {
		return cli.Usage(fmt.Errorf("%s: %w", model.Name, err))
	}
	labels := try.V(input.ReadLabels(f.labels))
	set, err := dataset.Open(f.dataset, dataset.Options{Model: model, Inputs: nnrt.NonStateInputs(model), Normalization: f.norm, Labels: labels})
	if err != nil {
		return cli.Usage(err)
	}
	count := set.Len()
	if f.limit > 0 {
		count = min(count, f.limit)
	}
	results := try.V(openResults(f.results, resultsHeader{
		Model: modelHash(model), SoC: m.Config.SoC.Name, Dataset: f.dataset, Data: set.Hash(), Metric: score.Name, Samples: set.Len(),
		Labels: labelsHash(labels), Mean: f.norm.Mean, Std: f.norm.Std,
	}))
	defer results.close()
	e := evaluation{machine: m, model: model, set: set, metric: score, labels: labels, results: results, count: count, progress: a.Progress()}
	defer e.progress.Done()
	r := EvalReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Dataset: f.dataset, Metric: score.Name, Better: score.Better, Samples: count,
		ModelReport: session.NewModelReport(model)}
	r.Devices = try.V(e.compare(names))
	e.progress.Done()
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	return r.text(a.Out)
}

// evaluation runs a network over a data set.
type evaluation struct {
	machine  *machine.Machine
	model    *nn.Model
	set      *dataset.Set
	metric   *metric.Metric
	labels   []string
	results  *results
	count    int
	progress *cli.Progress
}

// compare runs the reference and devices, each held against the reference.
func (e *evaluation) compare(devices []string) (list []*evalEntry, err error) {
	var base []metric.Score
	for _, device := range append([]string{referenceName}, devices...) {
		scores, fallback, err := e.run(device)
		if err != nil {
			return nil, err
		}
		x := &evalEntry{Device: device, Status: session.StatusOK, Samples: len(scores), Fallback: fallback}
		list = append(list, x)
		if scores == nil {
			x.Status = session.StatusUnsupported
			continue
		}
		if base == nil {
			base = scores
		}
		agreeing := 0
		for i := range scores {
			if scores[i].Top == base[i].Top {
				agreeing++
			}
		}
		x.Accuracy = &Accuracy{Value: e.metric.Total(scores), Agreement: float64(agreeing) / float64(len(scores))}
		x.Difference = x.Value - list[0].Value
	}
	return list, nil
}

// run scores all samples on a device; nil when it runs none of the network. fallback are the
// operations that ran on the CPU.
func (e *evaluation) run(device string) (scores []metric.Score, fallback int, err error) {
	var c *nnrt.Compilation
	if device != referenceName {
		e.progress.Update("%s: compile", device)
		if c, err = e.machine.CompileModel(e.model, device, nnrt.CompileOptions{}); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", device, err)
		}
		cpu := e.machine.Registry.CPU().Name()
		if fallback = len(c.Fallbacks); device != cpu && !session.Divides(device) && c.Accelerated(cpu) == 0 {
			return nil, fallback, nil
		}
	}
	scores = make([]metric.Score, e.count)
	for i := range scores {
		known, ok := e.results.get(device, i)
		if ok {
			scores[i] = known
			continue
		}
		if i%max(1, e.count/1000) == 0 || i == e.count-1 { // a file of progress has a line for each
			e.progress.Update("%s: sample %d of %d", device, i+1, e.count)
		}
		given, truth, err := e.set.Sample(i)
		if err != nil {
			return nil, fallback, cli.Usage(err)
		}
		inputs, err := nnrt.NewStates(e.model).Inputs(given) // each sample is a first invocation
		if err != nil {
			return nil, fallback, cli.Usage(err)
		}
		out, moved, err := e.execute(c, inputs)
		if err != nil {
			return nil, fallback, fmt.Errorf("%s: sample %s: %w", device, e.set.Name(i), err)
		}
		if c != nil {
			fallback = max(fallback, len(c.Fallbacks)+moved)
		}
		if scores[i], err = e.metric.Sample(out, metricTruth(&truth), e.labels); err != nil {
			return nil, fallback, cli.Usage(fmt.Errorf("sample %s: %w", e.set.Name(i), err))
		}
		if math.IsNaN(scores[i].Sum) || math.IsInf(scores[i].Sum, 0) {
			return nil, fallback, &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%s: sample %s: the outputs have a %s of %v", device, e.set.Name(i), e.metric.Name, scores[i].Sum)}
		}
		if err := e.results.put(device, i, e.set.Name(i), scores[i]); err != nil {
			return nil, fallback, err
		}
	}
	return scores, fallback, nil
}

// execute runs one invocation, on the reference without a compilation. moved are the operations
// that an execution that failed left to the CPU.
func (e *evaluation) execute(c *nnrt.Compilation, inputs [][]byte) (out []metric.Output, moved int, err error) {
	var tensors []compare.Tensor
	if c == nil {
		tensors, err = cpudriver.ReferenceTensors(e.model, inputs)
		err = cli.Usage(err) // a sample that the network does not allow
	} else {
		var res *nnrt.Result
		if res, err = c.Execute(inputs, nnrt.ExecuteOptions{Functional: true}); err == nil {
			tensors, moved = res.Tensors(e.model), len(res.Fallbacks)
		}
	}
	if err != nil {
		return nil, 0, err
	}
	for _, i := range nnrt.Results(e.model) {
		o := &e.model.Main.Operands[e.model.Main.Outputs[i]]
		out = append(out, metric.Output{Shape: o.Unmerge(tensors[i].Dimensions), Values: dataset.Real(o, tensors[i].Data)})
	}
	return out, moved, nil
}

// metricTruth has boxes relative to the picture, as detectors return them.
func metricTruth(t *dataset.Truth) *metric.Truth {
	m := &metric.Truth{Class: t.Class, Text: t.Text, Values: t.Values}
	for _, b := range t.Boxes {
		w, h := t.Size[0], t.Size[1]
		m.Boxes = append(m.Boxes, metric.Box{Class: b.Class, Score: 1, X0: b.X0 / w, X1: b.X1 / w, Y0: b.Y0 / h, Y1: b.Y1 / h, Crowd: b.Crowd})
	}
	return m
}

func (r *EvalReport) text(out io.Writer) error {
	fmt.Fprintf(out, "%s on %d samples of %s: %s, %s is better\n\n", r.Model, r.Samples, r.Dataset, r.Metric, r.Better)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "device\t%s\tdifference\tagreement\t\n", r.Metric)
	for _, d := range r.Devices {
		if d.Status != session.StatusOK {
			fmt.Fprintf(t, "%s\t%s\t-\t-\t\n", d.Device, d.Status)
			continue
		}
		fmt.Fprintf(t, "%s\t%.4f\t%+.4f\t%.1f %%\t\n", d.Device, d.Value, d.Difference, 100*d.Agreement)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, d := range r.Devices {
		switch {
		case d.Status != session.StatusOK:
			fmt.Fprintf(out, "%s supports none of the %d operations\n", d.Device, r.OperationCount)
		case d.Fallback > 0:
			fmt.Fprintf(out, "%s leaves %d of %d operations to the CPU\n", d.Device, d.Fallback, r.OperationCount)
		}
	}
	return nil
}
