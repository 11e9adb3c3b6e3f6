//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/verify"
)

// TestEvalGoesOn kills an evaluation: the next one takes over the scores that are in
// the file, and comes to what one without a break comes to.
func TestEvalGoesOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, scores := filepath.Join(dir, "nnsoc"), filepath.Join(dir, "scores.jsonl") // TestMain runs main by this name
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	eval := func(more ...string) []string {
		return append([]string{"eval", "mobilenet_v1_0.25_128_quant", "--dataset", filepath.Join("testdata", "patterns"), "--metric", "top1", "--device", "cpu,npu"}, more...)
	}
	lines := func() int {
		data, err := os.ReadFile(scores)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	first := exec.Command(program, eval("--results", scores)...)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for lines() < 3 { // what it belongs to, and two scores
		time.Sleep(time.Millisecond)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed, or had just ended
	had := lines() - 1

	report := func(args []string) (r verify.EvalReport, samples int) {
		code, out, errs := command(nil, append(args, "--json")...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, errs)
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return r, strings.Count(errs, ": sample ")
	}
	resumed, rest := report(eval("--results", scores))
	whole, all := report(eval())
	if diff := cmp.Diff(whole, resumed); diff != "" {
		t.Errorf("(-without a break +resumed):\n%s", diff)
	}
	if rest != all-had {
		t.Errorf("%d samples ran after the break, %d of %d were known", rest, had, all)
	}
}
