package spelling

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"cpu", "gpu", "dsp", "npu", "devices", "device", "partition"}
	for _, c := range []struct{ name, want string }{
		{"dps", "dsp"}, {"dsp1", "dsp"}, {"tpu", "cpu"}, {"devise", "device"}, {"partiton", "partition"}, {"partitoin", "partition"},
		{"xyz", ""}, {"", ""}, {"dsp", ""}, {"parting", ""},
	} {
		if got := closest(c.name, known); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := DidYouMean("gpuu", known); got != `; did you mean "gpu"?` {
		t.Error(got)
	}
	if d := distance("kitten", "sitting"); d != 3 {
		t.Errorf("distance %d", d)
	}
}
