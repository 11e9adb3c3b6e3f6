package burst_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
)

// FuzzPackets: whatever a client or a driver writes to a queue is a message or an error,
// and a message that is read is equal when it is written and read again.
func FuzzPackets(f *testing.F) {
	request := &burst.RequestMessage{Inputs: []hal.RequestArgument{{Dimensions: []uint32{2, 3}}}, Outputs: []hal.RequestArgument{{HasNoValue: true}}, Slots: []int32{1}, MeasureTiming: true}
	result := &burst.ResultMessage{Shapes: []hal.OutputShape{{Dimensions: []uint32{2}, IsSufficient: true}}, Timing: hal.NoTiming}
	for _, list := range [][]burst.Datum{request.Packet(), result.Packet(), nil} {
		var b []byte
		for _, d := range list {
			b = append(b, d[:]...)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var list []burst.Datum
		for ; len(b) >= burst.DatumBytes; b = b[burst.DatumBytes:] {
			list = append(list, burst.Datum(b[:burst.DatumBytes]))
		}
		if m, err := burst.ParseRequest(list); err == nil && !slices.Equal(m.Packet(), list) {
			t.Errorf("the request %+v becomes another packet", m)
		}
		if m, err := burst.ParseResult(list); err == nil && !slices.Equal(m.Packet(), list) {
			t.Errorf("the result %+v becomes another packet", m)
		}
	})
}
