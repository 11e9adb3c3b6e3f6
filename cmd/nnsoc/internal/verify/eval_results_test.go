package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/bench/metric"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestResultsFile: a file that begins with anything but scores is left alone, one whose
// beginning was cut off is begun anew, and several runs can share one.
func TestResultsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scores.jsonl")
	h := resultsHeader{Model: "m", Dataset: "d", Metric: "top1", Samples: 3}
	for text, ok := range map[string]bool{"": true, `{"model":"m","so`: true, "my notes": false, `{"model":"x"`: false, "my notes\n": false, "\x00": false} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		r, err := openResults(path, h)
		require.Check(t, (err == nil) == ok, "%q: error %v", text, err)
		if err == nil {
			r.close()
			continue
		}
		require.Same(t, text, string(require.V(os.ReadFile(path))(t)))
	}
	require.NoError(t, os.Remove(path))
	open := func() *results {
		t.Helper()
		r := require.V(openResults(path, h))(t)
		return r
	}
	put := func(r *results, device string, i int) {
		t.Helper()
		require.NoError(t, r.put(device, i, "s", metric.Score{Sum: float64(i), Count: 1}))
	}
	a := open()
	b := open()
	for i := range 3 {
		put(a, "dsp", i)
		put(b, "npu", i)
	}
	a.close()
	b.close()
	c := open()
	defer c.close()
	for i := range 3 {
		for _, device := range []string{"dsp", "npu"} {
			if s, ok := c.get(device, i); !ok || s.Sum != float64(i) {
				t.Errorf("%s, sample %d: %v, there %v", device, i, s, ok)
			}
		}
	}
}
