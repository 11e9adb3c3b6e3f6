package linux

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
)

// crossCompile builds a static Hexagon executable and returns its path.
func crossCompile(t *testing.T, source string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	obj, exe := filepath.Join(dir, "p.o"), filepath.Join(dir, "p.elf")
	args = append([]string{"-target", "hexagon-unknown-linux-musl", "-mv66", "-mhvx=v66", "-mhvx-length=128B", "-nostdlib",
		"-c", "-o", obj, source}, args...)
	for _, cmd := range []*exec.Cmd{
		exec.Command("clang-19", args...),
		exec.Command("ld.lld-19", "-m", "hexagonelf", "-static", "-o", exe, obj),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%.2000s", cmd.Args, err, out)
		}
	}
	return exe
}

// sameAsQEMU runs a program in QEMU and in the core; output and exit status must
// be equal.
func sameAsQEMU(t *testing.T, exe string, argv ...string) {
	t.Helper()
	cmd := exec.Command("qemu-hexagon", append([]string{exe}, argv...)...)
	want, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() < 0 {
		t.Fatalf("qemu-hexagon: %v", err)
	}
	data := require.File(t, exe)
	im := require.V(LoadELF(data))(t)
	var got bytes.Buffer
	p := &Process{Image: im, Args: append([]string{exe}, argv...), Stdout: &got, Stderr: &got}
	require.V(testCore(t).Exec([]*Process{p}, dsp.Options{}))(t)
	if status := cmd.ProcessState.ExitCode(); p.Status != status {
		t.Errorf("exit status %d, in QEMU %d", p.Status, status)
	}
	ours, theirs := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(want) == 0 || len(ours) != len(theirs) {
		t.Fatalf("%d lines, QEMU writes %d", len(ours), len(theirs))
	}
	for i := range ours {
		if ours[i] != theirs[i] {
			t.Fatalf("line %d: %q, in QEMU %q", i+1, ours[i], theirs[i])
		}
	}
}

// optimizations are the compiler's ways of making code: scalar and vectorized,
// with packets and without.
var optimizations = []string{"-O0", "-O1", "-O2", "-O3 -fvectorize", "-Os", "-O2 -mno-packets"}

// TestOraclePrograms compiles every program of testdata/programs at every level
// and compares its output with QEMU's.
func TestOraclePrograms(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19", "qemu-hexagon")
	sources, err := filepath.Glob("testdata/programs/*.[cS]")
	if err != nil || len(sources) == 0 {
		t.Fatal("no programs", err)
	}
	for _, source := range sources {
		for _, o := range optimizations {
			if filepath.Ext(source) == ".S" && o != optimizations[0] {
				continue
			}
			t.Run(filepath.Base(source)+" "+o, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(o), "-ffreestanding", "-fno-builtin")
				sameAsQEMU(t, crossCompile(t, source, args...), "one", "two three")
			})
		}
	}
}
