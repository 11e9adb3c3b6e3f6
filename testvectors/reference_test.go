package testvectors

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// runReference validates, compiles and executes a case and judges the result.
func runReference(c *vectors.Case) error {
	err := validate.Model(c.Model)
	var out []refcpu.Tensor
	if err == nil {
		var p *refcpu.Program
		if p, err = refcpu.Compile(c.Model); err == nil {
			in := make([]refcpu.Tensor, len(c.Inputs))
			for i, v := range c.Inputs {
				in[i] = refcpu.Tensor{Data: v.Data}
				for _, d := range v.Dimensions {
					if len(v.Data) > 0 || d == 0 {
						in[i].Dimensions = v.Dimensions
					}
				}
			}
			out, err = timed(p, in)
		}
	}
	if c.ExpectFailure {
		if err == nil {
			return fmt.Errorf("no error, one was expected")
		}
		return nil
	}
	if err != nil {
		return err
	}
	dims, data := make([][]uint32, len(out)), make([][]byte, len(out))
	for i := range out {
		dims[i], data[i] = out[i].Dimensions, out[i].Data
	}
	return Check(c, dims, data)
}

// core is one core at 1 GHz.
func core() *timing.CPUSpec {
	cache := timing.CacheSpec{Bytes: 256 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46}
	c := timing.CoreSpec{Threads: 1, ClockHz: 1e9, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32, PowerUW: 369, L1: cache, L2: cache,
		Kernels: timing.KernelSpec{GroupedCycles: 2, PatchBytes: 2, ScalarCycles: 3, OperationCycles: 10000}}
	for k := range c.Kernels.Efficiency {
		for p := range c.Kernels.Efficiency[k] {
			c.Kernels.Efficiency[k][p] = 0.5
		}
	}
	return &timing.CPUSpec{Cores: []timing.CoreSpec{c}, L3: cache, DRAMPerSecond: 15e9}
}

// timed executes a program with its time, which no case is without.
func timed(p *refcpu.Program, in []refcpu.Tensor) ([]refcpu.Tensor, error) {
	meter, err := core().NewMeter(len(p.Model().Main.Operations))
	if err != nil {
		return nil, err
	}
	out, err := p.Execute(in, refcpu.Options{Work: meter.Add})
	if err != nil {
		return nil, err
	}
	for i, o := range meter.Timing().Operations {
		if o.Cycles <= 0 || !(o.EnergyPJ > 0) {
			return nil, fmt.Errorf("operation %d took %d cycles and %v pJ", i, o.Cycles, o.EnergyPJ)
		}
	}
	return out, nil
}

func TestReferenceCorpus(t *testing.T) {
	passed, failed := map[nn.OperationType]int{}, map[nn.OperationType]int{}
	total, good := 0, 0
	for f := range Corpus() {
		for _, c := range f.Cases {
			if !Uses(c, refcpu.Supported) {
				continue
			}
			total++
			err := runReference(c)
			count := passed
			if err != nil {
				count = failed
				t.Errorf("%s: %s: %v", f.Spec, c.Name, err)
			} else {
				good++
			}
			seen := map[nn.OperationType]bool{}
			for _, op := range c.Model.Main.Operations {
				if !seen[op.Type] {
					seen[op.Type] = true
					count[op.Type]++
				}
			}
		}
	}
	var lines []string
	for _, op := range nn.Operations() {
		if passed[op]+failed[op] > 0 {
			lines = append(lines, fmt.Sprintf("%s %d/%d", op, passed[op], passed[op]+failed[op]))
		}
	}
	sort.Strings(lines)
	t.Logf("%d of %d cases pass\n%s", good, total, strings.Join(lines, "\n"))
	require.Check(t, total >= 2000, "only %d cases run", total)
}

// TestReferenceVariations runs the variations that the test runner makes.
func TestReferenceVariations(t *testing.T) {
	counts := [2]int{}
	for f := range Corpus() {
		for _, c := range f.Cases {
			if !Uses(c, refcpu.Supported) {
				continue
			}
			for i, make := range []func(*vectors.Case) (*vectors.Case, bool){dynamicOutput, signedCoupling} {
				v, ok := make(c)
				if !ok {
					continue
				}
				counts[i]++
				require.Report(t, runReference(v), f.Spec, v.Name)
			}
		}
	}
	t.Logf("%d cases with dynamic output shapes, %d with signed types", counts[0], counts[1])
	require.Check(t, counts[0] != 0 && counts[1] != 0, "a variation was never made")
}

// TestCompareFindsFaults damages correct outputs: the comparison must notice.
func TestCompareFindsFaults(t *testing.T) {
	tried := 0
	for _, name := range nnapi.Names()[:40] {
		f := require.V(Document(name))(t)
		for _, c := range f.Cases {
			if c.ExpectFailure || c.Multinomial > 0 || len(c.Outputs) == 0 || c.Outputs[0].Ignored || len(c.Outputs[0].Data) < 4 {
				continue
			}
			data := make([][]byte, len(c.Outputs))
			for i := range data {
				data[i] = append([]byte(nil), c.Outputs[i].Data...)
			}
			if err := Check(c, nil, data); err != nil {
				t.Errorf("%s: the expected output fails: %v", c.Name, err)
				continue
			}
			tried++
			data[0][len(data[0])-1] ^= 0x42
			require.Check(t, Check(c, nil, data) != nil, "%s: a changed byte passes", c.Name)
			require.Check(t, Check(c, nil, [][]byte{data[0][1:]}) != nil, "%s: a short output passes", c.Name)
			wrong := append([]uint32{1}, c.Outputs[0].Dimensions...)
			data[0] = c.Outputs[0].Data
			require.Check(t, Check(c, append([][]uint32{wrong}, make([][]uint32, len(data)-1)...), data) != nil, "%s: a wrong shape passes", c.Name)
		}
	}
	require.Check(t, tried != 0, "no case was tried")
}
