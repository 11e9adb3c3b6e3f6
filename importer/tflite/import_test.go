package tflite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// models are the real networks in the shared folder, by folder name.
func models(tb testing.TB) map[string][]byte {
	dir := os.Getenv("NNSOC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "models", "*", "model.tflite"))
	if len(paths) == 0 {
		tb.Skip("skipped: needs shared data")
	}
	m := map[string][]byte{}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		m[filepath.Base(filepath.Dir(p))] = b
	}
	return m
}

func TestImportModels(t *testing.T) {
	// Operations by model; the others use operators outside the table and must
	// say which.
	want := map[string]struct {
		operations int
		err        string
	}{
		"mobilenet_v1_1.0_224_quant":    {31, ""},
		"mobilenet_v1_0.25_128_quant":   {31, ""},
		"mobilenet_v1_1.0_224_float_dq": {31, ""},
		"mobilenet_v2_1.0_224_quant":    {66, ""},
		"tf2_mobilenet_v2_1.0_224_ptq":  {72, ""},
		"mlperf_tiny_ad_int8":           {10, ""},
		"mlperf_tiny_ad_float":          {10, ""},
		"mlperf_tiny_ic_resnet8_int8":   {16, ""},
		"mlperf_tiny_ic_resnet8_float":  {16, ""},
		"mlperf_tiny_kws_int8":          {13, ""},
		"mlperf_tiny_vww_int8":          {31, ""},
		"tflm_person_detect_int8":       {31, ""},
		"tflm_hello_world_float":        {3, ""},
		"ssd_mobilenet_v1_quant_nopost": {63, ""},
		"face_landmark_float":           {0, "(PRELU): operator is not supported"},
		"movie_review_text":             {0, "(GATHER): operator is not supported"},
		"lstm_op_float":                 {0, "not supported"},
		"mnist_lstm_float":              {0, "not supported"},
		"nested_while":                  {0, "control flow is not supported"},
		"synthetic_if_float":            {0, "control flow is not supported"},
	}
	for name, data := range models(t) {
		m, err := Import(data)
		w, known := want[name]
		switch {
		case !known:
			continue
		case w.err != "" && (err == nil || !strings.Contains(err.Error(), w.err)):
			t.Errorf("%s: error %v, want one with %q", name, err, w.err)
		case w.err == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case w.err == "" && len(m.Main.Operations) != w.operations:
			t.Errorf("%s: %d operations, want %d", name, len(m.Main.Operations), w.operations)
		}
	}
}

func TestPerChannel(t *testing.T) {
	m, err := Import(models(t)["mlperf_tiny_kws_int8"])
	if err != nil {
		t.Fatal(err)
	}
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
	data := models(t)["tflm_hello_world_float"]
	for n := range data {
		m, err := Import(data[:n:n])
		if err != nil {
			continue
		}
		// Cutting padding at the very end leaves a whole model.
		if len(data)-n > 16 {
			t.Fatalf("%d of %d bytes import as %d operations", n, len(data), len(m.Main.Operations))
		}
	}
}

// TestDamaged flips every byte of a small model in turn to a few values.
func TestDamaged(t *testing.T) {
	data := models(t)["tflm_hello_world_float"]
	buf := make([]byte, len(data))
	for i := range data {
		for _, x := range []byte{0x00, 0x01, 0x7f, 0x80, 0xff} {
			copy(buf, data)
			buf[i] = x
			Import(buf)
		}
	}
}

func TestNotAModel(t *testing.T) {
	for _, s := range []string{"", "hello", "this is a text file, not a model\n", "\x20\x00\x00\x00TFL3", strings.Repeat("\xff", 100)} {
		if _, err := Import([]byte(s)); err == nil || !strings.HasPrefix(err.Error(), "tflite: ") {
			t.Errorf("%q: error %v", s, err)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, data := range models(f) {
		if len(data) < 16<<10 { // larger seeds only slow the mutator down
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Import(data)
		if err != nil {
			return
		}
		for i := range m.Main.Operands {
			o := &m.Main.Operands[i]
			if o.Type.Valid() && o.IsConst() && int64(len(o.Data)) != o.Bytes() {
				t.Fatalf("operand %d: %d bytes for %v%v", i, len(o.Data), o.Type, o.Dimensions)
			}
		}
	})
}
