package onnx_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// judgeScript runs the networks of a folder that feeds.json lists with their inputs, and prints a line for each: the
// outputs as numbers, or what ONNX Runtime says instead.
const judgeScript = `
const ort = require('onnxruntime-node'), fs = require('fs');
const arrays = {float32: Float32Array, float16: Uint16Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array};
(async () => {
  const dir = process.argv[1];
  for (const net of JSON.parse(fs.readFileSync(dir + '/feeds.json'))) {
    let line;
    try {
      const session = await ort.InferenceSession.create(dir + '/' + net.file, {graphOptimizationLevel: 'disabled', logSeverityLevel: 4, intraOpNumThreads: 1});
      const feeds = {};
      for (const f of net.feeds || []) {
        const raw = Buffer.from(f.raw || '', 'base64');
        feeds[f.name] = new ort.Tensor(f.type, new arrays[f.type](raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length)), f.dims || []);
      }
      const out = await session.run(feeds);
      line = {outputs: session.outputNames.map(name => ({name, type: out[name].type, dims: out[name].dims, raw: Buffer.from(out[name].data.buffer, out[name].data.byteOffset, out[name].data.byteLength).toString('base64')}))};
    } catch (e) { line = {said: String(e)}; }
    console.log(JSON.stringify(line));
  }
})().catch(e => { console.error(String(e)); process.exit(1); });
`

// runtimeTensor is a tensor as the script reads and prints it.
type runtimeTensor struct {
	Name string   `json:"name"`
	Type string   `json:"type"`
	Dims []uint32 `json:"dims"`
	Raw  []byte   `json:"raw"`
}

// verdict is what ONNX Runtime makes of a network.
type verdict struct {
	Outputs []runtimeTensor `json:"outputs"`
	Said    string          `json:"said"`
}

var runtimeTypes = map[onnxfile.DataType]string{
	onnxfile.Float: "float32", onnxfile.Float16: "float16", onnxfile.Uint8: "uint8", onnxfile.Int8: "int8", onnxfile.Int32: "int32", onnxfile.Int64: "int64", onnxfile.Bool: "bool",
}

// heldTypes are how NNAPI holds tensors of the runtime's types.
var heldTypes = map[string]nn.OperandType{
	"float32": nn.TensorFloat32, "float16": nn.TensorFloat16, "uint8": nn.TensorQuant8Asymm, "int8": nn.TensorQuant8AsymmSigned, "int32": nn.TensorInt32, "int64": nn.TensorInt32,
	"bool": nn.TensorBool8,
}

// numbers are the elements.
func (t *runtimeTensor) numbers() (list []float64) {
	size := map[string]int{"float32": 4, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8, "float16": 2, "int16": 2, "uint16": 2}[t.Type]
	for i, size := 0, max(size, 1); i < len(t.Raw); i += size {
		b := t.Raw[i:]
		switch t.Type {
		case "float32":
			list = append(list, opspec.Element(nn.TensorFloat32, b))
		case "float16":
			list = append(list, opspec.Element(nn.TensorFloat16, b))
		case "int64":
			list = append(list, float64(int64(binary.LittleEndian.Uint64(b))))
		case "int32":
			list = append(list, float64(int32(binary.LittleEndian.Uint32(b))))
		case "int8":
			list = append(list, float64(int8(b[0])))
		default:
			list = append(list, float64(b[0]))
		}
	}
	return list
}

// subject is a network for both judges, with its inputs as ONNX Runtime takes them.
type subject struct {
	file  []byte
	feeds []runtimeTensor
	// steps are by how much outputs may differ beyond what types allow.
	steps map[string]float64
	// halves says that the network computes with reals of 16 bits.
	halves bool
}

// judge runs networks in ONNX Runtime.
func judge(t *testing.T, subjects []*subject) (list []verdict) {
	t.Helper()
	type entry struct {
		File  string          `json:"file"`
		Feeds []runtimeTensor `json:"feeds"`
	}
	dir, entries := t.TempDir(), []entry{}
	for k, n := range subjects {
		e := entry{File: fmt.Sprintf("m%d.onnx", k), Feeds: n.feeds}
		require.NoError(t, os.WriteFile(filepath.Join(dir, e.File), n.file, 0o600))
		entries = append(entries, e)
	}
	feeds, _ := json.Marshal(entries)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "feeds.json"), feeds, 0o600))
	lines := strings.Split(strings.TrimSpace(string(require.V(exec.Command("node", "-e", judgeScript, "--", dir).Output())(t))), "\n")
	require.Equal(t, len(lines), len(subjects), "networks that ran")
	for _, line := range lines {
		var v verdict
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		list = append(list, v)
	}
	return list
}

func unsigned(dims []int64) []uint32 {
	list := []uint32{}
	for _, d := range dims {
		list = append(list, uint32(d))
	}
	return list
}

// errDiffers is an outcome that is wrong, whatever the network is.
var errDiffers = errors.New("differs")

// against imports and runs the network on the reference, and compares with a verdict.
func (n *subject) against(v verdict) error {
	shapes := map[string][]uint32{}
	for _, x := range n.feeds {
		shapes[x.Name] = x.Dims
	}
	m, err := onnx.Import(n.file, &onnx.Options{Shapes: shapes})
	if err != nil {
		return err
	}
	if err := validate.ModelOf(hostop.Table().Spec(), m); err != nil {
		return fmt.Errorf("%w: validate: %w", errDiffers, err)
	}
	p, err := refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()})
	if err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	var given []refcpu.Tensor
	for k := range n.feeds {
		given = append(given, refcpu.Tensor{Dimensions: m.Main.Operands[m.Main.Inputs[k]].Dimensions, Data: n.feeds[k].held()})
	}
	got, err := p.Execute(given, refcpu.Options{})
	if err != nil {
		return fmt.Errorf("%w: %w", errDiffers, err)
	}
	if len(got) != len(v.Outputs) {
		return fmt.Errorf("%w: %d outputs, ONNX Runtime has %d", errDiffers, len(got), len(v.Outputs))
	}
	for k := range got {
		out := &v.Outputs[k]
		o := &m.Main.Operands[m.Main.Outputs[k]]
		if dims := got[k].Dimensions; !slices.Equal(dims, out.Dims) && !(len(out.Dims) == 0 && nn.Elements(dims) == 1) && len(out.Dims) <= 4 {
			return fmt.Errorf("%w: output %s has shape %v, ONNX Runtime's %v", errDiffers, o.Name, dims, out.Dims)
		}
		if want := heldTypes[out.Type]; o.Type != want {
			return fmt.Errorf("%w: output %d is %v, want %v", errDiffers, k, o.Type, want)
		}
		if d := n.farther(out, o.Type, got[k].Data); d != "" {
			return fmt.Errorf("%w: output %d: %s", errDiffers, k, d)
		}
	}
	return nil
}

// held are the elements as NNAPI holds them: integers of 64 bits in 32, the greatest for greater ones.
func (t *runtimeTensor) held() []byte {
	if t.Type != "int64" {
		return t.Raw
	}
	var raw []byte
	for i := 0; i < len(t.Raw); i += 8 {
		v := int64(binary.LittleEndian.Uint64(t.Raw[i:]))
		raw = binary.LittleEndian.AppendUint32(raw, uint32(int32(min(max(v, math.MinInt32), math.MaxInt32))))
	}
	return raw
}

// farther describes the first element that is too far from ONNX Runtime's.
func (n *subject) farther(out *runtimeTensor, as nn.OperandType, data []byte) string {
	want, size := out.numbers(), as.ElementBytes()
	if len(data) != len(want)*size {
		return fmt.Sprintf("%d elements of %v, ONNX Runtime's %d", len(data)/size, as, len(want))
	}
	bound := n.steps[out.Name] * 1.001
	if as == nn.TensorFloat32 || as == nn.TensorFloat16 {
		largest := 0.05
		for _, w := range want {
			if !math.IsInf(w, 0) && !math.IsNaN(w) {
				largest = max(largest, math.Abs(w))
			}
		}
		bound += largest * map[nn.OperandType]float64{nn.TensorFloat32: 2e-5, nn.TensorFloat16: 4e-3}[as]
		if n.halves {
			bound += largest * 8e-3
		}
	}
	for i, w := range want {
		v := opspec.Element(as, data[i*size:])
		if v == w || math.IsNaN(v) && math.IsNaN(w) || math.Abs(v-w) <= bound {
			continue
		}
		return fmt.Sprintf("element %d of %d is %v, ONNX Runtime's %v (%v)", i, len(want), v, w, as)
	}
	return ""
}
