package driverkit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/docs/examples"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// module is the path of this module.
const module = "github.com/nnsoc/nnsoc"

// The template: package adder, its device and its import path.
const (
	templateName = "adder"
	templatePath = module + "/docs/examples/adder"
)

// newReport is the JSON object of driver new.
type newReport struct {
	SchemaVersion int      `json:"schema_version"`
	Name          string   `json:"name"`
	Folder        string   `json:"folder"`
	Module        string   `json:"module"`
	Files         []string `json:"files"`
}

// newNew returns the command driver new.
func newNew(a *cli.App) *cobra.Command {
	var folder, path, checkout string
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "write a driver as a separate module",
		Long: `new writes the module of a driver named NAME: an engine, its kernels, the lowering, tests
(conformance, test vectors, random models, a coverage-guided fuzzer) and a command that
serves it. It supports ADD, MUL and RELU of float32; replace its engine by your own.

With --checkout the module is built against a copy of this project on disk, without a
network. Otherwise "go mod tidy" fetches it.`,
		Example: "  nnsoc driver new acme --checkout .\n  cd acme && make test && make serve",
		Args:    cli.ExactlyOne,
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			if err := checkName(name); err != nil {
				return cli.Usage(err)
			}
			folder = cmp.Or(folder, name)
			if path == "" {
				path = "example.org/" + name
			}
			files, err := render(name, path, checkout)
			if err != nil {
				return cli.Usage(err)
			}
			if err := writeModule(folder, files); err != nil {
				return cli.Usage(err)
			}
			r := newReport{SchemaVersion: cli.SchemaVersion, Name: name, Folder: folder, Module: path}
			for _, f := range files {
				r.Files = append(r.Files, f.name)
			}
			if a.JSON {
				return cli.PrintJSON(a.Out, r)
			}
			for _, f := range r.Files {
				fmt.Fprintln(a.Out, filepath.Join(folder, f))
			}
			next := "make test"
			if checkout == "" {
				next = "go mod tidy && make test"
			}
			_, err = fmt.Fprintf(a.Out, "\nnext: cd %s && %s\n", folder, next)
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&folder, "dir", "", "folder to write, which must not be there or be empty (default: NAME)")
	fl.StringVar(&path, "module", "", "path of the module (default: example.org/NAME)")
	fl.StringVar(&checkout, "checkout", "", "folder of a checkout of nnsoc to build against")
	return cmd
}

// checkName refuses an invalid name of a device, a package and a command.
func checkName(name string) error {
	if !regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`).MatchString(name) {
		return fmt.Errorf("%q: the name of a device has at most 32 small letters, digits and _, a letter first", name)
	}
	if _, ok := soc.EngineNamed(name); ok {
		return fmt.Errorf("%s is a device of every phone here: choose another name", name)
	}
	return hal.CheckName(name)
}

// file is one of the module.
type file struct {
	name string
	data []byte
}

// render makes the files of the module.
func render(name, path, checkout string) ([]file, error) {
	if !regexp.MustCompile(`^[A-Za-z0-9._~/-]+$`).MatchString(path) {
		return nil, fmt.Errorf("--module %q is no path of a module", path)
	}
	head, sum, err := moduleFiles(path, checkout)
	if err != nil {
		return nil, err
	}
	files := []file{{"go.mod", head}, {"Makefile", []byte(makefile(name))}, {"README.md", []byte(readme(name))}}
	if sum != nil {
		files = append(files, file{"go.sum", sum})
	}
	word := regexp.MustCompile(`\b` + templateName + `\b`)
	err = fs.WalkDir(examples.Adder, templateName, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := examples.Adder.ReadFile(at)
		if err != nil {
			return err
		}
		data = bytes.ReplaceAll(data, []byte(templatePath), []byte(path))
		files = append(files, file{strings.TrimPrefix(at, templateName+"/"), word.ReplaceAll(data, []byte(name))})
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// moduleFiles are go.mod and, for a checkout, go.sum: with all that the checkout needs, so that
// nothing has to be fetched.
func moduleFiles(path, checkout string) (head, sum []byte, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\n", path)
	if checkout == "" {
		version := "latest"
		if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
			version = strings.TrimSuffix(info.Main.Version, "+dirty")
		}
		fmt.Fprintf(&b, "go 1.26.0\n\nrequire %s %s\n", module, version)
		return []byte(b.String()), nil, nil
	}
	abs, err := filepath.Abs(checkout)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := os.ReadFile(filepath.Join(abs, "go.mod"))
	if err != nil {
		return nil, nil, fmt.Errorf("--checkout %s: %w", checkout, err)
	}
	_, rest, ok := strings.Cut(string(theirs), "module "+module+"\n")
	if !ok {
		return nil, nil, fmt.Errorf("--checkout %s is no checkout of %s", checkout, module)
	}
	if sum, err = os.ReadFile(filepath.Join(abs, "go.sum")); err != nil {
		return nil, nil, fmt.Errorf("--checkout %s: %w", checkout, err)
	}
	fmt.Fprintf(&b, "%s\nrequire %s v0.0.0\n\nreplace %s => %s\n", strings.TrimLeft(rest, "\n"), module, module, abs)
	return []byte(b.String()), sum, nil
}

// writeModule writes the files into a folder that is not there or empty.
func writeModule(folder string, files []file) error {
	if list, err := os.ReadDir(folder); err == nil && len(list) > 0 {
		return fmt.Errorf("%s is not empty", folder)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	_, before := os.Stat(folder)
	for _, f := range files {
		at := filepath.Join(folder, filepath.FromSlash(f.name))
		err := os.MkdirAll(filepath.Dir(at), 0o777)
		if err == nil {
			err = os.WriteFile(at, f.data, 0o666)
		}
		if err != nil { // leave nothing half
			for _, f := range files {
				_ = os.Remove(filepath.Join(folder, filepath.FromSlash(f.name)))
				_ = os.Remove(filepath.Join(folder, filepath.FromSlash(path.Dir(f.name))))
			}
			if before != nil {
				_ = os.Remove(folder)
			}
			return err
		}
	}
	return nil
}

func makefile(name string) string {
	return strings.ReplaceAll(`.PHONY: test fuzz serve

test:
	go vet ./...
	go test ./...

fuzz: ## until it finds something
	go test -run xxx -fuzz FuzzDevice ./driver

serve: ## nnsoc run --driver NAME.sock --device NAME
	go run . NAME.sock
`, "NAME", name)
}

func readme(name string) string {
	return strings.ReplaceAll(`# NAME

A driver for nnsoc. driver/engine.go is the engine, driver/kernel.go what it computes of a network, driver/driver.go how
networks become programs of it, driver/program.go how these run.

    make test      # conformance, test vectors, random models
    make fuzz      # a coverage-guided fuzzer
    make serve &   # as a process of its own
    nnsoc run --driver NAME.sock --device NAME
    nnsoc conformance --driver NAME.sock --device NAME

The guide: docs/WritingADriver.md of nnsoc.
`, "NAME", name)
}
