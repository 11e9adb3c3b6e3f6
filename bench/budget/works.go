package budget

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	gemm "github.com/nnsoc/nnsoc/bench"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// bench is the devices and programs of a measurement.
type bench struct {
	Options
	meters  map[string]*meter
	folders []string // to remove
}

// folder makes a folder for files of the measurement.
func (b *bench) folder() (string, error) {
	dir, err := os.MkdirTemp("", "nnsoc-budget")
	if err == nil {
		b.folders = append(b.folders, dir)
	}
	return dir, err
}

func (b *bench) close() {
	for _, dir := range b.folders {
		os.RemoveAll(dir)
	}
}

const (
	quantNetwork = "mobilenet_v1_1.0_224_quant"
	floatNetwork = "mobilenet_v1_1.0_224_float"
)

// prepare finds a work by its name: its function and operands.
func (b *bench) prepare(name string) (*meter, error) {
	on, what, _ := strings.Cut(name, ": ")
	switch {
	case strings.HasPrefix(name, "nnsoc "):
		return b.command(strings.Fields(strings.TrimSuffix(strings.TrimPrefix(name, "nnsoc "), ", float")), strings.HasSuffix(name, ", float"))
	case on == "portable Go":
		return portable(what)
	case name == "copy of 64 MiB":
		return copies(), nil
	case on == "qemu-hexagon":
		return b.emulated(what)
	case what == "point of a sweep":
		return b.sweepPoint(on)
	case programs[what] != nil:
		return b.program(what)
	case what == "f32 GEMM 256^3":
		m, err := gemm.Gemm("f32", 256)
		if err != nil {
			return nil, err
		}
		return b.execution(on, m, nnrt.ExecuteOptions{})
	}
	network, prepared := strings.CutSuffix(what, " prepared")
	network, functional := strings.CutSuffix(network, " functional")
	m, err := zoo.Build(map[string]string{"MobileNet v1 quant": quantNetwork, "MobileNet v1 float": floatNetwork}[network])
	if err != nil {
		return nil, fmt.Errorf("no work is called %q", name)
	}
	if prepared {
		return timed(func() error {
			_, err := b.compile(on, m)
			return err
		}), nil
	}
	return b.execution(on, m, nnrt.ExecuteOptions{Functional: functional})
}

// compile prepares a model on a device without cached compilations.
func (b *bench) compile(device string, m *nn.Model) (*nnrt.Compilation, error) {
	list, err := devices.Open(b.SoC, hal.FastSingleAnswer, devices.Cold())
	if err != nil {
		return nil, err
	}
	r, err := registry.New(list[0], list[1:]...)
	if err != nil {
		return nil, err
	}
	return nnrt.Compile(r, m, device, nnrt.CompileOptions{})
}

// execution is an execution of a prepared model, by a device that remembers none. Two that follow each other have other
// inputs, so that each computes.
func (b *bench) execution(device string, m *nn.Model, o nnrt.ExecuteOptions) (*meter, error) {
	c, err := b.compile(device, m)
	if err != nil {
		return nil, err
	}
	input := &m.Main.Operands[m.Main.Inputs[0]]
	in, next := [][]byte{tensor.Synthetic(input, 1), tensor.Synthetic(input, 3)}, 0
	return timed(func() error {
		next = 1 - next
		_, err := c.Execute(in[next:next+1], o)
		return err
	}), nil
}

// command is a run of nnsoc in a separate process; `run` without a model runs MobileNet v1.
func (b *bench) command(args []string, float bool) (*meter, error) {
	if float {
		args = append([]string{args[0], floatNetwork}, args[1:]...)
	}
	return b.child(append(args, "-q"), nil, 1), nil
}

// child is a meter of nnsoc, whose time is divided among so many parts of its work.
func (b *bench) child(args []string, before func() error, parts int) *meter {
	if b.Program == "" {
		return &meter{skipped: "needs the command nnsoc"}
	}
	return &meter{times: 1, once: func() (time.Duration, error) {
		if before != nil {
			if err := before(); err != nil {
				return 0, err
			}
		}
		c := exec.Command(b.Program, append(args, b.Arguments...)...)
		c.Env = append(os.Environ(), "NNSOC_CACHE=") // without others' measurements
		out, err := c.CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("nnsoc %s: %w: %s", strings.Join(args, " "), err, out)
		}
		return c.ProcessState.UserTime() / time.Duration(parts), nil
	}}
}

// sweepPoint is one of the points of a sweep of two.
func (b *bench) sweepPoint(device string) (*meter, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "sweep")
	args := []string{"sweep", "--vary", "dram.mt_per_s=3733,4266", "--models", quantNetwork, "--devices", device, "--out", out, "-q"}
	return b.child(args, func() error { return os.RemoveAll(out) }, 2), nil
}
