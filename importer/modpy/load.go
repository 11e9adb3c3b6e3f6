package modpy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/language"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/python"
	"github.com/nnsoc/nnsoc/importer/vectors"
)

// versionFolder is the name of a folder of specifications for a version of NNAPI.
var versionFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(V\d_\d|AIDL_V\d+)$`) })

// Error is a failure to read a specification. It names file, line and column
// (one-based, columns in runes) where these are known.
type Error = python.Error

// Load reads and runs a specification file. The name of its folder (V1_2 and
// the like) is the version its models are introduced in.
func Load(name string) (*vectors.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("modpy: %w", err)
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil {
		return nil, fmt.Errorf("modpy: %w", err)
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if abs, err := filepath.Abs(name); err == nil && !strings.ContainsRune(filepath.ToSlash(name), '/') {
		return run(name, filepath.ToSlash(abs), src, language.MaxSteps, builtin.MaxValues)
	}
	return run(name, filepath.ToSlash(name), src, language.MaxSteps, builtin.MaxValues)
}

// Parse runs a specification. Its name, a path with slashes, appears in errors;
// the base name starts the names of the cases, and the folder is the version.
// The error is an *Error where a position is known.
func Parse(name string, src []byte) (*vectors.File, error) {
	return run(name, name, src, language.MaxSteps, builtin.MaxValues)
}

// run parses, executes and expands within a number of steps and values.
func run(name, slashed string, src []byte, steps uint64, values int64) (*vectors.File, error) {
	if len(src) > maxSource {
		return nil, fmt.Errorf("modpy: %s: the specification exceeds %d bytes", name, maxSource)
	}
	base, folder := path.Base(slashed), path.Base(path.Dir(slashed))
	spec, _, _ := strings.Cut(base, ".")
	e := &env{spec: spec, names: map[string]int{}, overrides: map[string]string{}, tests: map[string]int{}}
	if versionFolder().MatchString(folder) {
		e.version = folder
	}
	tree, consts, err := python.Parse(name, string(src))
	if err != nil {
		return nil, err
	}
	globals := language.Builtins(isClass)
	maps.Copy(globals, e.classes())
	maps.Copy(globals, language.Helpers(consts))
	globals[python.FnImport] = language.Importer(language.Modules(globals))
	prog, err := starlark.FileProgram(tree, globals.Has)
	if err != nil {
		return nil, wrap(err)
	}
	t := &starlark.Thread{Name: name, Print: func(*starlark.Thread, string) {}}
	t.SetMaxExecutionSteps(steps)
	builtin.SetBudget(t, values)
	if _, err := prog.Init(t, globals); err != nil {
		return nil, wrap(err)
	}
	f := &vectors.File{Spec: base, Name: spec, Version: folder}
	if folder == "." || folder == "/" {
		f.Version = ""
	} else {
		f.Spec = folder + "/" + base
	}
	if f.Cases, err = e.expand(t); err != nil {
		return nil, err
	}
	return f, nil
}

// wrap adds the position in the specification to an error of Starlark.
func wrap(err error) error {
	var list resolve.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return &Error{Pos: list[0].Pos, Msg: list[0].Msg, Err: err}
	}
	var eval *starlark.EvalError
	if !errors.As(err, &eval) {
		return &Error{Msg: err.Error(), Err: err}
	}
	msg := eval.Msg
	for _, f := range backwards(eval.CallStack) {
		arity := strings.HasPrefix(msg, "function "+f.Name+" ") // blame the call, not the function
		if f.Pos.Line > 0 && f.Pos.Filename() != "<builtin>" && !arity {
			return &Error{Pos: f.Pos, Msg: msg, Err: err}
		}
		if !strings.HasPrefix(f.Name, "·") && !strings.HasPrefix(msg, f.Name+":") && !strings.HasPrefix(msg, f.Name+" ") && !arity {
			msg = f.Name + ": " + msg
		}
	}
	return &Error{Msg: msg, Err: err}
}

func backwards(s starlark.CallStack) []starlark.CallFrame {
	out := make([]starlark.CallFrame, len(s))
	for i, f := range s {
		out[len(s)-1-i] = f
	}
	return out
}
