package mlts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
)

// List is a models list: what to run, and on which data.
type List struct {
	// Dirs are the folders that files are looked for in, the first that has one wins.
	Dirs   []string
	Models []Model
}

// Model is an entry of a models list.
type Model struct {
	Name          string           `json:"name"`
	TestName      string           `json:"testName"`
	ModelFile     string           `json:"modelFile"`
	BaselineSec   float64          `json:"baselineSec"`
	MinSDKVersion int              `json:"minSdkVersion"`
	InputSize     []int            `json:"inputSize"` // n, h, w, c
	DataSize      int              `json:"dataSize"`  // bytes of an element
	InputScale    float64          `json:"inputScale"`
	InputZero     float64          `json:"inputZeroPoint"`
	Evaluator     *EvaluatorConfig `json:"evaluator"`
	InputOutputs  []InputOutput    `json:"inputOutputs"`
	Dataset       *Dataset         `json:"dataset"`

	source source // of a built-in model
}

// EvaluatorConfig names an evaluator.
type EvaluatorConfig struct {
	ClassName        string  `json:"className"`
	OutputMeanStdDev string  `json:"outputMeanStdDev"` // file
	ExpectedTop1     float64 `json:"expectedTop1"`
}

// InputOutput is a sequence of inputs in one file, and the expected outputs: a file for
// each output.
type InputOutput struct {
	Input   string   `json:"input"`
	Output  string   `json:"output"`
	Outputs []string `json:"outputs"`
}

// Files are the files of the outputs, in their order.
func (x *InputOutput) Files() []string {
	if x.Output != "" {
		return []string{x.Output}
	}
	return x.Outputs
}

// Dataset is a folder of pictures with their classes.
type Dataset struct {
	InputPath    string `json:"inputPath"`
	GroundTruth  string `json:"groundTruth"`
	Labels       string `json:"labels"`
	Preprocessor string `json:"preprocessor"`
}

// Bounds of the data read.
const (
	maxListBytes = 16 << 20
	maxModels    = 4096
	maxFileBytes = 1 << 30
	maxSteps     = 1 << 20
)

// ReadList reads a models list. The files that it names are looked for in dirs or,
// without any, beside the list, above it, and in the folder assets there, as in AOSP.
func ReadList(path string, dirs ...string) (*List, error) {
	b, err := readBounded(path, maxListBytes)
	if err != nil {
		return nil, err
	}
	l, err := ParseList(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if l.Dirs = dirs; len(dirs) == 0 {
		dir := filepath.Dir(path)
		up := filepath.Join(dir, "..")
		l.Dirs = []string{dir, up, filepath.Join(up, "assets")}
	}
	return l, nil
}

// ParseList reads the text of a models list and checks all that does not need files.
func ParseList(b []byte) (*List, error) {
	var file struct {
		Models *[]json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("models list: %w", err)
	}
	switch {
	case file.Models == nil:
		return nil, errors.New(`models list: no array "models"`)
	case len(*file.Models) > maxModels:
		return nil, fmt.Errorf("models list: %d models, at most %d", len(*file.Models), maxModels)
	}
	l := &List{}
	for i, raw := range *file.Models {
		m, err := parseModel(raw)
		if err != nil {
			return nil, fmt.Errorf("models list: model %d (%s): %w", i, m.Name, err)
		}
		for k := range l.Models {
			if l.Models[k].TestName == m.TestName {
				return nil, fmt.Errorf("models list: model %d: %q stands twice", i, m.TestName)
			}
		}
		l.Models = append(l.Models, m)
	}
	return l, nil
}

func parseModel(raw json.RawMessage) (m Model, err error) {
	defer try.Catch(&err)
	try.E(json.Unmarshal(raw, &m))
	var present map[string]json.RawMessage
	try.E(json.Unmarshal(raw, &present))
	if m.Name == "" {
		return m, errors.New("no name")
	}
	m.TestName = cmp.Or(m.TestName, m.Name)
	m.ModelFile = cmp.Or(m.ModelFile, m.Name)
	if _, ok := present["baselineSec"]; !ok {
		return m, errors.New("no baselineSec")
	}
	if !(m.BaselineSec >= 0) || math.IsInf(m.BaselineSec, 1) {
		return m, fmt.Errorf("baselineSec %v, want 0 or more", m.BaselineSec)
	}
	try.E(m.checkInput())
	switch {
	case (len(m.InputOutputs) > 0) == (m.Dataset != nil):
		return m, errors.New("want either inputOutputs or a dataset")
	case m.Dataset != nil:
		err = m.Dataset.check(&m)
	}
	for i := range m.InputOutputs {
		x := &m.InputOutputs[i]
		if x.Input == "" || (x.Output != "") == (len(x.Outputs) > 0) {
			return m, fmt.Errorf("inputOutputs %d: want an input, and an output or outputs", i)
		}
	}
	if err == nil && m.Evaluator != nil {
		_, err = newEvaluator(m.Evaluator, nil)
	}
	return m, err
}

func (m *Model) checkInput() error {
	if len(m.InputSize) != 4 {
		return fmt.Errorf("inputSize %v, want [n, h, w, c]", m.InputSize)
	}
	n := 1
	for _, d := range m.InputSize {
		if d < 1 || n > maxFileBytes/d {
			return fmt.Errorf("inputSize %v", m.InputSize)
		}
		n *= d
	}
	if m.DataSize != 4 && m.DataSize != 1 {
		return fmt.Errorf("dataSize %d, want 4 (float) or 1 (quantized)", m.DataSize)
	}
	return nil
}

// inputBytes is the size of one input.
func (m *Model) inputBytes() int {
	n := m.DataSize
	for _, d := range m.InputSize {
		n *= d
	}
	return n
}

func (d *Dataset) check(m *Model) error {
	switch s := m.InputSize; {
	case d.InputPath == "" || d.GroundTruth == "" || d.Labels == "":
		return errors.New("dataset: want inputPath, groundTruth and labels")
	case preprocessors[d.Preprocessor] == nil:
		return fmt.Errorf("dataset: preprocessor %q, there is %s", d.Preprocessor, strings.Join(preprocessorNames(), ", "))
	case s[0] != 1 || s[1] != s[2] || s[3] != 3:
		return fmt.Errorf("dataset: inputSize %v, pictures are [1, D, D, 3]", s)
	case m.DataSize == 1 && !(m.InputScale > 0):
		return errors.New("dataset: a quantized model needs inputScale and inputZeroPoint")
	}
	return nil
}

// file is the path of a file of the list, which must be within one of its folders.
func (l *List) file(name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%s: not within the folder of the list", name)
	}
	for _, dir := range l.Dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: not in %s", name, strings.Join(l.Dirs, ", "))
}

// read reads a file of the list.
func (l *List) read(name string) ([]byte, error) {
	path, err := l.file(name)
	if err != nil {
		return nil, err
	}
	return readBounded(path, maxFileBytes)
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s: larger than %d MiB", path, limit>>20)
	}
	return b, nil
}

// Missing lists the files that a model needs and that are not there.
func (l *List) Missing(m *Model) (list []string) {
	if m.source != nil {
		return nil
	}
	for _, name := range m.files() {
		if _, err := l.file(name); err != nil {
			list = append(list, name)
		}
	}
	return list
}

// files are the files and folders that a model names.
func (m *Model) files() []string {
	list := []string{m.ModelFile + ".tflite"}
	for i := range m.InputOutputs {
		list = append(append(list, m.InputOutputs[i].Input), m.InputOutputs[i].Files()...)
	}
	if d := m.Dataset; d != nil {
		list = append(list, d.InputPath, d.GroundTruth, d.Labels)
	}
	if e := m.Evaluator; e != nil && e.OutputMeanStdDev != "" {
		list = append(list, e.OutputMeanStdDev)
	}
	return list
}

// size is the number of bytes of a file of the list.
func (l *List) size(name string) (int64, error) {
	path, err := l.file(name)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > maxFileBytes:
		return 0, fmt.Errorf("%s: larger than %d MiB", path, maxFileBytes>>20)
	}
	return info.Size(), nil
}
