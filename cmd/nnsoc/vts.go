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
	Skipped       int           `json:"skipped"`
	Failures      []vtsFailure  `json:"failures"`
	Declined      []vtsDeclined `json:"declined,omitempty"` // with --declined
}

type vtsDeclined struct {
	Name       string `json:"name"`
	Spec       string `json:"spec"`
	Operations string `json:"operations"`
	Reason     string `json:"reason"`
}

type vtsFailure struct {
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
	var device, pattern, export string
	var functional, declined bool
	cmd := &cobra.Command{
		Use:   "vts PATH...",
		Short: "run operation test vectors on a device",
		Long: `vts runs test cases - documents of the neutral JSON corpus (.json, .json.gz), Android
test specifications (.mod.py), or folders of either - on one device and compares each
output with the accuracy rules of NNAPI's generated tests. An operation that the device declares supported must pass; a case with
any other operation counts as unsupported; --declined lists these with the reason. Nothing
falls back to the CPU. With --export nothing runs: the cases are written as documents of the JSON corpus, one per file read.`,
		Example: "  nnsoc vts vectors/nnapi --device npu\n  nnsoc vts V1_2__conv2d_v1_2.json.gz --device dsp --run 'quant8' --json\n  nnsoc vts add_v1_3.mod.py --export expanded",
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
			p := testvectors.Plan{Functional: functional || device == "reference"}
			name := device
			if name == "reference" { // the CPU's kernels without its timing model
				name = m.registry.CPU().Name()
			}
			if p.Device, err = m.registry.Find(name); err != nil {
				return usage(err)
			}
			if pattern != "" {
				if p.Run, err = regexp.Compile(pattern); err != nil {
					return usage(fmt.Errorf("--run: %w", err))
				}
			}
			show := newProgress(a.err)
			defer show.done()
			if p.Files, err = readSpecs(args, show); err != nil {
				return err
			}
			if export != "" {
				show.done()
				return a.exportSpecs(export, p.Files, p.Run)
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
			if err := a.printVTS(device, r, declined); err != nil {
				return err
			}
			switch {
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
	fl.StringVar(&pattern, "run", "", "run only cases whose name matches this regular expression")
	fl.StringVar(&export, "export", "", "write the cases to this folder as corpus JSON instead of running them")
	fl.BoolVar(&declined, "declined", false, "list the unsupported cases with the reason")
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

// readSpecs reads documents and the documents inside folders.
func readSpecs(paths []string, show *progress) ([]*vectors.File, error) {
	var files []*vectors.File
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return nil, usage(err)
		}
		show.say("read %s", root)
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info.IsDir() && !hasSuffix(path, specSuffixes) {
				return nil
			}
			f, err := readSpec(path)
			if err != nil {
				return err
			}
			files = append(files, f)
			return nil
		})
		if err != nil {
			return nil, usage(err)
		}
	}
	return files, nil
}

type exportReport struct {
	SchemaVersion int            `json:"schema_version"`
	Files         []exportedFile `json:"files"`
}

type exportedFile struct {
	Spec    string `json:"spec"`
	Path    string `json:"path"`
	Cases   int    `json:"cases"`
	Skipped int    `json:"skipped"` // cases with an unknown operation
}

// exportSpecs writes the cases whose name matches run, nil for all.
func (a *app) exportSpecs(dir string, files []*vectors.File, run *regexp.Regexp) error {
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
	if len(r.Files) == 0 {
		return usage(errors.New("no case matches"))
	}
	if a.json {
		return printJSON(a.out, r)
	}
	for _, x := range r.Files {
		if _, err := fmt.Fprintf(a.out, "%s: %d cases of %s, %d skipped\n", x.Path, x.Cases, x.Spec, x.Skipped); err != nil {
			return err
		}
	}
	return nil
}

func hasSuffix(s string, suffixes []string) bool {
	for _, x := range suffixes {
		if strings.HasSuffix(s, x) {
			return true
		}
	}
	return false
}

func (a *app) printVTS(device string, r *testvectors.Report, declined bool) error {
	out := vtsReport{
		SchemaVersion: schemaVersion, Device: device, Cases: r.Cases, Passed: r.Passed, Failed: r.Failed,
		Unsupported: r.Unsupported, Skipped: r.Skipped, Failures: []vtsFailure{},
	}
	for _, f := range r.Failures {
		v := vtsFailure{Name: f.Name, Spec: f.Spec, Operations: f.Operations, Error: f.Err.Error()}
		if d := f.Difference; d != nil {
			v.Output, v.Index, v.Expected, v.Actual, v.Tolerance = d.Output, d.Index, d.Expected, d.Actual, d.Limit
		}
		out.Failures = append(out.Failures, v)
	}
	if declined {
		for _, d := range r.Declined {
			out.Declined = append(out.Declined, vtsDeclined{d.Name, d.Spec, d.Operations, d.Reason})
		}
	}
	if a.json {
		return printJSON(a.out, out)
	}
	for _, d := range out.Declined {
		fmt.Fprintf(a.out, "declined %s (%s): %s\n", d.Name, d.Spec, d.Reason)
	}
	for _, f := range r.Failures {
		fmt.Fprintf(a.out, "FAIL %s (%s)\n  %s: %v\n", f.Name, f.Spec, f.Operations, f.Err)
		if f.Difference != nil {
			fmt.Fprint(a.out, f.Difference.Neighbourhood())
		}
	}
	_, err := fmt.Fprintf(a.out, "%s: %d cases, %d passed, %d failed, %d unsupported, %d skipped\n",
		device, r.Cases, r.Passed, r.Failed, r.Unsupported, r.Skipped)
	return err
}
