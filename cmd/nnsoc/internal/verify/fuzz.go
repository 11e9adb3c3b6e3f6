package verify

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// fuzzReport is the JSON object of fuzz.
type fuzzReport struct {
	SchemaVersion int            `json:"schema_version"`
	Device        string         `json:"device"`
	Seed          uint64         `json:"seed"`
	Cases         int            `json:"cases"`
	Passed        int            `json:"passed"`
	Failed        int            `json:"failed"`
	Unsupported   int            `json:"unsupported"`
	Unjudged      int            `json:"unjudged"`         // of the reference: models without an equivalent float32 model
	Undeclared    int            `json:"undeclared_types"` // operations and types that the device does not declare, which are not drawn
	Coverage      []fuzzCoverage `json:"coverage"`
	Failures      []fuzzFailure  `json:"failures"`
}

type fuzzCoverage struct {
	Operation   string `json:"operation"`
	Type        string `json:"type"`
	PerChannel  bool   `json:"per_channel"`
	Generated   int    `json:"generated"`
	Ran         int    `json:"executed"`
	Passed      int    `json:"passed"`
	Unsupported int    `json:"unsupported"`
}

type fuzzFailure struct {
	Index      int      `json:"index"`
	Case       string   `json:"case"`
	Kind       string   `json:"kind"` // mismatch, shape, device error, panic or invalid
	Operations []string `json:"operation_types"`
	Error      string   `json:"error"`
	// Of the shrunk model; empty when an earlier failure has the same operations.
	SmallOperations []string `json:"small_operation_types,omitempty"`
	SmallError      string   `json:"small_error,omitempty"`
	Spec            string   `json:"spec,omitempty"`
	Reproduces      bool     `json:"reproduces_with_vts"`
}

// maxFuzzCount bounds the models of one run.
const maxFuzzCount = 1 << 20

// fuzzFlags are the flags of fuzz.
type fuzzFlags struct {
	device, pattern, dir string
	functional           bool
	options              randgraph.Options
}

// NewFuzz returns the command fuzz.
func NewFuzz(a *cli.App) *cobra.Command {
	var f fuzzFlags
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "test a device with random models",
		Long: `fuzz generates random models of one operation and random small graphs, by the rules of
CTS's random graph tests, runs each on a device and on the reference CPU and applies
CTS's accuracy criteria. A model with an operation that the device refuses counts as
unsupported. The reference CPU itself is checked independently with --float only, by the
equivalent float32 model of single operations in float16 and 8 bits; other models then
count as unjudged. A failure is shrunk to the smallest model that fails the same way; --output
writes it as an Android test specification that "nnsoc vts" reads. The same seed gives
the same models.`,
		Example: "  nnsoc fuzz --device npu --seed 1 --count 500\n  nnsoc fuzz --device dsp --operations 'CONV' --count 200 --exact -o finds",
		Args:    cli.NoArguments,
		RunE:    func(*cobra.Command, []string) error { return fuzz(a, &f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "reference", "device to test: reference or a device of the SoC")
	fl.Uint64Var(&f.options.Seed, "seed", 1, "seed of the random models")
	fl.IntVar(&f.options.Count, "count", 400, "number of models")
	fl.StringVar(&f.pattern, "operations", "", "draw only operations whose name matches this regular expression")
	cli.OldNames(fl, map[string]string{"out": "output"})
	fl.StringVarP(&f.dir, "output", "o", "", "write each shrunk failure to this folder as .mod.py and .json")
	fl.BoolVar(&f.options.Exact, "exact", false, "integer, boolean and quantized results must equal the reference's")
	fl.BoolVar(&f.options.Float, "float", false, "judge by the equivalent float32 model, as CTS does; tests the reference itself too")
	fl.BoolVar(&f.functional, "functional", false, "skip the timing model")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Reference...)
	return cmd
}

// fuzz runs random models on a device, as many as requested.
func fuzz(a *cli.App, f *fuzzFlags) (err error) {
	defer try.Catch(&err)
	o := f.options
	if o.Count < 1 || o.Count > maxFuzzCount {
		return cli.Usage(fmt.Errorf("fuzz: --count %d is not 1 to %d", o.Count, maxFuzzCount))
	}
	if o.Self = f.device == referenceName; o.Self && !o.Float {
		return cli.Usage(errors.New("fuzz: without --float the reference would be compared with itself and pass whatever it computes;" +
			" --float judges it by the equivalent float32 model, --device DEVICE judges a device by the reference"))
	}
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	name := f.device
	if o.Self {
		name = m.Registry.CPU().Name()
	}
	o.Functional = f.functional || o.Self
	o.Declared = !o.Self
	d, err := m.Find(name)
	if err != nil {
		return cli.Usage(err)
	}
	if f.pattern != "" {
		if o.Operations, err = regexp.Compile(f.pattern); err != nil {
			return cli.Usage(fmt.Errorf("--operations: %w", err))
		}
	}
	if f.dir != "" { // a bad path fails before the work
		empty := try.V(cli.MakeFolder(f.dir))
		defer empty()
	}
	show := a.Progress()
	defer show.Done()
	last, step := "", 0
	o.Progress = func(phase string, done, total int) {
		if phase != last {
			last, step = phase, 0
		}
		if 20*done/total > step || done == total {
			step = 20 * done / total
			show.Update("%s: %d of %d %s", f.device, done, total, phase)
		}
	}
	r, err := randgraph.Run(machine.Keeping(a, d), o)
	if err != nil {
		return cli.Usage(err)
	}
	show.Done()
	out := try.V(DescribeFuzz(d, f.device, f.dir, o.Seed, r))
	try.E(printFuzz(a, out))
	switch {
	case r.Failed > 0:
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d random models failed", r.Failed, r.Cases)}
	case r.Unjudged == r.Cases:
		return cli.Usage(fmt.Errorf("fuzz: none of the %d models has an equivalent float32 model that could judge the reference", r.Cases))
	}
	return nil
}

// DescribeFuzz converts a report to its printed form and writes the finds.
func DescribeFuzz(d hal.Device, device, dir string, seed uint64, r *randgraph.Report) (*fuzzReport, error) {
	out := &fuzzReport{SchemaVersion: cli.SchemaVersion, Device: device, Seed: seed, Cases: r.Cases, Passed: r.Passed, Failed: r.Failed,
		Unsupported: r.Unsupported, Unjudged: r.Unjudged, Undeclared: r.Undeclared, Coverage: []fuzzCoverage{}, Failures: []fuzzFailure{}}
	for _, c := range r.Coverage {
		out.Coverage = append(out.Coverage, fuzzCoverage{c.Variant.Op.String(), c.Variant.Key.String(), c.Variant.PerChannel,
			c.Generated, c.Ran, c.Passed, c.Unsupported})
	}
	for i := range r.Failures {
		f := &r.Failures[i]
		x := fuzzFailure{Index: f.Index, Case: f.Name, Operations: variantNames(f.Variants), Kind: f.Kind().String(), Error: f.Err.Error()}
		if f.Small != nil {
			x.SmallOperations, x.SmallError = variantNames(f.Small.Variants), f.SmallErr.Error()
			x.Reproduces = randgraph.Reproduces(d, f.Small)
			if dir != "" && f.Kind() != randgraph.Invalid {
				var err error
				if x.Spec, err = writeFind(dir, device, f); err != nil {
					return nil, err
				}
			}
		}
		out.Failures = append(out.Failures, x)
	}
	return out, nil
}

func variantNames(variants []randgraph.Variant) []string {
	names := []string{}
	for _, v := range variants {
		names = append(names, v.String())
	}
	return names
}

// writeFind writes a shrunk failure as a specification and as corpus JSON.
func writeFind(dir, device string, f *randgraph.Failure) (_ string, err error) {
	defer try.Catch(&err)
	name := fmt.Sprintf("%s_%s_%s", device, strings.ToLower(f.Small.Variants[0].Op.String()), f.Small.Name)
	var b strings.Builder
	comment := fmt.Sprintf("Found by random models on device %s, shrunk from %s.\n%v", device, f.Name, f.SmallErr)
	try.E(randgraph.WriteSpec(&b, f.Small, comment))
	v := try.V(randgraph.Vector(f.Small))
	var j bytes.Buffer
	try.E(vectors.Write(&j, &vectors.File{Spec: name + input.ModpySuffix, Name: name, Cases: []*vectors.Case{v}}))
	try.E(cli.WriteFile(filepath.Join(dir, name+".json"), j.Bytes()))
	path := filepath.Join(dir, name+input.ModpySuffix)
	return path, cli.WriteFile(path, []byte(b.String()))
}

func printFuzz(a *cli.App, r *fuzzReport) error {
	if a.JSON {
		return cli.PrintJSON(a.Out, r)
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "operation\ttype\tgenerated\tran\tpassed")
	var untouched []string
	for _, c := range r.Coverage {
		typ := c.Type
		if c.PerChannel {
			typ += " per channel"
		}
		if c.Generated == 0 {
			untouched = append(untouched, c.Operation+" "+typ)
			continue
		}
		mark := ""
		if c.Passed < c.Ran {
			mark = "\tFAILED"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d%s\n", c.Operation, typ, c.Generated, c.Ran, c.Passed, mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(untouched) > 0 {
		fmt.Fprintf(a.Out, "not drawn in %d models: %d of %d operations and types (more --count reaches them)\n", r.Cases, len(untouched), len(r.Coverage))
	}
	if r.Undeclared > 0 {
		fmt.Fprintf(a.Out, "never drawn, since %s does not declare them: %d operations and types (nnsoc ops lists what it declares)\n", r.Device, r.Undeclared)
	}
	same := 0
	for i := range r.Failures {
		f := &r.Failures[i]
		if f.SmallError == "" && f.Case != "" {
			same++
			continue
		}
		fmt.Fprintf(a.Out, "FAIL %d %s: %s\n  %s\n", f.Index, f.Case, strings.Join(f.Operations, ", "), f.Error)
		if f.SmallError != "" {
			fmt.Fprintf(a.Out, "  smallest: %s\n  %s\n", strings.Join(f.SmallOperations, ", "), f.SmallError)
		}
		if f.Spec != "" {
			note := ""
			if !f.Reproduces {
				note = "  (passes there: vts bounds no means, and knows the shapes of all inputs)"
			}
			fmt.Fprintf(a.Out, "  nnsoc vts %s --device %s%s\n", f.Spec, r.Device, note)
		}
	}
	if same > 0 {
		fmt.Fprintf(a.Out, "%d more failures of the same operations are not shown; --json lists them\n", same)
	}
	unjudged := ""
	if r.Unjudged > 0 {
		unjudged = fmt.Sprintf(", %d unjudged", r.Unjudged)
	}
	_, err := fmt.Fprintf(a.Out, "%s: %d models (seed %d), %d passed, %d failed, %d unsupported%s\n",
		r.Device, r.Cases, r.Seed, r.Passed, r.Failed, r.Unsupported, unjudged)
	return err
}
