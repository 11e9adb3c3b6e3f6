package tflite

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
)

// judge is TensorFlow Lite 2.9.0 for Linux on amd64, of npm's package tfjs-tflite-node 0.0.2, which `make oracle` fetches,
// behind testdata/judge.c.
type judge struct{ program, library string }

func newJudge(t *testing.T) *judge {
	t.Helper()
	library := require.V(filepath.Abs("../../out/tflite/node_modules/tfjs-tflite-node/cc_deps/linux_amd64/libtensorflowlite_c.so"))(t)
	if _, err := os.Stat(library); err != nil {
		t.Skip("skipped: needs libtensorflowlite_c.so of npm's tfjs-tflite-node 0.0.2, for Linux on amd64")
	}
	program := filepath.Join(t.TempDir(), "judge")
	if text, err := exec.Command("gcc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "testdata/judge.c", "-o", program, "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &judge{program, library}
}

// judgement is a network with its inputs, and what TensorFlow Lite makes of it: its outputs, or what it says instead.
type judgement struct {
	file    []byte
	given   [][]byte
	outputs int

	results [][]byte
	shapes  [][]uint32
	refused string
}

// run runs networks.
func (j *judge) run(t *testing.T, list []*judgement) {
	t.Helper()
	root := t.TempDir()
	dir := func(i int, name string) string { return filepath.Join(root, fmt.Sprint(i), name) }
	var folders strings.Builder
	for i, n := range list {
		require.NoError(t, os.Mkdir(dir(i, ""), 0o700))
		require.NoError(t, os.WriteFile(dir(i, "model.tflite"), n.file, 0o600))
		for k, data := range n.given {
			require.NoError(t, os.WriteFile(dir(i, fmt.Sprintf("in%d.bin", k)), data, 0o600))
		}
		fmt.Fprintln(&folders, dir(i, ""))
	}
	c := exec.CommandContext(t.Context(), j.program, j.library)
	c.Stdin = strings.NewReader(folders.String())
	statuses := strings.Fields(string(require.V(c.Output())(t)))
	require.Equal(t, len(statuses), len(list), "networks that ran")
	for i, n := range list {
		if statuses[i] != "0" {
			said, _ := os.ReadFile(dir(i, "said.txt"))
			n.refused = strings.Join(strings.Fields(fmt.Sprintf("status %s: %s", statuses[i], said)), " ")
			continue
		}
		for k := range n.outputs {
			n.results = append(n.results, require.File(t, dir(i, fmt.Sprintf("out%d.bin", k))))
			shape, dims := []uint32{}, require.File(t, dir(i, fmt.Sprintf("dims%d.bin", k)))
			for at := 0; at < len(dims); at += 4 {
				shape = append(shape, binary.LittleEndian.Uint32(dims[at:]))
			}
			n.shapes = append(n.shapes, shape)
		}
	}
}

// elementsOf are the elements of a tensor of the file as numbers.
func elementsOf(code int, data []byte) (list []float64) {
	size := typesOfTensors[code].bits / 8
	for i := 0; i+size <= len(data); i += size {
		b := data[i:]
		v := 0.0
		switch code {
		case typeFloat32:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case typeFloat16:
			v = opspec.Element(nn.TensorFloat16, b)
		case typeInt32:
			v = float64(int32(binary.LittleEndian.Uint32(b)))
		case typeInt64:
			v = float64(int64(binary.LittleEndian.Uint64(b)))
		case typeInt16:
			v = float64(int16(binary.LittleEndian.Uint16(b)))
		case typeInt8:
			v = float64(int8(b[0]))
		default:
			v = float64(b[0])
		}
		list = append(list, v)
	}
	return list
}

// judged is the inputs of the network in the file's types.
func (c *opCase) judged() (list [][]byte) {
	for _, a := range c.in {
		if !a.constant && !a.omitted && !a.Variable {
			list = append(list, a.bytes())
		}
	}
	return list
}

// knownDifference is a difference from TensorFlow Lite 2.9 of an operator, or of all where op is empty: one whose form or
// text has a text, and that is at most units steps of its output where these are given.
type knownDifference struct {
	op, text string
	units    float64
	reason   string
}

const (
	sixteen  = "TensorFlow Lite scales 16-bit sums by a multiplier of 16 bits and looks functions up in tables; the importer computes reals and rounds once"
	ties     = "TensorFlow Lite's matrix products round ties upwards at once; NNAPI doubles, rounds and shifts, as its reference does"
	shrunk   = "TensorFlow Lite walks the columns that fit the output, not those of the input"
	newer    = "TensorFlow Lite 2.9 is older than the field"
	notFused = "TensorFlow Lite ignores a fused activation that its kernels lack"
	zeroes   = "TensorFlow Lite fills with stored 0, which its zero point makes another number than 0"
	once     = "TensorFlow Lite rounds intermediate values to integers; the importer rounds once"
)

var knownDifferences = []knownDifference{
	{"LOGISTIC", "is 23955, TensorFlow Lite's 23952", 3, sixteen},
	{"RESIZE_BILINEAR", "int16", 256, "TensorFlow Lite interpolates integers between positions of 10 bits"},
	{"RESIZE_BILINEAR", "", 1, once},
	{"CONV_2D", "activation:4", 0, notFused},
	{"CONV_2D", "int8", 1, ties},
	{"TRANSPOSE_CONV", "stride_h:2 stride_w:1", 0, shrunk},
	{"FULLY_CONNECTED", "per channel", 0, channelless},
	{"FULLY_CONNECTED", "element 1 is 17, TensorFlow Lite's 0", 0, channelless},
	{"FULLY_CONNECTED", "int8", 1, ties},
	{"DEPTHWISE_CONV_2D", "hybrid map[", 0, "TensorFlow Lite reads a scale for each channel where the file has one"},
	{"", "int16", 3, sixteen},
	{"DIV", "TensorFlow Lite's 0", 0, "TensorFlow Lite shifts a dividend of 0 by more bits than it has"},
	{"DIV", "uint8", 1, once},
	{"MEAN", "uint8", 1, once},
	{"L2_NORMALIZATION", "int8", 1, once},
	{"SQUARED_DIFFERENCE", "int8", 1, once},
	{"STRIDED_SLICE", "offset:true", 0, newer},
	{"REVERSE_V2", "", 0, "TensorFlow Lite 2.9 reverses one dimension"},
	{"MATRIX_DIAG", "int8", 0, zeroes},
	{"SCATTER_ND", "int8", 0, zeroes},
}

const channelless = "TensorFlow Lite 2.9 has no scale for each channel there, and takes 0"

// find is the first known difference that a difference is, -1 where it is none.
func find(list []knownDifference, op, form string, d difference) int {
	return slices.IndexFunc(list, func(k knownDifference) bool {
		return (k.op == "" || k.op == op) && strings.Contains(form+d.text, k.text) && (k.units == 0 || d.units <= k.units)
	})
}

// difference describes a difference of a result, and its size in steps of quantized results.
type difference struct {
	text  string
	units float64
}

// TestOracleTFLite runs the operator of every row, in every type and quantization that the tests have, on TensorFlow Lite
// too: outputs agree, or the difference stands in a table with its reason.
func TestOracleTFLite(t *testing.T) {
	oracle.Need(t, "gcc")
	j := newJudge(t)
	var cases []*opCase
	var list []*judgement
	for _, family := range [][]opCase{convCases, mathCases, activationCases, shapeCases, indexCases, reduceCases, recurrentCases, quantizationCases, poolCases, plantedCases, wideCases(), hostCases} {
		for _, c := range withForms(t, family) {
			cases = append(cases, c)
			list = append(list, &judgement{file: c.file(), given: c.judged(), outputs: len(c.out)})
		}
	}
	j.run(t, list)
	used, compared := make([]bool, len(knownDifferences)), 0
	for i, c := range cases {
		if list[i].refused != "" {
			t.Logf("%s %s: TensorFlow Lite does not run it: %v", c.op, c.form, list[i].refused)
			continue
		}
		compared++
		d := c.difference(t, list[i])
		if d.text == "" {
			continue
		}
		form := fmt.Sprint(c.form, c.options)
		known := find(knownDifferences, c.op, form, d)
		if known < 0 {
			t.Errorf("%s %s: %s", c.op, form, d.text)
			continue
		}
		used[known] = true
	}
	for i, u := range used {
		require.Check(t, u, "no %s differs any more: %s", knownDifferences[i].op, knownDifferences[i].text)
	}
	t.Logf("%d operators compared, %d that TensorFlow Lite does not run", compared, len(list)-compared)
}

// difference is the first difference between TensorFlow Lite's outputs and ours.
func (c *opCase) difference(t *testing.T, n *judgement) difference {
	t.Helper()
	m, err := Import(n.file, nil)
	if err != nil {
		return difference{text: fmt.Sprintf("the importer refuses it: %v", err), units: math.Inf(1)}
	}
	if err := validate.Model(m); err != nil {
		return difference{text: err.Error(), units: math.Inf(1)}
	}
	got := execute(t, m, c.given())
	for k, out := range c.out {
		o := m.Main.Operands[m.Main.Outputs[k]]
		if d := n.differs(k, out.Type, &got[k], o.Type, near); d.text != "" {
			d.text = fmt.Sprintf("output %d: %s", k, d.text)
			return d
		}
	}
	return difference{}
}

// near is how far reals may lie from TensorFlow Lite's, of the largest of them: sums in float32 have other orders.
const near = 1e-5

// differs is how output k differs, of the file's type: in its shape, or else by the element that is farthest from
// TensorFlow Lite's. Integers are equal, reals near.
func (n *judgement) differs(k, code int, got *refcpu.Tensor, as nn.OperandType, near float64) (most difference) {
	shape, want, size := n.shapes[k], elementsOf(code, n.results[k]), as.ElementBytes()
	// NNAPI's tensors have one to four dimensions.
	if !slices.Equal(got.Dimensions, shape) && len(shape) > 0 && len(shape) <= 4 {
		return difference{fmt.Sprintf("shape %v, TensorFlow Lite's is %v", got.Dimensions, shape), math.Inf(1)}
	}
	if n := len(got.Data) / size; n != len(want) {
		return difference{fmt.Sprintf("%d elements, TensorFlow Lite has %d", n, len(want)), math.Inf(1)}
	}
	largest := 1e-3
	for _, w := range want {
		if !math.IsInf(w, 0) {
			largest = math.Max(largest, math.Abs(w))
		}
	}
	switch as {
	case nn.TensorFloat32, nn.TensorFloat16:
		near *= largest
	default:
		near = 0
	}
	for i, w := range want {
		v := opspec.Element(as, got.Data[i*size:])
		by := math.Abs(v - w)
		if v == w || math.IsNaN(v) && math.IsNaN(w) || by <= near || by <= most.units {
			continue
		}
		if math.IsNaN(by) {
			by = math.Inf(1)
		}
		most = difference{fmt.Sprintf("element %d is %v, TensorFlow Lite's %v", i, v, w), by}
	}
	return most
}

// networkDifferences are the known differences of whole networks, whose names they have for operators.
var networkDifferences = []knownDifference{
	{"mlperf_tiny_ad_int8", "", 1, ties},
	{"ssd_mobilenet_v1_quant_nopost", "", 1, ties},
	{"mobilenet_v2_1.0_224_quant", "", 3, ties + "; a step of an early layer is several of the last"},
	{"tf2_mobilenet_v2_1.0_224_ptq", "", 8, ties + "; a step of an early layer is several of the last"},
	{"mlperf_tiny_ic_quant", "", 16, ties + "; the SOFTMAX makes many steps of one"},
	{"mlperf_tiny_ic_resnet8_int8", "", 16, ties + "; the SOFTMAX makes many steps of one"},
}

// TestOracleTFLiteNetworks runs whole networks on TensorFlow Lite too, and the files of single faults.
func TestOracleTFLiteNetworks(t *testing.T) {
	oracle.Need(t, "gcc")
	j := newJudge(t)
	files := models(t)
	cases, _ := filepath.Glob(filepath.Join(shared.Dir(), "cases", "*.tflite"))
	for _, path := range cases {
		files[filepath.Base(path)] = require.File(t, path)
	}
	names := slices.Sorted(maps.Keys(files))
	list, given := make([]*judgement, len(names)), make([][][]byte, len(names))
	for i, name := range names {
		m := open(t, files[name], nil)
		root := require.V(flatbuffer.OpenModel(files[name]))(t)
		list[i] = &judgement{file: files[name], outputs: len(m.Main.Outputs) - len(m.States)}
		main := root.TableAt("subgraphs", 0)
		for k := range len(m.Main.Inputs) - len(m.States) {
			data := tensor.SyntheticInput(&m.Main, k, 1)
			given[i] = append(given[i], data)
			list[i].given = append(list[i].given, inFile(main.TableAt("tensors", int(main.Vector("inputs").Int(k))).Int("type"), data))
		}
	}
	j.run(t, list)
	for i, name := range names {
		if list[i].refused != "" {
			t.Logf("%s: TensorFlow Lite does not run it: %v", name, list[i].refused)
			continue
		}
		m := open(t, files[name], nil)
		root := require.V(flatbuffer.OpenModel(files[name]))(t)
		main := root.TableAt("subgraphs", 0)
		got := execute(t, m, given[i])
		for k := range list[i].results {
			code := int(main.TableAt("tensors", int(main.Vector("outputs").Int(k))).Int("type"))
			d := list[i].differs(k, code, &got[k], m.Main.Operands[m.Main.Outputs[k]].Type, near)
			if d.text != "" && find(networkDifferences, name, "", d) < 0 {
				t.Errorf("%s: output %d: %s", name, k, d.text)
			}
		}
	}
}

// inFile are the elements of an input as the file's type stores them.
func inFile(code int64, data []byte) []byte {
	if code != typeInt64 && code != typeInt16 {
		return data
	}
	var out []byte
	for i := 0; i < len(data); i += 4 {
		v := int32(binary.LittleEndian.Uint32(data[i:]))
		if code == typeInt64 {
			out = binary.LittleEndian.AppendUint64(out, uint64(int64(v)))
		} else {
			out = binary.LittleEndian.AppendUint16(out, uint16(v))
		}
	}
	return out
}
