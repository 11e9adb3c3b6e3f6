package verify

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/testvectors"
)

// vtsReport is the JSON object of vts.
type vtsReport struct {
	SchemaVersion int           `json:"schema_version"`
	Device        string        `json:"device"`
	Cases         int           `json:"cases"`
	Passed        int           `json:"passed"`
	Failed        int           `json:"failed"`
	Unsupported   int           `json:"unsupported"`
	Skipped       int           `json:"skipped"`    // variations that a case does not have
	Unreadable    int           `json:"unreadable"` // files; each is in Failures
	Failures      []vtsFailure  `json:"failures"`
	Declined      []vtsDeclined `json:"declined,omitempty"` // with --declined
	// With --variations, their part of the counts above, by name.
	Variations map[string]vtsVariation `json:"variations,omitempty"`
}

type vtsVariation struct {
	Cases       int `json:"cases"`
	Passed      int `json:"passed"`
	Failed      int `json:"failed"`
	Unsupported int `json:"unsupported"`
	Skipped     int `json:"skipped"`
}

type vtsDeclined struct {
	Name       string   `json:"name"`
	Spec       string   `json:"spec"`
	Operations []string `json:"operation_types"`
	Reason     string   `json:"reason"`
}

type vtsFailure struct {
	Kind       string   `json:"kind"` // mismatch, error, malformed or unreadable
	Name       string   `json:"name"`
	Spec       string   `json:"spec"`
	Operations []string `json:"operation_types,omitempty"`
	Error      string   `json:"error"`
	Output     int      `json:"output_index"`
	Index      int      `json:"element"`
	Expected   float64  `json:"expected"`
	Actual     float64  `json:"actual"`
	Tolerance  float64  `json:"tolerance"`
}

// vtsFlags are the flags of vts.
type vtsFlags struct {
	device, pattern, export, way     string
	functional, declined, variations bool
}

// NewVTS returns the command vts.
func NewVTS(a *cli.App) *cobra.Command {
	var f vtsFlags
	cmd := &cobra.Command{
		Use:   "vts [PATH...]",
		Short: "run operation test vectors on a device",
		Long: `vts runs test cases - documents of the neutral JSON corpus (.json, .json.gz), Android
test specifications (.mod.py), folders of either, or by default the public corpus inside
nnsoc (nnapi, nnapi/PATTERN for some of its documents) - on one device and compares each
output with the accuracy rules of NNAPI's generated tests. An operation that the device declares supported must pass; a case with
any other operation counts as unsupported; --declined lists these with the reason. Nothing
falls back to the CPU. A case that states no valid model fails on every device; a file that
cannot be read is reported as unreadable and the others run. With --export nothing runs:
the cases are written as documents of the JSON corpus, one per file read.

With --variations each case also runs in the forms that VTS derives from it: outputs of unknown
shape, TENSOR_QUANT8_ASYMM operands made signed (a device that supports one form must support the
other), a first output one byte short (expecting OUTPUT_INSUFFICIENT_SIZE and the shapes), of
known and of unknown shape; and a batch of size zero. Their names end in that of the variation,
which --run matches too; forms that the rules leave out count as skipped.`,
		Example:           "  nnsoc vts --device npu\n  nnsoc vts 'nnapi/*conv2d*' --device dsp --run 'quant8' --json\n  nnsoc vts nnapi --device npu --variations --functional\n  nnsoc vts add_v1_3.mod.py --export expanded",
		ValidArgsFunction: input.CompleteCorpus,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cli.Exclude(cmd, "export", "device", "via", "declined", "functional"); err != nil {
				return err
			}
			if f.device == referenceName && (f.declined || f.functional) {
				return cli.Usage(errors.New("--declined and --functional do nothing with the reference, which takes all cases and has no times: give --device"))
			}
			if len(args) == 0 {
				args = []string{input.CorpusName}
			}
			return vts(a, &f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.device, "device", "reference", "device to run on: reference or a device of the SoC")
	fl.StringVar(&f.way, "via", "device", "how cases reach the device: device (its driver), service (a process boundary) or runtime (NNAPI's runtime)")
	fl.StringVar(&f.pattern, "run", "", "run only cases whose name matches this regular expression")
	fl.StringVar(&f.export, "export", "", "write the cases to this folder as corpus JSON instead of running them")
	fl.BoolVar(&f.declined, "declined", false, "list the unsupported cases with the reason")
	fl.BoolVar(&f.variations, "variations", false, "also run the variations of VTS and empty batches")
	fl.BoolVar(&f.functional, "functional", false, "skip the timing model")
	machine.AddCache(a, cmd)
	machine.CompleteDevices(a, cmd, machine.Reference...)
	return cmd
}

// vts runs the cases of files, or exports them.
func vts(a *cli.App, f *vtsFlags, args []string) (err error) {
	defer try.Catch(&err)
	m := try.V(machine.Open(a, hal.FastSingleAnswer))
	p := testvectors.Plan{Functional: f.functional || f.device == referenceName, Variations: f.variations}
	name := f.device
	if name == referenceName { // the CPU's kernels without its timing model
		name = m.Registry.CPU().Name()
	}
	d, err := m.Find(name)
	if err != nil {
		return cli.Usage(err)
	}
	d = machine.Keeping(a, d)
	var stop func()
	p.Device, stop = try.V2(m.Through(f.way, d))
	defer stop()
	if f.pattern != "" {
		if p.Run, err = regexp.Compile(f.pattern); err != nil {
			return cli.Usage(fmt.Errorf("--run: %w", err))
		}
	}
	show := a.Progress()
	defer show.Done()
	var unreadable []input.UnreadableSpec
	p.Files, unreadable = try.V2(input.ReadSpecs(args, show))
	if f.export != "" {
		show.Done()
		return exportSpecs(a, f.export, p.Files, unreadable, p.Run)
	}
	step := 0
	p.Progress = func(done, total int) {
		if 20*done/total > step || done == total {
			step = 20 * done / total
			show.Update("%s: %d of %d cases", f.device, done, total)
		}
	}
	r := p.Execute()
	show.Done()
	try.E(printVTS(a, f.device, r, unreadable, f.declined))
	return vtsVerdict(r, unreadable)
}

// vtsVerdict is the exit status of the command.
func vtsVerdict(r *testvectors.Report, unreadable []input.UnreadableSpec) error {
	switch err := input.UnreadableError(unreadable); {
	case err != nil && r.Failed > 0:
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d cases failed; %w", r.Failed, r.Cases, err)}
	case err != nil && r.Cases == 0:
		return cli.Usage(err)
	case err != nil:
		return &cli.ExitError{Code: cli.ExitMismatch, Err: err}
	case r.Failed > 0:
		return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d cases failed", r.Failed, r.Cases)}
	case r.Cases == 0:
		return cli.Usage(errors.New("no case matches"))
	}
	return nil
}

// exportReport is the JSON object of vts --export.
type exportReport struct {
	SchemaVersion int            `json:"schema_version"`
	Files         []exportedFile `json:"specs"`
	Unreadable    []string       `json:"unreadable_files,omitempty"` // the errors of files that cannot be read
}

type exportedFile struct {
	Spec    string `json:"spec"`
	Path    string `json:"file"`
	Cases   int    `json:"cases"`
	Skipped int    `json:"skipped"` // malformed cases
}

// exportSpecs writes the cases whose name matches run, nil for all.
func exportSpecs(a *cli.App, dir string, files []*vectors.File, unreadable []input.UnreadableSpec, run *regexp.Regexp) (err error) {
	defer try.Catch(&err)
	empty := try.V(cli.MakeFolder(dir))
	defer empty()
	r := exportReport{SchemaVersion: cli.SchemaVersion, Files: []exportedFile{}}
	seen := map[string]string{}
	for _, f := range files {
		out := *f
		out.Cases = nil
		x := exportedFile{Spec: f.Spec}
		for _, c := range f.Cases {
			switch {
			case run != nil && !run.MatchString(c.Name):
			case c.Model == nil:
				x.Skipped++
			default:
				out.Cases = append(out.Cases, c)
			}
		}
		if x.Cases = len(out.Cases); x.Cases == 0 {
			continue
		}
		name := f.Name + ".json"
		if f.Version != "" {
			name = f.Version + "__" + name
		}
		if other, ok := seen[name]; ok {
			return cli.Usage(fmt.Errorf("vts: %s and %s would both be written as %s", other, f.Spec, name))
		}
		seen[name] = f.Spec
		var b bytes.Buffer
		try.E(vectors.Write(&b, &out))
		x.Path = filepath.Join(dir, name)
		try.E(cli.WriteFile(x.Path, b.Bytes()))
		r.Files = append(r.Files, x)
	}
	for _, u := range unreadable {
		r.Unreadable = append(r.Unreadable, u.Err.Error())
	}
	failed := input.UnreadableError(unreadable)
	if failed != nil {
		failed = &cli.ExitError{Code: cli.ExitMismatch, Err: failed}
	} else if len(r.Files) == 0 {
		return cli.Usage(errors.New("no case matches"))
	}
	if a.JSON {
		try.E(cli.PrintJSON(a.Out, r))
		return failed
	}
	for _, x := range r.Files {
		try.V(fmt.Fprintf(a.Out, "%s: %d cases of %s, %d skipped\n", x.Path, x.Cases, x.Spec, x.Skipped))
	}
	return failed
}

func printVTS(a *cli.App, device string, r *testvectors.Report, unreadable []input.UnreadableSpec, declined bool) error {
	out := vtsReport{
		SchemaVersion: cli.SchemaVersion, Device: device, Cases: r.Cases, Passed: r.Passed, Failed: r.Failed,
		Unsupported: r.Unsupported, Skipped: r.Skipped, Unreadable: len(unreadable), Failures: []vtsFailure{},
	}
	for _, u := range unreadable {
		out.Failures = append(out.Failures, vtsFailure{Kind: "unreadable", Name: u.Path, Spec: u.Path, Error: u.Err.Error()})
	}
	for _, f := range r.Failures {
		v := vtsFailure{Kind: "error", Name: f.Name, Spec: f.Spec, Operations: f.Operations, Error: f.Err.Error()}
		if errors.Is(f.Err, testvectors.ErrMalformed) {
			v.Kind = "malformed"
		}
		if d := f.Difference; d != nil {
			v.Kind = "mismatch"
			v.Output, v.Index, v.Expected, v.Actual, v.Tolerance = d.Output, d.Index, d.Expected, d.Actual, d.Limit
		}
		out.Failures = append(out.Failures, v)
	}
	if declined {
		for _, d := range r.Declined {
			out.Declined = append(out.Declined, vtsDeclined{d.Name, d.Spec, d.Operations, d.Reason})
		}
	}
	for _, v := range r.Variations {
		if out.Variations == nil {
			out.Variations = map[string]vtsVariation{}
		}
		out.Variations[v.Name] = vtsVariation{v.Cases, v.Passed, v.Failed, v.Unsupported, v.Skipped}
	}
	if a.JSON {
		return cli.PrintJSON(a.Out, out)
	}
	for _, d := range out.Declined {
		fmt.Fprintf(a.Out, "declined %s (%s): %s\n", d.Name, d.Spec, d.Reason)
	}
	for _, u := range unreadable {
		fmt.Fprintf(a.Out, "UNREADABLE %s\n  %v\n", u.Path, u.Err)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(a.Out, "FAIL %s (%s)\n", f.Name, f.Spec)
		if f.Operations != nil {
			fmt.Fprintf(a.Out, "  %s: %v\n", strings.Join(f.Operations, ", "), f.Err)
		} else {
			fmt.Fprintf(a.Out, "  %v\n", f.Err)
		}
		if f.Difference != nil {
			fmt.Fprint(a.Out, f.Difference.Neighbourhood())
		}
	}
	for _, v := range r.Variations {
		fmt.Fprintf(a.Out, "%s: %d cases, %d passed, %d failed, %d unsupported, %d skipped\n", v.Name, v.Cases, v.Passed, v.Failed, v.Unsupported, v.Skipped)
	}
	_, err := fmt.Fprintf(a.Out, "%s: %d cases, %d passed, %d failed, %d unsupported, %d skipped, %d unreadable\n",
		device, r.Cases, r.Passed, r.Failed, r.Unsupported, r.Skipped, len(unreadable))
	return err
}
