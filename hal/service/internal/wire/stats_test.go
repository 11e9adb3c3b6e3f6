package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
)

// fill gives every field of a value something that is not its zero value, no two the same.
func fill(t *testing.T, v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i), n)
		}
	case reflect.String:
		v.SetString("text" + string(rune('a'+*n%26)) + string(rune('a'+*n/26%26)))
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	default:
		t.Fatalf("a field of kind %s, which the messages do not carry", v.Kind())
	}
}

// A field that is added to the costs of an execution must travel.
func TestStatsTravelWhole(t *testing.T) {
	var want hal.Stats
	var n int64
	fill(t, reflect.ValueOf(&want).Elem(), &n)
	data := require.V(proto.Marshal(toStats(&want)))(t)
	sent := &pb.Stats{}
	require.NoError(t, proto.Unmarshal(data, sent))
	if got := fromStats(sent); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := fromStats(toStats(&hal.Stats{})); !reflect.DeepEqual(got, hal.Stats{}) {
		t.Errorf("nothing becomes %+v", got)
	}
}

// TestStatusOfReply: whatever number a driver ends an execution with, the error has a status of HAL 1.3 and a text.
func TestStatusOfReply(t *testing.T) {
	for number, want := range map[int32]hal.Status{
		3: hal.OutputInsufficientSize, 8: hal.ResourceExhaustedPersistent, 9: hal.GeneralFailure, -1: hal.GeneralFailure,
	} {
		for _, message := range []string{"", "because"} {
			res, err := FromReply("x.sock", &pb.ExecuteReply{Status: number, Message: message, Shapes: []*pb.Shape{{Insufficient: true}}})
			if hal.StatusOf(err) != want || message == "" && !strings.Contains(err.Error(), "x.sock") || !strings.Contains(err.Error(), message) || !res.Insufficient[0] {
				t.Errorf("status %d, message %q: %v, %v: %v", number, message, res.Insufficient, hal.StatusOf(err), err)
			}
		}
	}
	if res, err := FromReply("x", &pb.ExecuteReply{Shapes: []*pb.Shape{{Insufficient: true}}}); err != nil || !res.Insufficient[0] {
		t.Errorf("NONE with an output called too small: %+v, %v", res, err)
	}
}

// TestText: what a driver says is a line without control characters, of bounded length.
func TestText(t *testing.T) {
	for from, want := range map[string]string{
		"no \x1b[31mroom\nleft\r\n": "no  [31mroom left", "\xff\xfeü": "ü", strings.Repeat("é", 5000): strings.Repeat("é", 1000), "\t": "",
	} {
		if got := Text(from); got != want {
			t.Errorf("%.40q: %.40q, want %.40q", from, got, want)
		}
	}
}

func TestStatusOfCodes(t *testing.T) {
	for code, want := range map[codes.Code]hal.Status{
		codes.InvalidArgument: hal.InvalidArgument, codes.OutOfRange: hal.MissedDeadlineTransient, codes.FailedPrecondition: hal.MissedDeadlinePersistent,
		codes.ResourceExhausted: hal.ResourceExhaustedPersistent, codes.Unavailable: hal.DeviceUnavailable, codes.Unimplemented: hal.GeneralFailure,
		codes.DeadlineExceeded: hal.GeneralFailure, codes.Unknown: hal.GeneralFailure,
	} {
		if err := FromStatus("x", status.Error(code, "because")); hal.StatusOf(err) != want || !strings.Contains(err.Error(), "because") {
			t.Errorf("%v: %v, want %v", code, err, want)
		}
	}
	if err := FromStatus("x", ToStatus(hal.Errorf(hal.OutputInsufficientSize, "short"))); hal.StatusOf(err) != hal.OutputInsufficientSize {
		t.Errorf("a detail: %v", err)
	}
}
