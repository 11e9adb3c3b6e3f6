package spelling

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestClosest(t *testing.T) {
	known := []string{"cpu", "gpu", "dsp", "npu", "devices", "device", "partition"}
	for _, c := range []struct{ name, want string }{
		{"dps", "dsp"}, {"dsp1", "dsp"}, {"tpu", "cpu"}, {"devise", "device"}, {"partiton", "partition"}, {"partitoin", "partition"},
		{"xyz", ""}, {"", ""}, {"dsp", ""}, {"parting", ""},
	} {
		require.Same(t, c.want, Closest(c.name, known), c.name)
	}
	if got := DidYouMean("gpuu", known); got != `; did you mean "gpu"?` {
		t.Error(got)
	}
}
