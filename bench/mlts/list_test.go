package mlts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

const speechList = `{"models": [{
  "name": "speech", "baselineSec": 0.5, "inputSize": [1, 1, 1, 2], "dataSize": 4, "license": "ignored",
  "evaluator": {"className": "com.android.nn.benchmark.evaluators.PhoneErrorRate"},
  "inputOutputs": [{"input": "a.in", "output": "a.out"}, {"input": "b.in", "outputs": ["b.out", "b.two"]}]
}]}`

func TestParseList(t *testing.T) {
	l := require.V(ParseList([]byte(speechList)))(t)
	m := &l.Models[0]
	require.Check(t, m.TestName == "speech" && m.ModelFile == "speech" && m.inputBytes() == 8 && m.MinSDKVersion == 0, "%+v", m)
	want := "speech.tflite a.in a.out b.in b.out b.two"
	require.Same(t, want, strings.Join(m.files(), " "), "files")
	l.Dirs = []string{t.TempDir()}
	require.Same(t, want, strings.Join(l.Missing(m), " "), "missing")
	require.NoError(t, os.WriteFile(filepath.Join(l.Dirs[0], "b.in"), nil, 0o666))
	if got := strings.Join(l.Missing(m), " "); got != strings.Replace(want, "b.in ", "", 1) {
		t.Errorf("missing %q, b.in is there", got)
	}
}

func TestBadLists(t *testing.T) {
	model := func(s string) string {
		return `{"models": [{"name": "m", "baselineSec": 1, "inputSize": [1,2,2,3], "dataSize": 4, ` + s + `}]}`
	}
	files := `"inputOutputs": [{"input": "i", "output": "o"}]`
	dataset := func(s string) string {
		return `"dataset": {"inputPath": "p", "groundTruth": "t", "labels": "l", ` + s + `}`
	}
	for _, c := range []struct{ text, want string }{
		{`[]`, "models list"},
		{`{}`, `no array "models"`},
		{`{"models": [{"name": "m"}]}`, "no baselineSec"},
		{`{"models": [{"baselineSec": 1}]}`, "no name"},
		{strings.Replace(model(files), `"baselineSec": 1`, `"baselineSec": -1`, 1), "baselineSec -1"},
		{strings.Replace(model(files), "[1,2,2,3]", "[1,2,2]", 1), "want [n, h, w, c]"},
		{strings.Replace(model(files), "[1,2,2,3]", "[1,0,2,3]", 1), "inputSize [1 0 2 3]"},
		{strings.Replace(model(files), "[1,2,2,3]", "[99999999,99999999,99999999,99999999]", 1), "inputSize"},
		{strings.Replace(model(files), `"dataSize": 4`, `"dataSize": 2`, 1), "dataSize 2"},
		{model(`"minSdkVersion": 1`), "either inputOutputs or a dataset"},
		{model(files + "," + dataset(`"preprocessor": "MobilenetV1"`)), "either inputOutputs or a dataset"},
		{model(`"inputOutputs": [{"input": "i"}]`), "inputOutputs 0"},
		{model(`"inputOutputs": [{"input": "i", "output": "o", "outputs": ["p"]}]`), "inputOutputs 0"},
		{model(dataset(`"preprocessor": "Other"`)), `preprocessor "Other", there is MobilenetV1`},
		{strings.Replace(model(dataset(`"preprocessor": "MobilenetV1"`)), "[1,2,2,3]", "[1,2,4,3]", 1), "pictures are [1, D, D, 3]"},
		{strings.Replace(model(dataset(`"preprocessor": "MobilenetV1"`)), `"dataSize": 4`, `"dataSize": 1`, 1), "needs inputScale"},
		{model(files + `, "evaluator": {"className": "Other"}`), `evaluator "Other", there are MelCepLogF0, PhoneErrorRate, TopK`},
		{model(files + `, "evaluator": {"className": "TopK", "expectedTop1": 2}`), "expectedTop1 2"},
		{`{"models": [` + strings.TrimSuffix(strings.TrimPrefix(model(files), `{"models": [`), "]}") + "," + strings.TrimPrefix(model(files), `{"models": [`), `"m" stands twice`},
	} {
		require.ErrorContains(t, require.Err(ParseList([]byte(c.text))), c.want, c.text)
	}
	// A network may stand in a list more than once, with a test name each.
	pair := func(first, second string) string {
		named := func(s string) string {
			return strings.TrimSuffix(strings.TrimPrefix(model(s+","+files), `{"models": [`), "]}")
		}
		return `{"models": [` + named(first) + "," + named(second) + "]}"
	}
	require.NoError(t, require.Err(ParseList([]byte(pair(`"testName": "a"`, `"testName": "b"`)))))
	require.ErrorContains(t, require.Err(ParseList([]byte(pair(`"testName": "m"`, `"modelFile": "o"`)))), `"m" stands twice`)
}

// TestFilesStayInside: a list cannot name files outside of its folders.
func TestFilesStayInside(t *testing.T) {
	l := &List{Dirs: []string{t.TempDir()}}
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", ""} {
		require.ErrorContains(t, require.Err(l.read(name)), "not within the folder", name)
	}
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte(speechList))
	f.Add([]byte(`{"models": [{"name": "m", "baselineSec": 1, "inputSize": [1,2,2,3], "dataSize": 1, "inputScale": 1, "dataset": {"inputPath": "p", "groundTruth": "t", "labels": "l", "preprocessor": "MobilenetV1"}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseList(b)
		if err != nil {
			return
		}
		for i := range l.Models {
			if n := l.Models[i].inputBytes(); n < 1 {
				t.Errorf("an input of %d bytes", n)
			}
		}
	})
}
