// Command platforms type-checks packages and their tests for other platforms, from source:
//
//	go run ./internal/platforms darwin/amd64,darwin/arm64 ./...
//
// A build compiles all that they import first, which takes thirty times as long.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is a package of go list.
type listed struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	Standard        bool
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: platforms OS/ARCH,... PACKAGE...")
		os.Exit(2)
	}
	c := checker{set: token.NewFileSet(), files: map[string]*ast.File{}}
	failed := false
	for platform := range strings.SplitSeq(os.Args[1], ",") {
		if err := c.check(platform, ".", os.Args[2:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// checker keeps the files that it has read: most belong to every platform.
type checker struct {
	set   *token.FileSet
	files map[string]*ast.File
}

// check returns the errors of the packages of a module and of what they import.
func (c *checker) check(platform, dir string, patterns []string) error {
	system, arch, ok := strings.Cut(platform, "/")
	sizes := types.SizesFor("gc", arch)
	if !ok || sizes == nil {
		return fmt.Errorf("platform %q is not OS/ARCH", platform)
	}
	list := exec.Command("go", append([]string{"list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,Standard,Module"}, patterns...)...)
	list.Dir = dir
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	var errs []error
	done := importer{"unsafe": types.Unsafe}
	for d := json.NewDecoder(bytes.NewReader(out)); ; { // what a package imports comes before it
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return errors.Join(errs...)
		} else if err != nil {
			return err
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		config := types.Config{Importer: mapped{done, p.ImportMap}, Sizes: sizes, Error: func(err error) { errs = append(errs, err) }}
		own := p.Module != nil && p.Module.Main
		config.IgnoreFuncBodies = !own
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := c.file(filepath.Join(p.Dir, name), own)
			if err != nil {
				return err
			}
			files = append(files, f)
			for _, d := range f.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && own && f.Body == nil && len(p.SFiles) == 0 {
					errs = append(errs, fmt.Errorf("%s: %s has no body", c.set.Position(f.Pos()), f.Name.Name))
				}
			}
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		done[p.ImportPath], _ = config.Check(path, c.set, files, nil)
	}
}

// file reads a file, of another module without the bodies of functions.
func (c *checker) file(path string, bodies bool) (*ast.File, error) {
	if f := c.files[path]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(c.set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && !bodies && d.Body != nil {
			d.Body.List = nil
		}
	}
	c.files[path] = f
	return f, nil
}

// importer has the packages that are checked.
type importer map[string]*types.Package

// mapped are they as one package imports them.
type mapped struct {
	importer
	names map[string]string
}

func (m mapped) Import(path string) (*types.Package, error) {
	if name, ok := m.names[path]; ok {
		path = name
	}
	if p := m.importer[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not listed", path)
}
