package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/modpy"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/testvectors"
)

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
	// With --variations, what of the counts above is theirs, by name.
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
	Name       string `json:"name"`
	Spec       string `json:"spec"`
	Operations string `json:"operations"`
	Reason     string `json:"reason"`
}

type vtsFailure struct {
	Kind       string  `json:"kind"` // mismatch, error, malformed or unreadable
	Name       string  `json:"name"`
	Spec       string  `json:"spec"`
	Operations string  `json:"operations"`
	Error      string  `json:"error"`
	Output     int     `json:"output"`
	Index      int     `json:"index"`
	Expected   float64 `json:"expected"`
	Actual     float64 `json:"actual"`
	Tolerance  float64 `json:"tolerance"`
}

func newVTS(a *app) *cobra.Command {
	var device, pattern, export, way string
	var functional, declined, variations bool
	cmd := &cobra.Command{
		Use:   "vts PATH...",
		Short: "run operation test vectors on a device",
		Long: `vts runs test cases - documents of the neutral JSON corpus (.json, .json.gz), Android
test specifications (.mod.py), or folders of either - on one device and compares each
output with the accuracy rules of NNAPI's generated tests. An operation that the device declares supported must pass; a case with
any other operation counts as unsupported; --declined lists these with the reason. Nothing
falls back to the CPU. A case that states no valid model fails on every device; a file that
cannot be read is reported as unreadable and the others run. With --export nothing runs:
the cases are written as documents of the JSON corpus, one per file read.

With --variations each case also runs in the forms that VTS makes of it: outputs of unknown
shape, TENSOR_QUANT8_ASYMM operands made signed (a device that runs the one form must run the
other), a first output one byte short (OUTPUT_INSUFFICIENT_SIZE and the shapes are due), of
known and of unknown shape; and a batch of size zero. Their names end in that of the variation,
which --run matches too; forms that the rules leave out count as skipped.`,
		Example: "  nnsoc vts vectors/nnapi --device npu\n  nnsoc vts V1_2__conv2d_v1_2.json.gz --device dsp --run 'quant8' --json\n  nnsoc vts vectors/nnapi --device npu --variations --functional\n  nnsoc vts add_v1_3.mod.py --export expanded",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("vts takes at least one PATH"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := a.machine(hal.FastSingleAnswer)
			if err != nil {
				return err
			}
			p := testvectors.Plan{Functional: functional || device == "reference", Variations: variations}
			name := device
			if name == "reference" { // the CPU's kernels without its timing model
				name = m.registry.CPU().Name()
			}
			d, err := m.registry.Find(name)
			if err != nil {
				return usage(err)
			}
			var stop func()
			if p.Device, stop, err = m.through(way, d); err != nil {
				return err
			}
			defer stop()
			if pattern != "" {
				if p.Run, err = regexp.Compile(pattern); err != nil {
					return usage(fmt.Errorf("--run: %w", err))
				}
			}
			show := a.progress()
			defer show.done()
			var unreadable []unreadableSpec
			if p.Files, unreadable, err = readSpecs(args, show); err != nil {
				return err
			}
			if export != "" {
				show.done()
				return a.exportSpecs(export, p.Files, unreadable, p.Run)
			}
			step := 0
			p.Progress = func(done, total int) {
				if 20*done/total > step || done == total {
					step = 20 * done / total
					show.say("%s: %d of %d cases", device, done, total)
				}
			}
			r := p.Execute()
			show.done()
			if err := a.printVTS(device, r, unreadable, declined); err != nil {
				return err
			}
			switch err := unreadableError(unreadable); {
			case err != nil && r.Failed > 0:
				return &exitError{exitMismatch, fmt.Errorf("%d of %d cases failed; %w", r.Failed, r.Cases, err)}
			case err != nil:
				return &exitError{exitMismatch, err}
			case r.Failed > 0:
				return &exitError{exitMismatch, fmt.Errorf("%d of %d cases failed", r.Failed, r.Cases)}
			case r.Cases == 0:
				return usage(errors.New("no case matches"))
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&device, "device", "reference", "device to run on: reference or a device of the SoC")
	fl.StringVar(&way, "via", "device", "how cases reach the device: device (its driver), service (a process boundary) or runtime (NNAPI's runtime)")
	fl.StringVar(&pattern, "run", "", "run only cases whose name matches this regular expression")
	fl.StringVar(&export, "export", "", "write the cases to this folder as corpus JSON instead of running them")
	fl.BoolVar(&declined, "declined", false, "list the unsupported cases with the reason")
	fl.BoolVar(&variations, "variations", false, "also run the variations of VTS and empty batches")
	fl.BoolVar(&functional, "functional", false, "skip the timing model")
	completeDevices(a, cmd)
	return cmd
}

// specSuffixes are the names of documents that vts reads.
var specSuffixes = []string{".json", ".json.gz", modpySuffix}

// modpySuffix ends the name of an Android test specification.
const modpySuffix = ".mod.py"

// readSpec reads a document by the suffix of its name.
func readSpec(path string) (*vectors.File, error) {
	if strings.HasSuffix(path, modpySuffix) {
		return modpy.Load(path)
	}
	return vectors.Load(path)
}

// unreadableSpec is a file that states no cases.
type unreadableSpec struct {
	path string
	err  error // names the file
}

// readSpecs reads documents and the documents inside folders. A path that does
// not exist is an error; a file that cannot be read is listed.
func readSpecs(paths []string, show *progress) (files []*vectors.File, unreadable []unreadableSpec, err error) {
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return nil, nil, usage(err)
		}
		show.say("read %s", root)
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil { // a folder without permission: the walk goes on beside it
				unreadable = append(unreadable, unreadableSpec{path, err})
				return nil
			}
			if d.IsDir() || info.IsDir() && !hasSuffix(path, specSuffixes) {
				return nil
			}
			f, err := readSpec(path)
			if err != nil {
				unreadable = append(unreadable, unreadableSpec{path, err})
				return nil
			}
			files = append(files, f)
			return nil
		})
	}
	return files, unreadable, nil
}

// readAllSpecs is readSpecs for commands that need every file.
func readAllSpecs(paths []string, show *progress) ([]*vectors.File, error) {
	files, unreadable, err := readSpecs(paths, show)
	if err == nil {
		if err = unreadableError(unreadable); err != nil {
			err = usage(err)
		}
	}
	return files, err
}

// unreadableError sums up the files that cannot be read, nil for none.
func unreadableError(list []unreadableSpec) error {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return list[0].err
	}
	return fmt.Errorf("%d files are unreadable, the first: %w", len(list), list[0].err)
}

type exportReport struct {
	SchemaVersion int            `json:"schema_version"`
	Files         []exportedFile `json:"files"`
	Unreadable    []string       `json:"unreadable,omitempty"` // what is wrong with files that cannot be read
}

type exportedFile struct {
	Spec    string `json:"spec"`
	Path    string `json:"path"`
	Cases   int    `json:"cases"`
	Skipped int    `json:"skipped"` // malformed cases
}

// exportSpecs writes the cases whose name matches run, nil for all.
func (a *app) exportSpecs(dir string, files []*vectors.File, unreadable []unreadableSpec, run *regexp.Regexp) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usage(err)
	}
	r := exportReport{SchemaVersion: schemaVersion, Files: []exportedFile{}}
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
			return usage(fmt.Errorf("vts: %s and %s would both be written as %s", other, f.Spec, name))
		}
		seen[name] = f.Spec
		var b bytes.Buffer
		if err := vectors.Write(&b, &out); err != nil {
			return err
		}
		x.Path = filepath.Join(dir, name)
		if err := writeFile(x.Path, b.Bytes()); err != nil {
			return err
		}
		r.Files = append(r.Files, x)
	}
	for _, u := range unreadable {
		r.Unreadable = append(r.Unreadable, u.err.Error())
	}
	failed := unreadableError(unreadable)
	if failed != nil {
		failed = &exitError{exitMismatch, failed}
	} else if len(r.Files) == 0 {
		return usage(errors.New("no case matches"))
	}
	if a.json {
		if err := printJSON(a.out, r); err != nil {
			return err
		}
		return failed
	}
	for _, x := range r.Files {
		if _, err := fmt.Fprintf(a.out, "%s: %d cases of %s, %d skipped\n", x.Path, x.Cases, x.Spec, x.Skipped); err != nil {
			return err
		}
	}
	return failed
}

func hasSuffix(s string, suffixes []string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

func (a *app) printVTS(device string, r *testvectors.Report, unreadable []unreadableSpec, declined bool) error {
	out := vtsReport{
		SchemaVersion: schemaVersion, Device: device, Cases: r.Cases, Passed: r.Passed, Failed: r.Failed,
		Unsupported: r.Unsupported, Skipped: r.Skipped, Unreadable: len(unreadable), Failures: []vtsFailure{},
	}
	for _, u := range unreadable {
		out.Failures = append(out.Failures, vtsFailure{Kind: "unreadable", Name: u.path, Spec: u.path, Error: u.err.Error()})
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
	if a.json {
		return printJSON(a.out, out)
	}
	for _, d := range out.Declined {
		fmt.Fprintf(a.out, "declined %s (%s): %s\n", d.Name, d.Spec, d.Reason)
	}
	for _, u := range unreadable {
		fmt.Fprintf(a.out, "UNREADABLE %s\n  %v\n", u.path, u.err)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(a.out, "FAIL %s (%s)\n", f.Name, f.Spec)
		if f.Operations != "" {
			fmt.Fprintf(a.out, "  %s: %v\n", f.Operations, f.Err)
		} else {
			fmt.Fprintf(a.out, "  %v\n", f.Err)
		}
		if f.Difference != nil {
			fmt.Fprint(a.out, f.Difference.Neighbourhood())
		}
	}
	for _, v := range r.Variations {
		fmt.Fprintf(a.out, "%s: %d cases, %d passed, %d failed, %d unsupported, %d skipped\n", v.Name, v.Cases, v.Passed, v.Failed, v.Unsupported, v.Skipped)
	}
	_, err := fmt.Fprintf(a.out, "%s: %d cases, %d passed, %d failed, %d unsupported, %d skipped, %d unreadable\n",
		device, r.Cases, r.Passed, r.Failed, r.Unsupported, r.Skipped, len(unreadable))
	return err
}
