package cli

import (
	"strings"
	"testing"
	"time"
)

// TestProgressOfAFile: a file has a line for the first step of each text, then one per interval.
func TestProgressOfAFile(t *testing.T) {
	var out strings.Builder
	p := NewProgress(&out)
	now := time.Unix(0, 0)
	p.now = func() time.Time { return now }
	for i := range 2 {
		p.Part(i, 2)
		p.Update("%s: reference", "cpu")
		p.Update("%s: reference", "gpu")
		for sample := range 2001 {
			now = now.Add(interval / 1000)
			p.Update("sample %d", sample)
		}
		p.Done()
	}
	want := ""
	for _, part := range []string{"[1 of 2] ", "[2 of 2] "} {
		for _, step := range []string{"cpu: reference", "gpu: reference", "sample 0", "sample 1000", "sample 2000"} {
			want += part + step + " ...\n"
		}
	}
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", &out, want)
	}
}
