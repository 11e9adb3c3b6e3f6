package inspect

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// checkReport is the JSON object of models check.
type checkReport struct {
	SchemaVersion int           `json:"schema_version"`
	SoC           string        `json:"soc"`
	Opened        int           `json:"opened_files"` // files that open
	Files         []fileChecked `json:"networks"`     // a row per file
}

// fileChecked says of a file whether it opens and what each device supports of it.
type fileChecked struct {
	Path       string          `json:"file"`                     // of a file with signatures of several subgraphs FILE#NAME
	Signatures []signature     `json:"signatures,omitempty"`     // of a TensorFlow Lite file, that of the row where it has one
	Error      string          `json:"error,omitempty"`          // why it does not open
	Internal   bool            `json:"internal_error,omitempty"` // the importer failed, which is a fault of nnsoc
	Operations int             `json:"operation_count"`
	Devices    []deviceChecked `json:"devices,omitempty"`
}

// signature is a way to call a TensorFlow Lite file.
type signature struct {
	Key     string   `json:"signature_key"` // its name
	Inputs  []string `json:"input_names"`   // names that the signature gives to inputs
	Outputs []string `json:"output_names"`  // names that the signature gives to outputs
}

type deviceChecked struct {
	Device    string           `json:"device"`
	Supported int              `json:"supported_operations"`
	Refused   []operationCheck `json:"refused_operations,omitempty"` // operations that the device does not support
}

type operationCheck struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// networkSuffixes are the names of files that models check finds in a folder.
var networkSuffixes = []string{".tflite", ".onnx", input.ModpySuffix}

// newModelsCheck returns the command models check.
func newModelsCheck(a *cli.App) *cobra.Command {
	var devices []string
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "say which files of a folder open, on which devices, and why not",
		Long: `check opens files, and all .tflite, .onnx and .mod.py files of folders and of the folders
in them, and prints a table: the operations of each file, how many of them each device
supports, or why the file does not open. Below it stands each reason for which a device
refuses operations, with the number of files that meet it; nnsoc supported lists them by operation.
A .tflite file with signatures of several subgraphs has a row for each, FILE#NAME, as other
commands take it, and a line with its inputs and outputs.
The exit code is 1 when a file does not open.`,
		Example: "  nnsoc models check downloads\n  nnsoc models check a.tflite b.onnx --device npu --json",
		Args:    cli.AtLeastOne,
		RunE: func(_ *cobra.Command, args []string) error {
			m := try.V(machine.Open(a, hal.FastSingleAnswer))
			names := try.V(m.Choose(devices))
			found := try.V(findNetworks(a, args))
			r := try.V(checkFiles(a, m, names, found))
			if a.JSON {
				try.E(a.PrintObject(r))
			} else {
				try.E(r.text(a.Out, names))
			}
			if n := len(r.Files) - r.Opened; n > 0 {
				return &cli.ExitError{Code: cli.ExitMismatch, Err: fmt.Errorf("%d of %d files do not open", n, len(r.Files))}
			}
			return nil
		},
	}
	cli.PrintsLines(cmd, "networks[]")
	cmd.Flags().Var(cli.NameList{Names: &devices, Once: true}, "device", "devices to query (default: all)")
	machine.CompleteDevices(a, cmd)
	return cmd
}

// findNetworks returns the files that the arguments name: each one itself, or those of a folder and of the folders in
// it. A folder that cannot be read is returned like a file, so that its error stands in the table.
func findNetworks(a *cli.App, args []string) (paths []string, err error) {
	for _, root := range args {
		info, err := os.Stat(root)
		if err != nil { // no file: a network of "nnsoc models", or an error
			if _, err := input.ReadModel(a, root, input.Choice{}); err != nil {
				return nil, err
			}
		}
		if err != nil || !info.IsDir() {
			paths = append(paths, root)
			continue
		}
		before := len(paths)
		inside := root + string(filepath.Separator) // so that a link to a folder is followed
		_ = filepath.WalkDir(inside, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() && input.HasSuffix(path, networkSuffixes) {
				paths = append(paths, path)
			}
			return nil
		})
		if len(paths) == before {
			return nil, cli.Usage(fmt.Errorf("%s: holds no file that ends with %s", root, strings.Join(networkSuffixes, ", ")))
		}
	}
	return paths, nil
}

// checkFiles opens each file and asks the devices about it.
func checkFiles(a *cli.App, m *machine.Machine, devices, paths []string) (*checkReport, error) {
	r := &checkReport{SchemaVersion: cli.SchemaVersion, SoC: m.Config.SoC.Name, Files: []fileChecked{}}
	show, lines := a.Progress(), a.Lines()
	defer show.Done()
	for i, path := range paths {
		show.Part(i, len(paths))
		show.Update("check %s", path)
		rows, err := checkSignatures(a, m, devices, path)
		if err != nil {
			return nil, err
		}
		for _, f := range rows {
			r.Files = append(r.Files, f)
			if err := lines.Append(&f); err != nil {
				return nil, err
			}
			if f.Error == "" {
				r.Opened++
			}
		}
	}
	return r, nil
}

// checkSignatures returns the row of a file, or those of its signatures where they are of several subgraphs.
func checkSignatures(a *cli.App, m *machine.Machine, devices []string, path string) (rows []fileChecked, err error) {
	defer try.Catch(&err)
	found := input.Signatures(path)
	var all []signature
	several := false
	for _, s := range found {
		all = append(all, signature{s.Key, s.Inputs, s.Outputs})
		several = several || s.Subgraph != found[0].Subgraph
	}
	if !several {
		f := try.V(checkFile(a, m, devices, path))
		f.Signatures = all
		return []fileChecked{f}, nil
	}
	for i, s := range found {
		f := try.V(checkFile(a, m, devices, input.SignatureModel(path, s.Key)))
		f.Signatures = all[i : i+1]
		rows = append(rows, f)
	}
	return rows, nil
}

// checkFile opens a file. Its own faults are part of the row; an error is one of a device.
func checkFile(a *cli.App, m *machine.Machine, devices []string, path string) (fileChecked, error) {
	f := fileChecked{Path: path}
	model, err := input.ReadModel(a, path, input.Choice{})
	if err == nil {
		err = nnrt.Validate(model)
	}
	if err != nil {
		f.refuse(err)
		return f, nil
	}
	g := &model.Main
	f.Operations = len(g.Operations)
	for _, name := range devices {
		d, err := m.Find(name)
		if err != nil {
			return f, cli.Usage(err)
		}
		answers, err := d.SupportedOperations(model)
		if err != nil {
			return f, fmt.Errorf("%s: %s: %w", path, name, err)
		}
		c := deviceChecked{Device: name}
		for i, x := range answers {
			if x.OK {
				c.Supported++
				continue
			}
			kind := g.Operations[i].Type.String()
			c.Refused = append(c.Refused, operationCheck{i, kind, session.Refusal(kind, x.Reason)})
		}
		f.Devices = append(f.Devices, c)
	}
	return f, nil
}

// refuse notes why a file does not open. A panic that the importer has recovered from is an internal error of this file.
func (f *fileChecked) refuse(err error) {
	var panicked runtime.Error
	f.Error, f.Internal = strings.TrimPrefix(err.Error(), f.Path+": "), errors.As(err, &panicked)
}

// text prints a row per file, then the reasons of the devices.
func (r *checkReport) text(w io.Writer, devices []string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "file\toperations\t%s\n", strings.Join(devices, "\t"))
	for _, f := range r.Files {
		if f.Error != "" {
			why := "does not open"
			if f.Internal {
				why = "internal error"
			}
			fmt.Fprintf(t, "%s\t%s: %s\n", f.Path, why, f.Error)
			continue
		}
		fmt.Fprintf(t, "%s\t%d", f.Path, f.Operations)
		for _, d := range f.Devices {
			fmt.Fprintf(t, "\t%d", d.Supported)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, f := range r.Files {
		for _, s := range f.Signatures {
			fmt.Fprintf(w, "%s: signature %s: %s -> %s\n", f.Path, s.Key, strings.Join(s.Inputs, ", "), strings.Join(s.Outputs, ", "))
		}
	}
	for i, name := range devices {
		fmt.Fprintf(w, "\n%s supports all operations of %d of the %d files that open\n", name, r.whole(i), r.Opened)
		for _, x := range r.reasons(i) {
			fmt.Fprintf(w, "  %s: %s (files: %d)\n", x.reason, strings.Join(x.types, ", "), x.files)
		}
	}
	_, err := fmt.Fprintf(w, "\n%d of %d files open on %s\n", r.Opened, len(r.Files), r.SoC)
	return err
}

// whole counts the files of which a device supports all operations.
func (r *checkReport) whole(device int) (n int) {
	for _, f := range r.Files {
		if f.Error == "" && f.Devices[device].Supported == f.Operations {
			n++
		}
	}
	return n
}

// refusal is a reason for which a device refuses operations.
type refusal struct {
	reason string
	types  []string // of the operations, in order of appearance
	files  int
	last   int // index of the file that met the reason last
}

// reasons lists why a device refuses operations, in order of appearance.
func (r *checkReport) reasons(device int) (list []*refusal) {
	byReason := map[string]*refusal{}
	for i, f := range r.Files {
		if f.Error != "" {
			continue
		}
		for _, op := range f.Devices[device].Refused {
			x := byReason[op.Reason]
			if x == nil {
				x = &refusal{reason: op.Reason, last: -1}
				byReason[op.Reason] = x
				list = append(list, x)
			}
			if x.last != i {
				x.files, x.last = x.files+1, i
			}
			if !slices.Contains(x.types, op.Type) {
				x.types = append(x.types, op.Type)
			}
		}
	}
	return list
}
