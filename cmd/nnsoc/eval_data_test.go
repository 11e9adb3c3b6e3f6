package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// Codes of TensorFlow Lite.
const (
	tfliteInt32     = 2
	tfliteAdd       = 0
	tfliteRelu      = 19
	tfliteReshape   = 22
	tfliteCustom    = 32
	tfliteSlice     = 65
	detectionBoxes  = 3
	detectionValues = 7 // of a box: centre, size, and scores of background, cat and dog
)

// evalData are the networks and samples of testdata/eval_layouts.txtar that are no text, by file: small enough that
// each metric can be computed by hand.
//
//	relu.tflite      4 numbers, negative ones become 0
//	sum.tflite       two inputs of 4 numbers, and their sum
//	speech.tflite    scores of the symbols a, b, blank and none over 8 steps
//	called.tflite    the signatures prefill, 4 numbers to themselves without negative ones, and decode, 2 inputs to their sum
//	detector.tflite  a picture of 7x1 pixels, whose 21 values are those of 3 boxes
func evalData(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"relu.tflite":     reluOf(1, 4),
		"speech.tflite":   reluOf(1, 8, 4),
		"sum.tflite":      sumNetwork(),
		"called.tflite":   withSignatures(),
		"detector.tflite": detector(),
		// Row k is largest at k.
		"classes.npz":   npzOf(t, arrays{"x": rows(0, 1, 2, 3), "y": int64s(0, 1, 2, 0), "names": {Descr: "<U3", Shape: []int{1}, Data: make([]byte, 12)}}),
		"regress.npz":   npzOf(t, arrays{"x": rows(0, 1, 2, 3), "y": floats([]int{4, 4}, plus(0.5, rows(0, 1, 2, 3))...)}),
		"sum.npz":       npzOf(t, arrays{"x0": rows(0, 1), "x1": rows(2, 2), "y": floats([]int{2, 4}, 4, 2, 8, 6, 0, 6, 8, 7)}),
		"uneven.npz":    npzOf(t, arrays{"x": rows(0, 1, 2, 3), "y": int64s(0, 1)}),
		"truncated.npz": npzOf(t, arrays{"x": rows(0, 1), "y": int64s(0, 1)})[:150],
		"inside.npz":    npzOf(t, arrays{"x": {Descr: "<f4", Shape: []int{1 << 20, 4}, Data: make([]byte, 64)}, "y": int64s(0, 1)}),
		// The transcripts: "ab a" and "bb".
		"one.npy":    npyOf(t, frames(0, 0, 3, 1, 2, 2, 0, 3)),
		"two.npy":    npyOf(t, frames(1, 3, 1, 1, 3, 3, 3, 3)),
		"coco/a.png": pngOf(t, 102, 102, 0, 0, 0, 230, 0, 204, 204, 0, 0, 0, 0, 204, 0, 0, 0, 0, 0, 0, 0),
		"coco/b.png": pngOf(t, make([]byte, detectionBoxes*detectionValues)...),
	}
}

// writeEvalData writes the data into a folder.
func writeEvalData(t *testing.T, dir string) {
	t.Helper()
	for name, data := range evalData(t) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, data, 0o666))
	}
}

func tensors(shapes ...[]int32) (l []tflitefile.Tensor) {
	for _, s := range shapes {
		l = append(l, tflitefile.Tensor{Shape: s})
	}
	return l
}

func reluOf(shape ...int32) []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{reluGraph(shape...)}}
	return m.Bytes()
}

func reluGraph(shape ...int32) tflitefile.Subgraph {
	return tflitefile.Subgraph{
		Tensors: tensors(shape, shape), Inputs: []int32{0}, Outputs: []int32{1},
		Operators: []tflitefile.Operator{{Code: tfliteRelu, Inputs: []int32{0}, Outputs: []int32{1}}},
	}
}

func sumNetwork() []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{sumGraph()}}
	return m.Bytes()
}

func sumGraph() tflitefile.Subgraph {
	row := []int32{1, 4}
	return tflitefile.Subgraph{
		Tensors: tensors(row, row, row), Inputs: []int32{0, 1}, Outputs: []int32{2},
		Operators: []tflitefile.Operator{{Code: tfliteAdd, Kind: "AddOptions", Inputs: []int32{0, 1}, Outputs: []int32{2}}},
	}
}

func withSignatures() []byte {
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{reluGraph(1, 4), sumGraph()}, Signatures: []tflitefile.Signature{
		{Key: "prefill", Subgraph: 0, Inputs: []string{"tokens"}, Outputs: []string{"logits"}},
		{Key: "decode", Subgraph: 1, Inputs: []string{"token", "position"}, Outputs: []string{"next"}},
	}}
	return m.Bytes()
}

// detector finds boxes of a quarter of the picture's side around the centres that the
// picture states.
func detector() []byte {
	constant := func(v ...int32) tflitefile.Tensor {
		b := make([]byte, 4*len(v))
		for i, x := range v {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(x))
		}
		return tflitefile.Tensor{Type: tfliteInt32, Shape: []int32{int32(len(v))}, Data: b}
	}
	const n = detectionBoxes
	var anchors []float32
	for range n {
		anchors = append(anchors, 0, 0, 0.25, 0.25)
	}
	m := tflitefile.Model{Subgraphs: []tflitefile.Subgraph{{
		Tensors: append(tensors([]int32{1, 1, detectionValues, n}, []int32{1, n, detectionValues}, []int32{1, n, 4}, []int32{1, n, 3},
			[]int32{1, n, 4}, []int32{1, n}, []int32{1, n}, []int32{1}),
			constant(1, n, detectionValues), constant(0, 0, 0), constant(1, n, 4), constant(0, 0, 4), constant(1, n, 3),
			tflitefile.Tensor{Shape: []int32{n, 4}, Data: float32s(anchors...)}),
		Inputs: []int32{0}, Outputs: []int32{4, 5, 6, 7},
		Operators: []tflitefile.Operator{
			{Code: tfliteReshape, Inputs: []int32{0, 8}, Outputs: []int32{1}},
			{Code: tfliteSlice, Inputs: []int32{1, 9, 10}, Outputs: []int32{2}},
			{Code: tfliteSlice, Inputs: []int32{1, 11, 12}, Outputs: []int32{3}},
			{Code: tfliteCustom, Custom: "TFLite_Detection_PostProcess", Inputs: []int32{2, 3, 13}, Outputs: []int32{4, 5, 6, 7}, CustomOptions: tflitefile.FlexMap(map[string]float32{
				"nms_iou_threshold": 0.5, "nms_score_threshold": 0.3, "y_scale": 0.25, "x_scale": 0.25, "h_scale": 1, "w_scale": 1,
				"max_classes_per_detection": 1, "max_detections": n, "num_classes": 2}, nil)},
		},
	}}}
	return m.Bytes()
}

func float32s(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func floats(shape []int, v ...float32) npy.Array {
	return npy.Array{Descr: "<f4", Shape: shape, Data: float32s(v...)}
}

// rows are the numbers 1, 2, 3 and 4, with 5 more at a place each.
func rows(highest ...int) npy.Array {
	var v []float32
	for _, k := range highest {
		row := []float32{0, 1, 2, 3}
		row[k] += 4
		v = append(v, row...)
	}
	return floats([]int{len(highest), 4}, v...)
}

// plus adds to all elements.
func plus(x float32, a npy.Array) (v []float32) {
	for at := 0; at < len(a.Data); at += 4 {
		v = append(v, x+math.Float32frombits(binary.LittleEndian.Uint32(a.Data[at:])))
	}
	return v
}

func int64s(v ...uint64) npy.Array {
	a := npy.Array{Descr: "<i8", Shape: []int{len(v)}}
	for _, x := range v {
		a.Data = binary.LittleEndian.AppendUint64(a.Data, x)
	}
	return a
}

// frames are the scores of 4 symbols over time, that of one symbol 1.
func frames(symbols ...int) npy.Array {
	v := make([]float32, 4*len(symbols))
	for i, s := range symbols {
		v[4*i+s] = 1
	}
	return floats([]int{1, len(symbols), 4}, v...)
}

func npyOf(t *testing.T, a npy.Array) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, a.Write(&b))
	return b.Bytes()
}

type arrays map[string]npy.Array

func npzOf(t *testing.T, list arrays) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, a := range list {
		w, err := z.Create(name + ".npy")
		if err == nil {
			err = a.Write(w)
		}
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// pngOf is a picture of one line.
func pngOf(t *testing.T, values ...byte) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, len(values)/3, 1))
	for x := range len(values) / 3 {
		m.Set(x, 0, color.RGBA{values[3*x], values[3*x+1], values[3*x+2], 255})
	}
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}
