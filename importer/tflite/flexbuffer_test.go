package tflite

import (
	"testing"
)

// TestFlexScalars reads a map as the FlexBuffers library writes it, one byte
// wide with a float behind an offset, and cut or damaged maps without harm.
func TestFlexScalars(t *testing.T) {
	m := []byte{'a', 0, 'b', 0, 2, 5, 4, 2, 1, 2, 7, 1, flexUint << 2, flexBool << 2, 4, flexMap << 2, 1}
	got, err := flexScalars(m)
	if err != nil || got["a"] != 7 || got["b"] != 1 || len(got) != 2 {
		t.Errorf("%v, %v; want a 7 and b 1", got, err)
	}
	whole := detectionOptions()
	got, err = flexScalars(whole)
	if err != nil || got["nms_iou_threshold"] != 0.5 || got["max_detections"] != 2 || len(got) != 9 {
		t.Errorf("%v, %v", got, err)
	}
	for n := range whole {
		if _, err := flexScalars(whole[n:]); err == nil && n > 0 && n < 100 {
			continue // names may be cut off the front: offsets count backwards
		}
		flexScalars(whole[:n])
	}
	for i := range whole {
		for _, x := range []byte{0, 1, 4, 0x7f, 0x80, 0xff} {
			b := append([]byte{}, whole...)
			b[i] = x
			flexScalars(b)
		}
	}
}
