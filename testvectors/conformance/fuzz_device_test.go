package conformance_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
)

// FuzzDevice: each of the devices refuses, declines or computes what a fuzzer draws.
func FuzzDevice(f *testing.F) { fuzzing.Device(f, nil, open(f)...) }

// FuzzEdited: the models of the checks with any edits are refused, declined with reasons, or
// prepared as declared and executed, by each of the devices.
func FuzzEdited(f *testing.F) {
	list, models := open(f), conformance.Models()
	for i := range list {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(40+i), []byte{1, 0, 0, 5})
		f.Add(uint8(i), uint16(90+i), []byte{11, 0, 0, 3, 4, 1, 0, 5})
	}
	f.Fuzz(func(t *testing.T, device uint8, model uint16, edits []byte) {
		fuzzing.Model(t, list[int(device)%len(list)], conformance.Edited(models[int(model)%len(models)], edits[:min(len(edits), 16)]))
	})
}

// TestEdited: each of the devices refuses, declines or executes random models with random edits.
func TestEdited(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 200
	}
	for i, d := range open(t) {
		fuzzing.Random(t, d, uint64(i), n)
	}
}
