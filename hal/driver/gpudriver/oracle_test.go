package gpudriver

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/lower/family"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestOracleKernels: LLVM disassembles every kernel of a network, in both
// precisions, to the text of our listing, and assembles that to our bytes.
func TestOracleKernels(t *testing.T) {
	oracle.Need(t)
	var tools [2]string
	for i, name := range []string{"llvm-mc-19", "llvm-objdump-19"} {
		p, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("skipped: needs %s", name)
		}
		tools[i] = p
	}
	models := []*nn.Model{zoo.MustBuild("mobilenet_v1_1.0_224_float"), zoo.MustBuild("mobilenet_v1_1.0_224_float")}
	models[1].Relaxed = true
	for _, c := range convCases {
		b, _ := c.build(nn.TensorFloat16)
		models = append(models, &b.m)
	}
	var src bytes.Buffer
	var want []string
	for _, m := range models {
		g := graph.New(m)
		require.NoError(t, family.Table().Passes.Run(g, nil))
		p, err := newProgram(g, lower.Machine{Texels: true, Tile: kernel.Machine{Clusters: 2, CUs: 6, SIMDs: 4, WaveLanes: 128, WaveSIMDs: 2, NearestBytes: 1 << 10, NearestRate: 64, ScalarLine: 64, Rows: 384, AddressLanes: 4, BroadcastLanes: 7, Line: 64, L2Rate: 164, DotCycles: 2}})
		require.NoError(t, err)
		for _, l := range p.Launches {
			for _, b := range l.Code.Code {
				fmt.Fprintf(&src, ".byte %d\n", b)
			}
			for i := range l.Code.Insts {
				want = append(want, l.Code.Insts[i].Text(false))
			}
		}
	}
	dir := t.TempDir()
	// dump assembles a source and gives text and words of its instructions.
	line := regexp.MustCompile(`(?m)^\t(.*?)\s*// [0-9A-F]+: ([0-9A-F ]+?)(?: <.*>)?$`)
	dump := func(name string, src []byte) [][]string {
		s, o := filepath.Join(dir, name+".s"), filepath.Join(dir, name+".o")
		require.NoError(t, os.WriteFile(s, src, 0o666))
		if out, err := exec.Command(tools[0], "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-filetype=obj", "-o", o, s).CombinedOutput(); err != nil {
			t.Fatalf("llvm-mc: %v\n%.2000s", err, out)
		}
		out, err := exec.Command(tools[1], "-d", "--mcpu=gfx1030", o).Output()
		if err != nil {
			t.Fatalf("llvm-objdump: %v", err)
		}
		return line.FindAllStringSubmatch(string(out), -1)
	}
	ours, back := dump("bytes", src.Bytes()), dump("text", []byte(strings.Join(want, "\n")+"\n"))
	if len(ours) != len(want) || len(back) != len(want) {
		t.Fatalf("%d instructions, LLVM sees %d and %d", len(want), len(ours), len(back))
	}
	bad := 0
	for i := range want {
		if g := strings.TrimSpace(ours[i][1]); g != want[i] || ours[i][2] != back[i][2] {
			if bad++; bad <= 10 {
				t.Errorf("instruction %d: ours %q %s, LLVM %q, assembled %s", i, want[i], ours[i][2], g, back[i][2])
			}
		}
	}
	t.Logf("%d instructions of %d models", len(want), len(models))
}

// newProgram lowers a graph and plans it.
func newProgram(g *graph.Graph, m lower.Machine) (*plan.Program, error) {
	list, err := lower.Graph(family.Table(), g, m, nil)
	if err != nil {
		return nil, err
	}
	return plan.New(list, &plan.Kernels{}, nil)
}
