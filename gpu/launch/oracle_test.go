package launch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2/asm"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// These tests compile the kernels of testdata/kernels with clang for gfx1030 and for x86-64 and compare the results of
// both, bit for bit unless slack states the error that OpenCL allows.

// testKernel is a kernel and the shape it runs with.
type testKernel struct {
	file, name string
	groups     [3]int
	block      [3]int
	n          int
	slack      uint32 // largest difference of a word, as an integer
}

func flat(file, name string, groups, block int) testKernel {
	return testKernel{file: file, name: name, groups: [3]int{groups, 1, 1}, block: [3]int{block, 1, 1}, n: groups*block - 5}
}

var testKernels = []testKernel{
	flat("basic.cl", "vadd", 5, 64), flat("basic.cl", "saxpy", 3, 100), flat("basic.cl", "ids", 4, 48),
	{file: "basic.cl", name: "ids3", groups: [3]int{2, 3, 2}, block: [3]int{8, 4, 2}, n: 1 << 20},
	flat("basic.cl", "collatz", 3, 64), flat("basic.cl", "switches", 4, 64), flat("basic.cl", "mandelbrot", 8, 64),
	flat("basic.cl", "constants", 2, 96), flat("basic.cl", "blur", 3, 64),
	{file: "local.cl", name: "sgemm", groups: [3]int{16, 1, 1}, block: [3]int{64, 1, 1}, n: 1024},
	flat("local.cl", "reduce", 4, 256), flat("local.cl", "reducef", 4, 128), flat("local.cl", "scan", 2, 256),
	{file: "local.cl", name: "transpose", groups: [3]int{3, 1, 1}, block: [3]int{64, 1, 1}, n: 768},
	flat("local.cl", "localbytes", 3, 128), flat("local.cl", "histogram", 4, 128), flat("local.cl", "atomics", 3, 64), flat("local.cl", "localatomics", 3, 128),
	flat("private.cl", "stack", 3, 64), flat("private.cl", "smallarray", 4, 64), flat("private.cl", "movrel", 5, 64), flat("private.cl", "bigstack", 2, 64),
	flat("private.cl", "calls", 3, 64), flat("private.cl", "manyargs", 2, 64), flat("private.cl", "deepids", 3, 70), flat("private.cl", "genericptr", 3, 64),
	flat("private.cl", "pointers", 2, 64), flat("private.cl", "copystruct", 2, 64),
	flat("arith.cl", "divide", 4, 64), flat("arith.cl", "divide64", 3, 64), flat("arith.cl", "long64", 3, 64), flat("arith.cl", "bits", 3, 64),
	flat("arith.cl", "bytes", 3, 64), flat("arith.cl", "shorts", 3, 64), flat("arith.cl", "packbytes", 3, 64), flat("arith.cl", "floats", 3, 64),
	{file: "arith.cl", name: "fdivide", groups: [3]int{4, 1, 1}, block: [3]int{64, 1, 1}, n: 250, slack: 9},
	{file: "arith.cl", name: "roots", groups: [3]int{4, 1, 1}, block: [3]int{64, 1, 1}, n: 250, slack: 8},
	flat("arith.cl", "convert", 4, 64), flat("arith.cl", "doubles", 3, 64), flat("arith.cl", "halves", 3, 64), flat("arith.cl", "vectors", 1, 64),
	flat("arith.cl", "dot8", 3, 64), flat("arith.cl", "softfloat", 3, 64),
}

// words is the size of each buffer.
const words = 2048

func inputs(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, 4*words)
	for i := range words {
		v := r.Uint32()
		switch r.IntN(8) {
		case 0:
			v &= 0xFF
		case 1:
			v |= 0xFFFFFF00
		}
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	return b
}

func pattern() []byte { return bytes.Repeat([]byte{0x5A, 0, 0, 0}, words) }

func build(t testing.TB, args ...string) {
	t.Helper()
	if out, err := exec.Command("clang-19", args...).CombinedOutput(); err != nil {
		t.Fatalf("clang-19 %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

var clangGPU = []string{"-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030", "-nogpulib"}

// hostResults runs all kernels on x86-64.
func hostResults(t *testing.T) map[string][]byte {
	dir := t.TempDir()
	out := map[string][]byte{}
	for _, k := range testKernels {
		exe := filepath.Join(dir, k.file+".host")
		if _, err := os.Stat(exe); err != nil {
			build(t, "-x", "c", "-DHOST", "-O1", "-ffp-contract=on", "-mfma", "-Xclang", "-ffloat16-excess-precision=none", "-w", "-rdynamic", "-o", exe, filepath.Join("testdata/kernels", k.file), "testdata/kernels/host.c", "-x", "none", "-lm", "-ldl")
		}
		out[k.name] = onHost(t, exe, k)
	}
	return out
}

func TestOracleClang(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19")
	want := hostResults(t)
	for _, flags := range [][]string{
		{"-O0"}, {"-O1"}, {"-O2"}, {"-O3"}, {"-Os"}, {"-O0", "-mwavefrontsize64"}, {"-O2", "-mwavefrontsize64"},
		{"-O1", "-mcode-object-version=4"}, {"-O0", "-mcode-object-version=6"}, {"-O0", "-mcumode", "-mcode-object-version=4"},
		{"-O0", "-c"}, {"-O2", "-c"}, {"-O0", "-S"}, {"-O3", "-S"}, {"-O1", "-S", "-mwavefrontsize64"},
		{"-O2", "-Xclang", "-target-feature", "-Xclang", "+enable-flat-scratch"}, {"-O0", "-Xclang", "-target-feature", "-Xclang", "+enable-flat-scratch"},
	} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]*codeobject.File{}
			for _, k := range testKernels {
				f := files[k.file]
				if f == nil {
					out := filepath.Join(dir, k.file+".co")
					build(t, append(append(append([]string(nil), clangGPU...), flags...), "-o", out, filepath.Join("testdata/kernels", k.file))...)
					f = read(t, out, slices.Contains(flags, "-S"))
					files[k.file] = f
				}
				for _, functional := range []bool{true, false} {
					got, err := runTest(t, f, k, functional)
					if err != nil {
						t.Errorf("%s: %v", k.name, err)
						break
					}
					if err := compareWords(got, want[k.name], k.slack); err != nil {
						t.Errorf("%s (functional %v): %v", k.name, functional, err)
						break
					}
				}
			}
		})
	}
}

// read reads a code object, or assembles one from source, writes it and reads it back.
func read(t *testing.T, path string, source bool) *codeobject.File {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	if source {
		u, err := asm.Assemble(string(data))
		require.NoError(t, err)
		f, err := u.Link()
		require.NoError(t, err)
		if data, err = f.ELF(); err != nil {
			t.Fatal(err)
		}
	}
	f, err := codeobject.Read(data)
	require.NoError(t, err)
	return f
}

func runTest(t *testing.T, f *codeobject.File, k testKernel, functional bool) ([]byte, error) {
	t.Helper()
	out := pattern()
	l := Launch{
		File: f, Kernel: k.name, Groups: k.groups, Block: k.block, Functional: functional, Memory: memory{},
		Args: []Arg{{Buffer: inputs(1)}, {Buffer: inputs(2)}, {Buffer: out}, {Value: binary.LittleEndian.AppendUint32(nil, uint32(k.n))}},
	}
	rep, err := l.run(newCore(t))
	if err != nil {
		return nil, err
	}
	if !functional && (rep.Stalls.Total() != rep.Cycles || rep.Cycles == 0) {
		t.Errorf("%s: stalls sum to %d of %d cycles", k.name, rep.Stalls.Total(), rep.Cycles)
	}
	return out, nil
}

func newCore(t testing.TB) *gpu.Core {
	t.Helper()
	core := require.V(gpu.New(gpu.DefaultSpec()))(t)
	return core
}

// memory has a latency of 100 ns.
type memory struct{}

func (memory) Access(t sim.Time, _ uint64, _ int, _ mem.Kind) (sim.Time, sim.Reason) {
	return t + 100*sim.Nanosecond, sim.StallDRAM
}
func (memory) Reset() {}

func compareWords(got, want []byte, slack uint32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d bytes, want %d", len(got), len(want))
	}
	bad := 0
	var first error
	for i := 0; i < len(got); i += 4 {
		g, w := binary.LittleEndian.Uint32(got[i:]), binary.LittleEndian.Uint32(want[i:])
		if d := g - w; d > slack && -d > slack {
			if bad++; first == nil {
				first = fmt.Errorf("word %d is %#x, want %#x", i/4, g, w)
			}
		}
	}
	if first != nil {
		return fmt.Errorf("%w (%d words differ)", first, bad)
	}
	return nil
}

// TestOracleArguments: kernels of many signatures find their arguments at every optimization
// level and ABI, and a recursion its stack.
func TestOracleArguments(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19")
	le := binary.LittleEndian
	i32 := func(v ...int32) (b []byte) {
		for _, v := range v {
			b = le.AppendUint32(b, uint32(v))
		}
		return b
	}
	value := func(b ...byte) Arg { return Arg{Value: b, Type: "a value"} }
	words := func(v ...int32) (args []Arg) {
		for _, v := range v {
			args = append(args, value(i32(v)...))
		}
		return args
	}
	long := func(v uint64) Arg { return value(le.AppendUint64(nil, v)...) }
	record := value(append(i32(1000), 20, 0, 3, 4, 5, 0, 0, 0)...)
	out := make([]byte, 4*64)
	result := Arg{Buffer: out, Type: "a buffer"}
	cases := []struct {
		kernel string
		args   []Arg
		want   uint32
	}{
		{"i3", append([]Arg{result}, words(100, 20, 3)...), 149},
		{"i5", append(words(1, 20, 300, 4000, 50000), result), 54321},
		{"i7", append([]Arg{result}, words(1, 20, 300, 4000, 50000, 600000, 7000000)...), 7654321},
		{"small", []Arg{value(0xFF), value(0x10, 0x01), value(0xFF), result, value(1, 0)}, 527},
		{"longs", append([]Arg{long(5), result, long(70)}, words(300)...), 375},
		{"vec3", []Arg{result, value(i32(1, 2, 3, 99)...), value(4)}, 10},
		{"vec4", []Arg{result, value(5), value(i32(1, 2, 3, 4)...)}, 15},
		{"byvalue", []Arg{record, result}, 1032},
		{"tail", []Arg{result, record}, 1032},
		{"pointers", append([]Arg{result, {Buffer: i32(3)}, {Buffer: i32(0, 50)}}, words(700)...), 753},
		{"recursion", append([]Arg{result}, words(30)...), 29},
	}
	for _, flags := range [][]string{{"-O0"}, {"-O1"}, {"-O2"}, {"-O3"}, {"-Os"}, {"-O3", "-mwavefrontsize64"}, {"-O2", "-mcode-object-version=4"}, {"-O3", "-mcode-object-version=6"}} {
		path := filepath.Join(t.TempDir(), "args.co")
		build(t, append(append(append([]string(nil), clangGPU...), flags...), "-w", "-o", path, "testdata/kernels/args.cl")...)
		f := read(t, path, false)
		for _, c := range cases {
			for _, functional := range []bool{true, false} {
				clear(out)
				l := Launch{File: f, Kernel: c.kernel, Groups: [3]int{1, 1, 1}, Block: [3]int{64, 1, 1}, Functional: functional, Memory: memory{}, Args: c.args}
				if c.kernel == "recursion" {
					l.StackBytes = 16 << 10
				}
				if _, err := l.run(newCore(t)); err != nil {
					t.Errorf("%s %v: %v", c.kernel, flags, err)
					continue
				}
				for i := 0; i < len(out); i += 4 {
					if got := le.Uint32(out[i:]); got != c.want {
						t.Errorf("%s %v, lane %d: %d, want %d", c.kernel, flags, i/4, got, c.want)
						break
					}
				}
			}
		}
	}
}
