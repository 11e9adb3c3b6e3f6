package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

const module = "github.com/nnsoc/nnsoc/"

// layers says which of our packages each package may import: the first row
// whose prefix fits. A row's own folder is always allowed. Test files are free.
var layers = []struct {
	prefix string
	may    []string
}{
	{"nn", nil},
	{"hal/driver/arena", nil},
	{"hal/driver/graph", []string{"nn"}},
	{"hal/driver/base", []string{"nn", "hal/driver/graph/legal", "hal", "sim"}},
	{"hal/driver/compile", []string{"nn", "hal/driver/base", "hal/driver/graph", "hal/driver/statistics", "hal", "sim"}},
	{"hal/driver/engine", []string{"nn", "hal", "hal/driver/base", "hal/driver/compile", "hal/driver/graph", "internal/idle", "sim"}},
	{"hal/driver/statistics", []string{"hal", "sim"}},
	{"hal/driver/cpudriver", []string{"nn", "hal", "hal/driver/base", "hal/driver/statistics", "refcpu", "sim"}},
	{"hal/driver/gpudriver/layout", nil},
	{"hal/driver/gpudriver/kernel", []string{"hal/driver/gpudriver/layout", "nn/fixedpoint", "nn/opspec", "nn/quantized", "isa"}}, // opspec for the geometry of windows alone
	{"hal/driver/gpudriver/step", []string{"hal/driver/gpudriver/kernel", "hal/driver/gpudriver/layout"}},
	{"hal/driver/gpudriver/cost", []string{"hal/driver/gpudriver/kernel", "gpu"}},
	{"hal/driver/gpudriver/lower", []string{"nn", "hal/driver/compile", "hal/driver/graph", "hal/driver/gpudriver/kernel", "hal/driver/gpudriver/layout", "hal/driver/gpudriver/step"}},
	{"hal/driver/gpudriver/plan", []string{"hal/driver/arena", "hal/driver/gpudriver/cost", "hal/driver/gpudriver/kernel", "hal/driver/gpudriver/layout", "hal/driver/gpudriver/step", "isa", "gpu"}},
	{"hal/driver/sample", []string{"nn", "hal", "hal/driver/base", "hal/driver/cpudriver"}},
	{"hal/driver/gpudriver", []string{"nn", "hal", "hal/driver/base", "hal/driver/compile", "hal/driver/engine", "hal/driver/arena", "hal/driver/graph", "hal/driver/statistics", "isa", "sim", "gpu"}},
	{"hal/driver/dspdriver/kernel/hvxtest", []string{"hal/driver/dspdriver/kernel", "isa", "dsp", "sim"}},
	{"hal/driver/dspdriver/kernel", []string{"nn/fixedpoint", "nn/opspec", "nn/quantized", "isa", "dsp"}}, // opspec for what scales of operations become alone
	{"hal/driver/dspdriver/cost", []string{"hal/driver/dspdriver/kernel"}},
	{"hal/driver/dspdriver/layout", []string{"nn/opspec", "hal/driver/dspdriver/kernel"}}, // opspec for the geometry of windows alone, kernel for the size of vectors
	{"hal/driver/dspdriver/step", []string{"hal/driver/dspdriver/cost", "hal/driver/dspdriver/kernel", "hal/driver/dspdriver/layout"}},
	{"hal/driver/dspdriver/launch", []string{"nn/opspec", "nn/quantized", "hal/driver/dspdriver/cost", "hal/driver/dspdriver/kernel", "hal/driver/dspdriver/layout", "hal/driver/dspdriver/step"}},
	{"hal/driver/dspdriver/lower", []string{"nn", "hal/driver/compile", "hal/driver/graph", "hal/driver/dspdriver/kernel", "hal/driver/dspdriver/launch", "hal/driver/dspdriver/layout", "hal/driver/dspdriver/step", "isa"}},
	{"hal/driver/dspdriver/plan", []string{"hal/driver/arena", "hal/driver/dspdriver/cost", "hal/driver/dspdriver/kernel", "hal/driver/dspdriver/layout", "hal/driver/dspdriver/step", "dsp", "sim/mem"}},
	{"hal/driver/dspdriver", []string{"nn", "hal", "hal/driver/base", "hal/driver/compile", "hal/driver/engine", "hal/driver/arena", "hal/driver/graph", "hal/driver/statistics", "internal/idle", "isa", "sim", "dsp"}},
	{"hal/driver/npudriver/layout", nil},
	{"hal/driver/npudriver/kernel", []string{"hal/driver/npudriver/layout", "isa", "npu"}},
	{"hal/driver/npudriver/step", []string{"hal/driver/npudriver/kernel", "hal/driver/npudriver/layout"}},
	{"hal/driver/npudriver/cost", []string{"hal/driver/npudriver/kernel", "hal/driver/npudriver/layout", "isa", "npu"}},
	{"hal/driver/npudriver/lower", []string{"nn", "hal/driver/compile", "hal/driver/graph", "hal/driver/npudriver/cost", "hal/driver/npudriver/kernel", "hal/driver/npudriver/layout", "hal/driver/npudriver/step", "isa", "npu"}},
	{"hal/driver/npudriver/plan", []string{"hal/driver/arena", "hal/driver/npudriver/cost", "hal/driver/npudriver/kernel", "hal/driver/npudriver/layout", "hal/driver/npudriver/step", "isa", "npu"}},
	{"hal/driver/npudriver", []string{"nn", "hal", "hal/driver/base", "hal/driver/compile", "hal/driver/engine", "hal/driver/arena", "hal/driver/graph", "hal/driver/statistics", "isa", "sim", "npu"}},
	{"hal/devices", []string{"nn", "hal", "hal/driver", "refcpu", "gpu", "dsp", "npu", "sim"}},
	{"hal/service", []string{"nn", "hal"}},
	{"hal/hexagonnn", []string{"nn", "hal"}},
	{"hal", []string{"nn", "internal/perfetto"}},
	{"isa", nil},
	{"sim", []string{"internal/perfetto"}},
	{"internal/mutants", []string{"testvectors/conformance"}},
	{"internal/idle", nil},
	{"internal/perfetto", nil},
	{"dsp/internal/float", nil},
	{"dsp/internal/energy", []string{"isa"}},
	{"dsp/internal/state", []string{"isa", "sim/mem"}},
	{"dsp/internal/asm", []string{"dsp/internal/state", "isa"}},
	{"dsp/internal/exec", []string{"dsp/internal/float", "dsp/internal/state", "isa"}},
	{"dsp/internal/decode", []string{"dsp/internal/asm", "dsp/internal/energy", "dsp/internal/exec", "dsp/internal/state", "isa", "sim/mem"}},
	{"dsp/linux", []string{"dsp", "sim"}},
	{"dsp", []string{"isa", "sim"}},
	{"gpu/internal/float", nil},
	{"gpu/internal/undo", []string{"sim/mem"}},
	{"gpu/internal/state", []string{"isa", "sim/mem"}},
	{"gpu/internal/schedule", []string{"gpu/internal/state", "isa"}},
	{"gpu/internal/asm", nil},
	{"gpu/internal/memory", []string{"gpu/internal/asm", "gpu/internal/float", "gpu/internal/state", "isa"}},
	{"gpu/internal/exec", []string{"gpu/internal/asm", "gpu/internal/float", "gpu/internal/memory", "gpu/internal/state", "isa"}},
	{"gpu/internal/decode", []string{"gpu/internal/exec", "gpu/internal/state", "isa"}},
	{"gpu", []string{"isa", "sim"}},
	{"npu/systolic", nil},
	{"npu/internal/mac", nil},
	{"npu/internal/state", []string{"isa"}},
	{"npu/internal/exec", []string{"npu/internal/mac", "npu/internal/state", "isa"}},
	{"npu/internal/decode", []string{"npu/internal/state", "isa"}},
	{"npu", []string{"isa", "sim"}},
	{"refcpu", []string{"nn", "internal/idle"}},
	{"runtime", []string{"nn", "hal", "internal/child", "internal/idle", "internal/spelling"}},
	{"importer/modpy", []string{"nn", "importer", "refcpu"}},
	{"importer", []string{"nn", "refcpu", "internal/spelling"}},
	{"bench/inference", []string{"nn", "hal", "hal/devices", "runtime", "importer", "isa", "sim", "npu"}},
	{"bench/session", []string{"nn", "hal", "hal/devices", "hal/driver/cpudriver", "hal/driver/npudriver", "runtime", "importer", "sim", "bench/advise", "bench/capability", "bench/glossary", "bench/report", "bench/zoo", "internal/cputime"}},
	{"bench/offline", []string{"bench/inference", "nn", "hal", "hal/devices", "hal/driver/arena", "hal/driver/cpudriver", "hal/driver/npudriver", "runtime", "importer", "isa", "sim", "npu"}},
	{"bench/capability", []string{"nn", "hal", "hal/devices", "runtime", "sim/soc", "bench/mlts", "bench/zoo"}},
	{"bench/mlts/crash", []string{"nn", "hal", "runtime", "importer", "bench/zoo"}},
	{"bench/mlts/page", []string{"bench/mlts", "bench/report"}},
	{"bench/metric", []string{"internal/spelling"}},
	{"bench/mlts", []string{"nn", "hal", "hal/devices", "runtime", "importer", "sim", "bench/zoo", "internal/spelling"}},
	{"bench/gputimes/micro", []string{"gpu", "isa", "sim"}},
	{"bench/gputimes", []string{"nn", "hal", "hal/devices", "sim"}},
	{"bench/cputimes", []string{"nn", "hal", "hal/devices", "refcpu/timing", "sim"}},
	{"bench/clusters", []string{"nn", "hal", "hal/devices", "refcpu/timing", "runtime", "sim", "bench/cputimes", "bench/zoo"}},
	{"bench/dramtimes", []string{"sim"}},
	{"internal/benchcompare", []string{"bench/budget"}},
	{"bench/budget", []string{"nn", "hal", "hal/devices", "runtime", "importer", "isa", "dsp", "sim", "bench", "internal/cputime"}},
	{"bench/advise", []string{"nn", "hal", "sim/soc"}},
	{"bench/cliffs", []string{"nn", "hal", "hal/devices", "runtime", "bench/report", "bench/session", "bench/zoo", "sim/soc"}},
	{"bench/applog", []string{"nn", "hal", "hal/driver/cpudriver", "runtime", "importer"}},
	{"bench/phones", []string{"nn", "bench", "bench/cputimes", "bench/gputimes", "bench/zoo"}},
	{"bench/sweep", []string{"sim/soc"}},
	{"bench/scenario", []string{"nn", "hal", "hal/devices", "runtime", "sim", "internal/child", "internal/spelling"}},
	{"bench/plot", []string{"bench/glossary"}},
	{"bench/glossary", nil},
	{"bench/pprof", nil},
	{"bench/report", []string{"bench/glossary", "nn/graphdump/layered", "sim/trace", "internal/spelling"}},
	{"bench", []string{"nn", "hal", "hal/devices", "runtime"}},
	{"testvectors/legaltest", []string{"nn", "hal", "hal/driver/base", "hal/driver/compile", "hal/driver/graph", "testvectors"}},
	{"testvectors/conformance", []string{"nn", "hal", "hal/driver/base", "hal/driver/cpudriver", "hal/driver/graph", "hal/driver/sample", "hal/devices", "testvectors", "runtime", "refcpu", "importer", "bench/mlts", "sim"}},
	{"testvectors/nnapi", nil},
	{"testvectors/drivertest", []string{"nn", "hal", "refcpu", "testvectors"}},
	{"testvectors/fuzzing", []string{"nn", "hal", "testvectors"}},
	{"testvectors", []string{"nn", "hal", "runtime", "refcpu", "importer"}},
	{"docs/examples/adder/driver", []string{"nn", "hal", "hal/driver/arena", "hal/driver/base", "hal/driver/compile", "hal/driver/graph"}},
	{"docs/examples/adder", []string{"docs/examples/adder/driver", "hal"}},
	{"docs/examples/gelu", []string{"nn", "hal/driver", "isa", "refcpu", "testvectors/randgraph"}},
	{"docs/examples", nil},
	{"cmd", []string{""}},
}

// TestLayers keeps the direction of imports: a core never sees a graph, a
// driver never sees a partition, the runtime never sees an instruction.
func TestLayers(t *testing.T) {
	out := require.V(exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output())(t)
	seen := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue
		}
		seen++
		for _, imp := range p.Imports {
			if dep, ours := strings.CutPrefix(imp, module); ours && !allowed(name, dep) {
				t.Errorf("%s may not import %s", name, dep)
			}
		}
	}
	require.Check(t, seen >= 10, "only %d packages seen", seen)
}

// supportsTests matches the packages that tests alone import.
var supportsTests = regexp.MustCompile(`(test|/doctable|/shared|/fuzzing)$`)

func allowed(name, dep string) bool {
	if dep == "internal/require" && supportsTests.MatchString(name) {
		return true
	}
	if dep == "internal/try" { // how an error ends a parser or a reader, of which these have none; see TestTry
		return !under(name, "runtime") && !under(name, "hal/service")
	}
	for _, l := range layers {
		if !under(name, l.prefix) {
			continue
		}
		if within(dep, l.prefix) {
			return true
		}
		return slices.ContainsFunc(l.may, func(m string) bool { return within(dep, m) })
	}
	return false
}

// within is under, except that hal stands for the contract alone: a package
// that may import hal may not import the drivers behind it.
func within(dep, prefix string) bool {
	behind := under(dep, "hal/driver") || under(dep, "hal/devices")
	return under(dep, prefix) && !(prefix == "hal" && behind)
}

func under(name, prefix string) bool {
	return prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")
}

func TestLayersCanFail(t *testing.T) {
	for _, c := range []struct {
		name, dep string
		want      bool
	}{
		{"dsp", "nn", false},
		{"dsp", "gpu", false},
		{"dsp/internal/state", "dsp", false},
		{"dsp/internal/state", "dsp/internal/exec", false},
		{"dsp/internal/exec", "dsp/internal/state", true},
		{"dsp/internal/exec", "dsp/internal/decode", false},
		{"dsp/internal/exec", "sim", false},
		{"dsp/internal/decode", "dsp", false},
		{"npu", "runtime/nnrt", false},
		{"gpu/internal/state", "gpu", false},
		{"gpu/internal/state", "gpu/internal/exec", false},
		{"gpu/internal/exec", "gpu/internal/state", true},
		{"gpu/internal/memory", "gpu/internal/exec", false},
		{"gpu/internal/exec", "sim", false},
		{"gpu/internal/decode", "gpu", false},
		{"npu/internal/exec", "npu/internal/decode", false},
		{"npu/internal/state", "npu", false},
		{"bench/inference", "npu", true},
		{"bench/zoo", "npu", false},
		{"dsp/internal/x", "isa/hexagon", true},
		{"isa/hexagon", "sim", false},
		{"isa/hexagon", "isa/codegen", true},
		{"nn/opspec", "nn", true},
		{"nn/opspec", "hal/driver/statistics", false},
		{"hal", "sim", false},
		{"hal/driver/dspdriver", "hal/driver/statistics", true},
		{"hal/driver/dspdriver", "hal/driver/gpudriver", false},
		{"hal/driver/dspdriver", "gpu", false},
		{"hal/driver/dspdriver", "runtime/nnrt", false},
		{"hal/driver/dspdriver", "hal/driver/dspdriver/kernel/hvx", true},
		{"hal/driver/dspdriver/kernel/conv", "hal/driver/dspdriver/kernel/hvx", true},
		{"hal/driver/dspdriver/kernel/conv", "hal/driver/dspdriver/lower", false},
		{"hal/driver/dspdriver/kernel/conv", "hal/driver/graph", false},
		{"hal/driver/dspdriver/kernel/conv", "nn", false},
		{"hal/driver/dspdriver/kernel/conv", "hal/driver/dspdriver/step", false},
		{"hal/driver/dspdriver/step", "hal/driver/graph", false},
		{"hal/driver/dspdriver/launch", "hal/driver/graph", false},
		{"hal/driver/dspdriver/launch", "nn", false},
		{"hal/driver/dspdriver/lower", "hal/driver/dspdriver/plan", false},
		{"hal/driver/dspdriver/plan", "hal/driver/dspdriver/lower", false},
		{"hal/driver/dspdriver/plan", "hal/driver/dspdriver/launch", false},
		{"hal/driver/gpudriver/kernel/gemm", "hal/driver/gpudriver/step", false},
		{"hal/driver/gpudriver/kernel/gemm", "hal/driver/gpudriver/kernel/rdna", true},
		{"hal/driver/gpudriver/step", "hal/driver/graph", false},
		{"hal/driver/gpudriver/cost", "hal/driver/gpudriver/lower", false},
		{"hal/driver/gpudriver/lower", "hal/driver/gpudriver/plan", false},
		{"hal/driver/gpudriver/lower", "gpu", false},
		{"hal/driver/npudriver/kernel", "nn", false},
		{"hal/driver/npudriver/step", "hal/driver/npudriver/lower", false},
		{"hal/driver/npudriver/plan", "hal/driver/npudriver/lower", false},
		{"hal/driver/npudriver/lower", "hal/driver/npudriver/cost", true},
		{"hal/driver/gpudriver/plan", "hal/driver/graph", false},
		{"runtime/partition", "isa/hexagon", false},
		{"runtime/nnrt", "refcpu", false},
		{"runtime/nnrt", "internal/try", false},
		{"hal/service", "internal/try", false},
		{"hal/burst", "internal/try", true},
		{"runtime/nnrt", "hal/driver/cpudriver", false},
		{"runtime/nnrt", "hal/devices", false},
		{"hal/devices", "hal/driver/npudriver", true},
		{"hal/validate", "hal/devices", false},
		{"hal/driver/cpudriver", "refcpu", true},
		{"hal/driver/gpudriver", "refcpu", false},
		{"refcpu", "sim", false},
		{"unknown", "sim", false},
		{"cmd/nnsoc", "dsp", true},
	} {
		if got := allowed(c.name, c.dep); got != c.want {
			t.Errorf("%s imports %s: allowed %v, want %v", c.name, c.dep, got, c.want)
		}
	}
}
