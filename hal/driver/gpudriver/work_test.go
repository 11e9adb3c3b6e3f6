package gpudriver

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/plan"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// counted is the work of launches as predicted by a kernel's code, and as executed.
type counted struct {
	kernel.Work
	launches, waves, instructions, accesses int64
	least, most                             float64 // predicted instructions for each executed one
}

// add adds a launch.
func (c *counted) add(l *plan.Launch, executed, accesses int64) {
	said := float64(l.Work.Instructions) / float64(executed)
	w := &l.Work
	for to, n := range map[*int64]int64{&c.Instructions: w.Instructions, &c.Loads: w.Loads, &c.ScatteredLines: w.ScatteredLines, &c.Dots: w.Dots, &c.Chain: w.Chain, &c.ReadBytes: w.ReadBytes, &c.WriteBytes: w.WriteBytes} {
		*to += n
	}
	c.Waves += w.Waves
	c.launches, c.waves, c.instructions, c.accesses = c.launches+1, c.waves+gridWaves(l), c.instructions+executed, c.accesses+accesses
	c.least, c.most = min(c.least, said), max(c.most, said)
}

// gridWaves are the waves of a launch.
func gridWaves(l *plan.Launch) int64 {
	n := int64(1)
	for _, lanes := range l.Grid.Lanes {
		n *= int64(lanes)
	}
	return (n + 31) / 32
}

// workModels calls f with random models, with convolutions of all forms, and with what randgraph does not draw.
func workModels(t *testing.T, f func(m *nn.Model)) {
	g := require.V(randgraph.NewGenerator(8, nil))(t)
	for i := range 600 {
		c := require.V(g.Case(i, nil))(t)
		f(c.Model)
	}
	for _, e := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		for i := range convCases {
			b, _ := convCases[i].build(e)
			f(&b.m)
		}
		for _, units := range []uint32{64, 250} {
			f(denseModel(e, 72, units))
		}
		for _, rows := range []uint32{1, 65} {
			b := newModel(e)
			x, _ := b.input(4, rows, 5)
			y := b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{rows, 3}, Lifetime: nn.SubgraphOutput})
			b.m.Main.Outputs = []uint32{y}
			b.op(nn.OpRandomMultinomial, y, x, b.i32(3), b.i32s([]uint32{2}, 1, 2))
			f(&b.m)
		}
	}
}

// TestWork: the code of kernels predicts the work of their launches, as counted in runs of many models on zeros: as many
// waves, and no fewer vector instructions than those of the active lanes, and no more than all. testdata/work.txt has predictions and counts by kernel.
func TestWork(t *testing.T) {
	d := newDevice(t)
	kernels := map[string]*counted{}
	workModels(t, func(model *nn.Model) {
		p, err := d.PrepareModel(model, hal.PrepareOptions{})
		if err != nil {
			return // the device has not all operations
		}
		for _, program := range slices.Concat(compile.Programs(p)...) {
			x := program.(*executable)
			err := x.OnZeros(func(m *machine) error {
				for i := range x.program.Launches {
					l := &x.program.Launches[i]
					r, err := d.core.Run(&m.space, x.program.Dispatches[i:i+1], gpu.Options{Functional: true, State: m.state})
					if err != nil {
						return err
					}
					var accesses, vector int64
					for _, c := range r.Counters {
						switch c.Name {
						case "lanes_vmem":
							accesses += c.Value / 32
						case "lanes_move", "lanes_int", "lanes_int_mul", "lanes_int64", "lanes_f32", "lanes_fma32", "lanes_f16", "lanes_dot", "lanes_special", "lanes_f64":
							vector += c.Value
						}
					}
					name := l.Code.Name
					if kernels[name] == nil {
						kernels[name] = &counted{least: math.Inf(1)}
					}
					kernels[name].add(l, r.Instructions, accesses)
					if n := int64(l.Work.Waves); n > gridWaves(l) || n < gridWaves(l) && !roundsUp(name) {
						t.Errorf("%s says %d waves, has %d", name, n, gridWaves(l))
					}
					if n := l.Work.Instructions; (n > r.Instructions || n < vector/32 && !roundsUp(name)) && !unlike(name) {
						t.Errorf("%s says %d vector instructions in %d waves, executes %d to %d", name, n, gridWaves(l), vector/32, r.Instructions)
					}
				}
				return nil
			})
			require.NoError(t, err, model.Name)
		}
	})
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(kernels)) {
		k := kernels[name]
		fmt.Fprintf(&text, "%s: launches %d, waves %d of %d, instructions %d of %d (%.2f to %.2f), accesses %d of %d, far %d, dots %d, chain %d, bytes %d and %d\n",
			name, k.launches, k.Waves, k.waves, k.Instructions, k.instructions, k.least, k.most, k.Loads, k.accesses, k.ScatteredLines, k.Dots, k.Chain, k.ReadBytes, k.WriteBytes)
	}
	file := filepath.Join("testdata", "work.txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o644))
	}
	want := require.File(t, file)
	had := strings.Split(string(want), "\n")
	for _, line := range strings.Split(text.String(), "\n") {
		if !slices.Contains(had, line) {
			name, _, _ := strings.Cut(line, ":")
			at := max(0, slices.IndexFunc(had, func(x string) bool { return strings.HasPrefix(x, name+":") }))
			t.Errorf("%s\nhas %s\nnow %s", file, had[at], line)
		}
	}
	if n := strings.Count(text.String(), "\n"); n != len(had)-1 {
		t.Errorf("%d kernels, %s has %d", n, file, len(had)-1)
	}
}

// roundsUp reports whether a kernel fills its last work-group with waves without work.
func roundsUp(name string) bool {
	return strings.HasPrefix(name, "gemm_") || strings.HasPrefix(name, "texel_")
}

// unlike reports whether the instructions of a kernel depend on data.
func unlike(name string) bool {
	return slices.ContainsFunc([]string{"nms_suppress", "nms_limit", "nms_collect", "suppress_ranked", "roi_", "sin"}, func(x string) bool { return strings.HasPrefix(name, x) })
}
