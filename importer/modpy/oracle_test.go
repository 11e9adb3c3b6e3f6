package modpy

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// interpreter runs a list of programs and prints the result of each.
const interpreter = `
import json, sys
out = []
for src in json.load(sys.stdin):
    scope = {}
    exec(src, scope)
    out.append([float(v) for v in scope["result"]])
print(json.dumps(out))
`

// TestOraclePython runs the programs of TestPrograms under CPython.
func TestOraclePython(t *testing.T) {
	oracle.Need(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: needs python3")
	}
	var list []string
	for _, p := range programs {
		list = append(list, p.src)
	}
	in := require.V(json.Marshal(list))(t)
	cmd := exec.Command(python, "-c", interpreter)
	cmd.Stdin = bytes.NewReader(in)
	out := require.V(cmd.Output())(t, "python3")
	var want [][]float64
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(programs) {
		t.Fatalf("%d results of %d: %v", len(want), len(programs), err)
	}
	for i, p := range programs {
		got, err := eval(t, p.src)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		w := make([]float32, len(want[i]))
		for j, v := range want[i] {
			w[j] = float32(v)
		}
		if numbers(got) != numbers(w) {
			t.Errorf("%s: %s, CPython has %s", p.name, numbers(got), numbers(w))
		}
	}
}
