package input

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/importer/vela"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/internal/mapped"
	"github.com/nnsoc/nnsoc/nn"
)

// ReadModel returns the network that a MODEL argument names: a file where there is one (a network, or test cases:
// .mod.py, .json), otherwise a network of the zoo or of a document of the public corpus.
// FILE#NAME is a signature of a .tflite file.
// Every command with a MODEL calls it. Choices that the user and the file leave open are notes of a.
func ReadModel(a *cli.App, name string, c Choice) (*nn.Model, error) {
	if info, err := os.Stat(name); err == nil && !info.IsDir() || name == "" {
		return importModel(a, name, c)
	}
	if file, key, ok := cutSignature(name); ok {
		if c.Signature != "" && c.Signature != key {
			return nil, cli.Usage(fmt.Errorf("--signature %s of %s, which names the signature %s", c.Signature, name, key))
		}
		return importModel(a, file, Choice{c.Shapes, key})
	}
	if build := builder(name); build != nil {
		if err := c.needsFile(name, "is built with its own shapes"); err != nil {
			return nil, err
		}
		return build()
	}
	if m, ok, err := readCorpusModel(a, name); ok {
		if err == nil {
			err = c.needsFile(name, statesShapes)
		}
		return m, err
	}
	_, err := os.Stat(name)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Base(name) != name || slices.Contains(fileEndings, filepath.Ext(name)) {
		return importModel(a, name, c) // returns the error of the file
	}
	return nil, cli.Usage(fmt.Errorf("open %s: no such file, nor a network of \"nnsoc models\"; similar ones: %s",
		name, strings.Join(zoo.Similar(name, 4), ", ")))
}

// builder builds a network that nnsoc has by its name: one of the zoo, or of those on which strategies are compared; nil: it has none.
func builder(name string) func() (*nn.Model, error) {
	n, ok := zoo.Find(name)
	switch {
	case ok:
		return n.Build
	case name == bench.IslandsName:
		return bench.Islands
	case slices.Contains(bench.DividedLayers(), name):
		return func() (*nn.Model, error) { return bench.DividedLayer(name) }
	}
	return nil
}

// fileEndings end the names of files, for which no network of the zoo is meant.
var fileEndings = []string{".tflite", ".onnx", ".json", ".gz", ".py"}

// CompleteModel completes the one MODEL argument of a command.
func CompleteModel(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return CompleteModels(cmd, args, prefix)
}

// CompleteModels completes a MODEL argument: networks of the zoo and, by the
// shell, files.
func CompleteModels(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, n := range slices.Concat(zoo.Names(), []string{bench.IslandsName}, bench.DividedLayers()) {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n)
		}
	}
	return names, cobra.ShellCompDirectiveDefault
}

// EmbeddedNetwork is the default of commands without a MODEL: MobileNet v1 1.0 224, quantized or in its float form.
func EmbeddedNetwork(quantized bool) *nn.Model {
	form := "float"
	if quantized {
		form = "quant"
	}
	m := zoo.MustBuild("mobilenet_v1_1.0_224_" + form)
	m.Name = "mobilenet_v1_1.0_224_synthetic_" + form
	return m
}

// maxModelFile bounds a model file.
const maxModelFile = 1 << 30

// ReadModelFile reads a file that may be a model.
func ReadModelFile(path string) ([]byte, error) { return cli.ReadFile(path, maxModelFile) }

// UseModelFile calls f with the bytes of a file that may be a model, those of a regular file without copying the parts
// that f does not read, see mapped.Use.
func UseModelFile(path string, f func(data []byte) error) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxModelFile {
		return mapped.Use(path, f)
	}
	data, err := ReadModelFile(path)
	if err != nil {
		return err
	}
	return f(data)
}

// importModel reads a model file.
func importModel(a *cli.App, path string, c Choice) (*nn.Model, error) {
	if HasSuffix(path, SpecSuffixes) {
		if err := c.needsFile(path, statesShapes); err != nil {
			return nil, err
		}
		return readSpecModel(a, path)
	}
	data, err := ReadModelFile(path)
	if err != nil {
		return nil, err
	}
	if err := errCompiled(path, data); err != nil {
		return nil, err
	}
	note := func(text string) { a.Note("%s: %s", path, text) }
	var m *nn.Model
	if onnxfile.Is(data) || filepath.Ext(path) == ".onnx" && !isTFLite(data) {
		if c.Signature != "" {
			return nil, cli.Usage(fmt.Errorf("--signature needs a .tflite file, %s is ONNX, which has none", path))
		}
		m, err = onnx.Import(data, &onnx.Options{Shapes: c.Shapes, External: externalFiles(path), Note: note})
	} else {
		m, err = tflite.Import(data, &tflite.Options{Shapes: c.Shapes, Signature: c.Signature, Note: note})
	}
	if err != nil {
		if e := errForeign(data); e != nil {
			return nil, cli.Usage(fmt.Errorf("%s %w", path, e))
		}
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	m.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	if c.Signature != "" {
		m.Name += signatureMark + c.Signature
	}
	return m, nil
}

const statesShapes = "states the shapes of its cases"

// needsFile is the error for flags of a model file with a network that is none; why it has its own shapes.
func (c *Choice) needsFile(name, why string) error {
	switch {
	case len(c.Shapes) > 0:
		return cli.Usage(fmt.Errorf("--shape needs a .tflite or .onnx file, %s %s", name, why))
	case c.Signature != "":
		return cli.Usage(fmt.Errorf("--signature needs a .tflite file, %s is none", name))
	}
	return nil
}

// externalFiles opens files that a model file names: those in its folder and below it. They may
// be larger than memory.
func externalFiles(path string) func(location string) (onnx.ExternalFile, error) {
	return func(location string) (onnx.ExternalFile, error) {
		dir := filepath.Dir(path)
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		if _, err := root.Stat(location); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("its data is in %s, which does not exist: such files stand beside the network", filepath.Join(dir, location))
		} else if err != nil { // among others, it leads out of the folder
			return nil, fmt.Errorf("its data is in %q, which is no file in the folder of the network", location)
		}
		return mapped.Open(filepath.Join(dir, location))
	}
}

// errCompiled is the error for a file of Vela where a network is expected
// that nnsoc compiles itself; nil for any other file.
func errCompiled(path string, data []byte) error {
	if !vela.Is(data) {
		return nil
	}
	what := "an Ethos-U NPU"
	if n, err := vela.Read(data); err == nil {
		if c, err := inference.Accelerator(n); err == nil {
			what = fmt.Sprintf("%v (%v)", c, n)
		}
	}
	return cli.Usage(fmt.Errorf("%s: compiled for %s, so that only that NPU can run it: try \"nnsoc npu exec %s\", or use the network before that", path, what, path))
}
