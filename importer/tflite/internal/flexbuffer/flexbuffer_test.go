package flexbuffer

import (
	"testing"

	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestScalars reads a map as the FlexBuffers library writes it, one byte
// wide with a float behind an offset, and cut or damaged maps without harm.
func TestScalars(t *testing.T) {
	m := []byte{'a', 0, 'b', 0, 2, 5, 4, 2, 1, 2, 7, 1, typeUint << 2, typeBool << 2, 4, typeMap << 2, 1}
	got, err := Scalars(m)
	require.Check(t, err == nil && got["a"] == 7 && got["b"] == 1 && len(got) == 2, "%v, %v; want a 7 and b 1", got, err)
	whole := tflitefile.FlexMap(map[string]float32{"nms_iou_threshold": 0.5, "nms_score_threshold": 0.3, "h_scale": 5, "w_scale": 5, "x_scale": 10, "y_scale": 10,
		"max_classes_per_detection": 1, "max_detections": 2, "num_classes": 1}, nil)
	got, err = Scalars(whole)
	require.Check(t, err == nil && got["nms_iou_threshold"] == 0.5 && got["max_detections"] == 2 && len(got) == 9, "%v, %v", got, err)
	for n := range whole {
		if _, err := Scalars(whole[n:]); err == nil && n > 0 && n < 100 {
			continue // names may be cut off the front: offsets count backwards
		}
		Scalars(whole[:n])
	}
	for i := range whole {
		for _, x := range []byte{0, 1, 4, 0x7f, 0x80, 0xff} {
			b := append([]byte{}, whole...)
			b[i] = x
			Scalars(b)
		}
	}
}
