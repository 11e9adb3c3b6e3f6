package engine

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/gpu/launch"
	"github.com/nnsoc/nnsoc/importer/npy"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
)

// gpuLaunchFlags are the flags that describe the launch of one kernel.
type gpuLaunchFlags struct {
	kernel       string
	grid, block  string
	args, save   []string
	stack, queue int
	noBarrier    bool
}

func (f *gpuLaunchFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.kernel, "kernel", "", "name of the kernel")
	fl.StringVar(&f.grid, "grid", "1", "work-groups as X,Y,Z")
	fl.StringVar(&f.block, "block", "64", "work-items of a work-group as X,Y,Z")
	fl.StringArrayVar(&f.args, "arg", nil, "kernel argument, in order: buf:FILE.npy, new:DTYPE:SHAPE, i32:N, f32:X, ...")
	fl.StringArrayVar(&f.save, "save", nil, "ARGINDEX:FILE.npy, write a buffer after the run")
	cli.MarkFile(fl, "save")
	fl.IntVar(&f.stack, "stack", 0, "bytes of scratch per lane, when more than the kernel declares")
	fl.IntVar(&f.queue, "queue", 0, "queue of the kernel, for kernels of --also")
}

// gpuLaunch is a kernel of the run.
type gpuLaunch struct {
	launch.Launch
	args  []gpuArg
	saves map[int]string
}

// gpuArg is an argument with the data for the report and --save.
type gpuArg struct {
	launch.Arg
	array *npy.Array // of a buffer
	file  string
}

// gpuBuffer is a buffer after the run.
type gpuBuffer struct {
	Arg    int    `json:"arg"`
	File   string `json:"file,omitempty"`
	Dtype  string `json:"type"`
	Shape  []int  `json:"shape"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
	Saved  string `json:"saved_file,omitempty"`
}

// gpuDispatch is a kernel of a run of several.
type gpuDispatch struct {
	Kernel   string      `json:"kernel"`
	Queue    int         `json:"queue"`
	Barrier  bool        `json:"barrier"` // waits for the kernels before it in its queue: the barrier bit of an AQL packet
	Grid     [3]int      `json:"grid"`
	Block    [3]int      `json:"block"`
	StartUs  float64     `json:"start_us"`
	EndUs    float64     `json:"end_us"`
	Cycles   int64       `json:"cycles"` // part of those of the run
	EnergyUJ float64     `json:"energy_uj"`
	Buffers  []gpuBuffer `json:"buffers"`
}

// parseLaunches reads the kernels of a run.
func parseLaunches(path string, file *codeobject.File, f *gpuExecFlags) ([]gpuLaunch, error) {
	first, err := f.launch(path, file, nil)
	if err != nil {
		return nil, err
	}
	list := []gpuLaunch{first}
	for _, text := range f.also {
		var x gpuLaunchFlags
		fl := pflag.NewFlagSet("also", pflag.ContinueOnError)
		fl.SetOutput(io.Discard)
		x.add(fl)
		fl.BoolVar(&x.noBarrier, "no-barrier", false, "")
		if err := fl.Parse(strings.Fields(text)); err != nil || fl.NArg() > 0 {
			if err == nil {
				err = fmt.Errorf("%q is no flag", fl.Arg(0))
			}
			return nil, cli.Usage(fmt.Errorf("--also %q: %w", text, err))
		}
		l, err := x.launch(path, file, list)
		if err != nil {
			return nil, fmt.Errorf("--also %q: %w", text, err)
		}
		list = append(list, l)
	}
	return list, nil
}

// launch is the kernel that the flags request, behind others of the run.
func (f *gpuLaunchFlags) launch(path string, file *codeobject.File, before []gpuLaunch) (l gpuLaunch, err error) {
	l.Launch = launch.Launch{File: file, Kernel: f.kernel, StackBytes: f.stack, Queue: f.queue, Concurrent: f.noBarrier}
	if l.Groups, err = parseDims("grid", f.grid); err != nil {
		return l, err
	}
	if l.Block, err = parseDims("block", f.block); err != nil {
		return l, err
	}
	if l.Kernel == "" {
		if len(file.Kernels) == 0 {
			return l, cli.Usage(fmt.Errorf("%s has no kernel", path))
		}
		if len(file.Kernels) > 1 {
			return l, cli.Usage(fmt.Errorf("%s: --kernel selects one of the %d kernels: %s", path, len(file.Kernels), strings.Join(file.Names(), ", ")))
		}
		l.Kernel = file.Kernels[0].Name
	}
	l.args = make([]gpuArg, len(f.args))
	for i, s := range f.args {
		if l.args[i], err = parseGPUArg(s, before); err != nil {
			return l, cli.Usage(fmt.Errorf("argument %d, %q: %w", i, s, err))
		}
		l.Args = append(l.Args, l.args[i].Arg)
	}
	l.saves, err = parseSaves(f.save, l.args)
	return l, err
}

// write writes the buffers that --save names.
func (l *gpuLaunch) write() error {
	for i, file := range l.saves {
		var b bytes.Buffer
		if err := l.args[i].array.Write(&b); err != nil {
			return cli.Usage(err)
		}
		if err := cli.WriteFile(file, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// buffers returns the buffers that are arguments, as they are after the run.
func (l *gpuLaunch) buffers() []gpuBuffer {
	list := []gpuBuffer{}
	for i := range l.args {
		if v := l.args[i].array; v != nil {
			list = append(list, gpuBuffer{
				Arg: i, File: l.args[i].file, Dtype: strings.TrimLeft(v.Descr, "<|="), Shape: v.Shape, Bytes: len(v.Data), SHA256: fmt.Sprintf("%x", sha256.Sum256(v.Data)), Saved: l.saves[i],
			})
		}
	}
	return list
}

// report is the kernel after a run, with its region.
func (l *gpuLaunch) report(r *sim.RegionReport) gpuDispatch {
	return gpuDispatch{Kernel: l.Kernel, Queue: l.Queue, Barrier: !l.Concurrent, Grid: l.Groups, Block: l.Block, StartUs: l.Start.Microseconds(), EndUs: l.End.Microseconds(),
		Cycles: r.Cycles, EnergyUJ: r.EnergyPJ / 1e6, Buffers: l.buffers()}
}

// parseDims reads X,Y,Z; missing ones are 1.
func parseDims(what, s string) ([3]int, error) {
	out := [3]int{1, 1, 1}
	parts := strings.Split(s, ",")
	if len(parts) > 3 {
		return out, cli.Usage(fmt.Errorf("--%s %q: want X,Y,Z", what, s))
	}
	for i, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || n < 1 || n > 1<<31-1 {
			return out, cli.Usage(fmt.Errorf("--%s %q: want X,Y,Z, each from 1 to 2^31-1", what, s))
		}
		out[i] = n
	}
	return out, nil
}

// parseGPUArg reads an argument; one that is the same as another is of the launches before.
func parseGPUArg(s string, before []gpuLaunch) (gpuArg, error) {
	kind, value, ok := strings.Cut(s, ":")
	if !ok {
		return gpuArg{}, errors.New("want KIND:VALUE, as buf:FILE.npy or i32:5")
	}
	switch kind {
	case "buf":
		data, err := readInput(value)
		if err != nil {
			return gpuArg{}, err
		}
		v, err := npy.Parse(data)
		if err != nil {
			return gpuArg{}, fmt.Errorf("%s: %w", value, err)
		}
		v.Data = append(make([]byte, 0, max(len(v.Data), 1)), v.Data...)
		return gpuArg{Arg: launch.Arg{Buffer: v.Data, Type: "a buffer"}, array: v, file: value}, nil
	case "same":
		var k, i int
		if _, err := fmt.Sscanf(value, "%d.%d", &k, &i); err != nil || k < 0 || k >= len(before) || i < 0 || i >= len(before[k].args) || before[k].args[i].array == nil {
			return gpuArg{}, errors.New("want same:K.I, the buffer of argument I of the K-th kernel, counted from 0")
		}
		return before[k].args[i], nil
	case "new":
		v, err := launch.NewArray(value)
		if err != nil {
			return gpuArg{}, err
		}
		b := &npy.Array{Descr: v.Descr, Shape: v.Shape, Data: v.Data}
		return gpuArg{Arg: launch.Arg{Buffer: b.Data, Type: "a buffer"}, array: b}, nil
	}
	arg, err := launch.ParseValue(kind, value)
	return gpuArg{Arg: arg}, err
}

// parseSaves reads ARGINDEX:FILE pairs.
func parseSaves(list []string, args []gpuArg) (map[int]string, error) {
	out := map[int]string{}
	for _, s := range list {
		index, file, ok := strings.Cut(s, ":")
		i, err := strconv.Atoi(index)
		switch {
		case !ok || err != nil || file == "":
			return nil, cli.Usage(fmt.Errorf("--save %q: want ARGINDEX:FILE.npy", s))
		case i < 0 || i >= len(args):
			return nil, cli.Usage(fmt.Errorf("--save %q: there are %d arguments, counted from 0", s, len(args)))
		case args[i].array == nil:
			return nil, cli.Usage(fmt.Errorf("--save %q: argument %d is no buffer", s, i))
		case out[i] != "":
			return nil, cli.Usage(fmt.Errorf("--save %q: argument %d is saved twice", s, i))
		}
		out[i] = file
	}
	return out, nil
}
