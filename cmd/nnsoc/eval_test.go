//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/verify"
	"github.com/nnsoc/nnsoc/internal/require"
)

// evalRuns are evaluations of each layout of data sets, long enough to be killed.
func evalRuns(t *testing.T, dir string) map[string][]string {
	t.Helper()
	writeEvalData(t, dir)
	const n = 400
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string, data []byte) string {
		require.NoError(t, os.WriteFile(path(name), data, 0o666))
		return path(name)
	}
	var highest []int
	var classes []uint64
	var list strings.Builder
	coco := map[string][]any{"categories": {map[string]any{"id": 17, "name": "cat"}, map[string]any{"id": 18, "name": "dog"}}}
	for i := range n {
		highest, classes = append(highest, i%4), append(classes, uint64(i%3))
		fmt.Fprintf(&list, "%s\t%s\n", [2]string{"one.npy", "two.npy"}[i%2], [3]string{"ab a", "ba bb", "b"}[i%3])
		coco["images"] = append(coco["images"], map[string]any{"id": i, "file_name": [2]string{"coco/a.png", "coco/b.png"}[i%2], "width": 400, "height": 400})
		coco["annotations"] = append(coco["annotations"],
			map[string]any{"id": i, "image_id": i, "category_id": 17 + i%2, "bbox": []int{110 + i%50, 110, 100, 100}, "area": 10000, "iscrowd": 0})
	}
	boxes := require.V(json.Marshal(coco))(t)
	return map[string][]string{
		"folder": {"mobilenet_v1_0.25_128_quant", "--dataset", filepath.Join("testdata", "patterns"), "--metric", "top1", "--device", "cpu,npu"},
		"npz":    {path("relu.tflite"), "--dataset", write("many.npz", npzOf(t, arrays{"x": rows(highest...), "y": int64s(classes...)})), "--metric", "top1", "--device", "cpu,gpu"},
		"coco": {path("detector.tflite"), "--dataset", write("many.json", boxes), "--metric", "map", "--labels", write("animals.txt", []byte("cat\ndog\n")),
			"--mean", "0", "--std", "255", "--device", "cpu"},
		"list": {path("speech.tflite"), "--dataset", write("many.txt", []byte(list.String())), "--metric", "wer", "--labels", write("alphabet.txt", []byte("a\nb\n \n_\n")), "--device", "cpu,gpu"},
	}
}

// TestEvalGoesOn kills an evaluation of each layout and cuts its last line off: the next one reuses the scores in the
// file, and has the results of an uninterrupted one.
func TestEvalGoesOn(t *testing.T) {
	self := require.V(os.Executable())(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "nnsoc") // TestMain runs main by this name
	require.NoError(t, os.Symlink(self, program))
	for layout, args := range evalRuns(t, dir) {
		t.Run(layout, func(t *testing.T) { evalGoesOn(t, program, filepath.Join(dir, layout+".jsonl"), args) })
	}
}

func evalGoesOn(t *testing.T, program, scores string, args []string) {
	kept := func() []byte {
		data, err := os.ReadFile(scores)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return data
	}
	eval := func(more ...string) []string { return slices.Concat([]string{"eval"}, args, more) }
	first := exec.Command(program, eval("--results", scores)...)
	require.NoError(t, first.Start())
	for bytes.Count(kept(), []byte("\n")) < 4 { // the header, and three scores
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, first.Process.Kill())
	_ = first.Wait() // it was killed, or had just ended
	data := kept()
	if err := os.WriteFile(scores, data[:len(data)-5], 0o666); err != nil { // within its last score
		t.Fatal(err)
	}
	had := bytes.Count(kept(), []byte("\n")) - 1

	report := func(args []string) (r verify.EvalReport, samples int) {
		code, out, errs := command(nil, append(args, "--json")...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		return r, strings.Count(errs, ": sample ")
	}
	resumed, rest := report(eval("--results", scores))
	whole, all := report(eval())
	require.Equal(t, whole, resumed, "(-without a break +resumed)")
	require.Check(t, had >= 2 && rest == all-had, "%d samples ran after the break, %d of %d were known", rest, had, all)
	if _, again := report(eval("--results", scores)); again != 0 {
		t.Errorf("%d samples ran although all scores were known", again)
	}
}
