package driverkit

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// write runs driver new.
func write(t *testing.T, args ...string) error {
	t.Helper()
	cmd := New(&cli.App{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(append([]string{"new"}, args...))
	return cmd.Execute()
}

// The module that driver new writes builds against the checkout, keeps the contract, and serves.
func TestNewDriver(t *testing.T) {
	checkout := require.V(filepath.Abs("../../../.."))(t)
	dir := filepath.Join(t.TempDir(), "acme")
	require.NoError(t, write(t, "acme", "--dir", dir, "--checkout", checkout))
	gowork := "off"
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK="+gowork)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("list", "-mod=readonly", "-deps", "-test", "./...") // by the module's own go.mod and go.sum
	gowork = filepath.Join(filepath.Dir(dir), "go.work")    // compiles the checkout's packages as its own tests do, which are reused
	run("work", "init", ".", checkout)
	run("vet", "./...")
	run("test", "-run", "Conformance|Vectors|Example|Fuzz", "./...")
	program := filepath.Join(dir, "acme.bin")
	run("build", "-o", program, ".")

	socket := filepath.Join(dir, "acme.sock")
	served := exec.Command(program, socket)
	out := require.V(served.StdoutPipe())(t)
	require.NoError(t, served.Start())
	ended := make(chan error, 1)
	defer func() {
		_ = served.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			require.Check(t, err == nil, "the driver ends with %v", err)
		case <-time.After(20 * time.Second):
			_ = served.Process.Kill()
			t.Error("the driver does not end when it is interrupted")
		}
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() { ended <- served.Wait() }()
	if err != nil || line != "acme serves "+socket+"\n" {
		t.Fatalf("%q, %v", line, err)
	}
	d := require.V(service.Dial(socket))(t)
	defer func() { _ = d.Close() }()
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 1, 2)
	b.Output(b.Add(x, x, builder.NoActivation), "y")
	m := require.V(b.Model("twice"))(t)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	r := &hal.Buffers{Inputs: [][]byte{{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}}, Outputs: [][]byte{make([]byte, 8)}} // 1, -2
	res, err := hal.Execute(p, r)
	if err != nil || d.Name() != "acme" || !bytes.Equal(r.Outputs[0], []byte{0, 0, 0, 0x40, 0, 0, 0x80, 0xc0}) || res.Stats.Cycles != 5 {
		t.Errorf("%s: %x, %+v, %v", d.Name(), r.Outputs[0], res, err)
	}
	require.Same(t, nn.OpAdd, m.Main.Operations[0].Type, "the network adds nothing")
}

func TestNewRefuses(t *testing.T) {
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	fresh := filepath.Join(t.TempDir(), "new")
	for want, args := range map[string][]string{
		"needs exactly one NAME":    {},
		"small letters":             {"Acme"},
		"a device of every phone":   {"dsp", "--dir", fresh},
		"is not empty":              {"acme", "--dir", full},
		"no path of a module":       {"acme", "--dir", fresh, "--module", "a b"},
		"--checkout":                {"acme", "--dir", fresh, "--checkout", full},
		"no checkout of github.com": {"acme", "--dir", fresh, "--checkout", other(t)},
	} {
		if err := write(t, args...); err == nil || !strings.Contains(err.Error(), want) || cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	require.Fails(t, require.Err(os.Stat(fresh)), "a refused command leaves a folder")
}

// other is a checkout of something else.
func other(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.org/x\n"), 0o600))
	return dir
}
