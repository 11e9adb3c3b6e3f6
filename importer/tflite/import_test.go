package tflite

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// small is a network of three layers, in a file of a few kilobytes.
func small(tb testing.TB) []byte {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Dense(b.Dense(b.Values("x", 1, 1), 16, builder.ReLU), 16, builder.ReLU)
	b.Output(b.Dense(x, 1, builder.NoActivation), "y")
	m := require.V(b.Model("small"))(tb)
	return exported(tb, m)
}

func exported(tb testing.TB, m *nn.Model) []byte {
	file := require.V(export.Bytes(m))(tb)
	return file
}

// models are networks of the zoo as files, by name, and the published ones in
// the shared folder, by folder name.
func models(tb testing.TB) map[string][]byte {
	m := map[string][]byte{}
	for _, name := range []string{"mlperf_tiny_ad_quant", "mlperf_tiny_ic_quant", "mlperf_tiny_kws_quant", "mlperf_tiny_vww_float", "tts_float"} {
		m[name] = exported(tb, zoo.MustBuild(name))
	}
	paths, _ := filepath.Glob(filepath.Join(shared.Dir(), "models", "*", "model.tflite"))
	for _, p := range paths {
		b := require.File(tb, p)
		m[filepath.Base(filepath.Dir(p))] = b
	}
	return m
}

// TestImportModels imports whole networks and validates them.
// Operations are as many as the file's operators where each has one NNAPI twin.
func TestImportModels(t *testing.T) {
	operations := map[string]int{
		"mobilenet_v1_1.0_224_quant": 31, "mobilenet_v1_0.25_128_quant": 31, "mobilenet_v1_1.0_224_float_dq": 31,
		"mobilenet_v2_1.0_224_quant": 66, "mlperf_tiny_ad_int8": 10, "mlperf_tiny_ad_float": 10, "mlperf_tiny_ic_resnet8_int8": 16,
		"mlperf_tiny_ic_resnet8_float": 16, "mlperf_tiny_kws_int8": 13, "mlperf_tiny_vww_int8": 31, "tflm_person_detect_int8": 31,
		"tflm_hello_world_float": 3, "ssd_mobilenet_v1_quant_nopost": 63, "face_landmark_float": 97, "movie_review_text": 5,
		"mlperf_tiny_ad_quant": 10, "mlperf_tiny_ic_quant": 16, "mlperf_tiny_kws_quant": 13, "mlperf_tiny_vww_float": 31, "tts_float": 6,
		"lstm_op_float": 1, "mnist_lstm_float": 4, "nested_while": 1, "synthetic_if_float": 3,
	}
	for name, data := range models(t) {
		m, err := Import(data, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		require.Report(t, validate.Model(m), name)
		if want, ok := operations[name]; ok && len(m.Main.Operations) != want {
			t.Errorf("%s: %d operations, want %d", name, len(m.Main.Operations), want)
		}
	}
}

func TestPerChannel(t *testing.T) {
	m := require.V(Import(models(t)["mlperf_tiny_kws_quant"], nil))(t)
	op := m.Main.Operations[0]
	if op.Type != nn.OpConv2D {
		t.Fatalf("first operation %v", op.Type)
	}
	f := m.Main.Operands[op.Inputs[1]]
	if f.Type != nn.TensorQuant8SymmPerChannel || f.Channel.Dim != 0 || len(f.Channel.Scales) != int(f.Dimensions[0]) {
		t.Errorf("filter %v %v %+v", f.Type, f.Dimensions, f.Channel)
	}
	if b := m.Main.Operands[op.Inputs[2]]; b.Type != nn.TensorInt32 || b.Scale != 0 {
		t.Errorf("bias %v scale %v, want TENSOR_INT32 without scale", b.Type, b.Scale)
	}
}

// TestTruncated cuts a small model at every length: never a panic, always an
// error but at full length.
func TestTruncated(t *testing.T) {
	data := small(t)
	for n := range data {
		m, err := Import(data[:n:n], nil)
		if err != nil {
			continue
		}
		// Cutting padding at the very end leaves a whole model.
		if len(data)-n > 16 {
			t.Fatalf("%d of %d bytes import as %d operations", n, len(data), len(m.Main.Operations))
		}
	}
}

// TestDamaged sets every single byte of a small model to a few values.
func TestDamaged(t *testing.T) {
	data := small(t)
	buf := make([]byte, len(data))
	for i := range data {
		for _, x := range []byte{0x00, 0x01, 0x7f, 0x80, 0xff} {
			copy(buf, data)
			buf[i] = x
			Import(buf, nil)
		}
	}
}

func TestNotAModel(t *testing.T) {
	for _, s := range []string{"", "hello", "this is a text file, not a model\n", "\x20\x00\x00\x00TFL3", strings.Repeat("\xff", 100)} {
		if _, err := Import([]byte(s), nil); err == nil || !strings.HasPrefix(err.Error(), "tflite: ") {
			t.Errorf("%q: error %v", s, err)
		}
	}
}

// FuzzImport: whatever the bytes, no panic, bounded memory, and a model that the
// rules of the HAL can be held against.
func FuzzImport(f *testing.F) {
	for _, family := range [][]opCase{convCases, mathCases, activationCases, shapeCases, indexCases, reduceCases, recurrentCases, quantizationCases, customCases} {
		for _, c := range family {
			f.Add(c.file())
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Import(data, nil)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || strings.Contains(err.Error(), lowering.Unforeseen) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		validate.Model(m)
		for i := range m.Main.Operands {
			o := &m.Main.Operands[i]
			if o.IsConst() && !o.Type.IsScalar() && int64(len(o.Data)) != o.Bytes() {
				t.Fatalf("operand %d: %d bytes for %v%v", i, len(o.Data), o.Type, o.Dimensions)
			}
		}
	})
}

// TestHostile damages and cuts a file of each operator: an error or a model, no
// panic.
func TestHostile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, family := range [][]opCase{convCases, mathCases, activationCases, shapeCases, indexCases, reduceCases, recurrentCases, quantizationCases, customCases} {
		for _, c := range family {
			whole := c.file()
			for range 100 {
				b := slices.Clone(whole)
				for range 1 + random.IntN(3) {
					b[8+random.IntN(len(b)-8)] = byte([]int{0, 1, 2, 4, 0x7f, 0x80, 0xff, random.IntN(256)}[random.IntN(8)])
				}
				if random.IntN(4) == 0 {
					b = b[:random.IntN(len(b))]
				}
				if _, err := Import(b, nil); err != nil && strings.Contains(err.Error(), lowering.Unforeseen) {
					t.Errorf("%s: %v", c.op, err)
				}
			}
		}
	}
}
