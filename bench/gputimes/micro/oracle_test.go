package micro

import (
	"cmp"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/gpu/launch"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestOracleOpenCL: clang compiles the OpenCL kernels for gfx1030, and each runs on the core: it stores nothing, costs
// the same for as many iterations more, as much as the equivalent kernel of micro.s, or reads as many bytes of DRAM: no
// compiler has optimized the work away.
func TestOracleOpenCL(t *testing.T) {
	oracle.Need(t, "clang-19", "ld.lld-19")
	for source, text := range map[string]string{"kernels/micro.cl": assembly, "kernels/machine.cl": machineAssembly, "kernels/core.cl": coreAssembly} {
		t.Run(source, func(t *testing.T) { compareSources(t, source, text) })
	}
}

// compareSources compares the kernels of a file in OpenCL C with those of the same names in assembly.
func compareSources(t *testing.T, source, text string) {
	object := filepath.Join(t.TempDir(), "micro.co")
	args := []string{"-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1030",
		"-nogpulib", "-O2", "-cl-mad-enable", "-Werror", "-include", "testdata/library.cl", "-o", object, source}
	if out, err := exec.Command("clang-19", args...).CombinedOutput(); err != nil {
		t.Fatalf("clang-19: %v\n%s", err, out)
	}
	image := require.File(t, object)
	file := require.V(codeobject.Read(image))(t)
	assembly := require.V(assemble(text))(t)
	config := require.V(soc.Load("pixel4"))(t)
	spec := require.V(gpu.FromSoC(config, sim.FastSingleAnswer))(t)
	core := require.V(gpu.New(spec))(t)
	done := map[string]bool{}
	for i := range benchmarks {
		b := benchmarks[i]
		b.size = min(b.size, 256) // the size that compilers expect
		b.groups = cmp.Or(b.groups, 6)
		name := fmt.Sprint(b.kernel, " ", b.extra)
		if done[name] || !slices.Contains(assembly.Names(), b.kernel) || !slices.Contains(file.Names(), b.kernel) {
			continue
		}
		done[name] = true
		step := max(b.more-b.few, 16) / 2
		work := func(file *codeobject.File, n int) (cycles, bytes float64) {
			l := require.V(b.launch(&spec, file, n))(t)
			memory, dram := require.V2(config.NewPath("gpu", 0))(t)
			l.Memory = memory
			r := require.V(launch.RunAll(core, []*launch.Launch{l}))(t, name)
			require.Check(t, !slices.ContainsFunc(l.Args[0].Buffer, func(b byte) bool { return b != 0 }), "%s stores", name)
			return float64(r.Cycles), float64(dram.Bytes())
		}
		few, _ := work(file, b.few)
		some, _ := work(file, b.few+step)
		more, _ := work(file, b.few+2*step)
		first, bytes := work(assembly, b.few)
		last, bytesMore := work(assembly, b.few+2*step)
		want, a, each := (last-first)/2, some-few, more-some
		least, even := 0.9*want, 0.1
		if b.iterations > 0 || bytesMore > bytes { // which lines L2 holds depends on their order
			least, even = 0, 0.25
		}
		if !(math.Abs(a-each) <= even*each) || each < least || each > 1.5*want {
			t.Errorf("%s: %d iterations more take %.0f cycles, then %.0f; %.0f in assembly", name, step, a, each, want)
		}
	}
	require.Check(t, len(done) != 0, "no kernel in both")
}
