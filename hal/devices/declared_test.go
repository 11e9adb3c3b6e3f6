package devices_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// How much TestDeclaredPrepares draws; `make declared` runs all.
var (
	declaredGraphs   = flag.Int("declared-graphs", 16, "random graphs per device of TestDeclaredPrepares")
	declaredNetworks = flag.Bool("declared-networks", false, "the networks of the shared data in TestDeclaredPrepares, too")
)

// TestDeclaredPrepares: what a device declares supported it prepares: each
// operation alone, all of them, and random connected subsets. Random graphs and
// networks.
func TestDeclaredPrepares(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	generator := require.V(randgraph.NewGenerator(7, nil))(t)
	networks := map[string]*nn.Model{"mobilenet_v1_0.25_128_quant": zoo.MustBuild("mobilenet_v1_0.25_128_quant")}
	if *declaredNetworks {
		networks = sharedNetworks(t)
	}
	for _, d := range list {
		t.Run(d.Name(), func(t *testing.T) {
			prepared := 0
			for i := range *declaredGraphs {
				// Case 4i+3 is a graph. The device's own operations make it: others
				// would leave it little to prepare.
				drawn, err := generator.Case(4*i+3, func(m *nn.Model) bool {
					s, err := d.SupportedOperations(m)
					return err == nil && s[len(s)-1].OK
				})
				require.NoError(t, err)
				prepared += checkDeclared(t, d, "graph", drawn.Model, rand.New(rand.NewPCG(uint64(i), 1)), 4)
			}
			for name, m := range networks {
				subsets := 2
				if *declaredNetworks {
					subsets = 8
				}
				prepared += checkDeclared(t, d, name, m, rand.New(rand.NewPCG(1, 1)), subsets)
			}
			t.Logf("%d parts prepared", prepared)
			require.Check(t, prepared >= *declaredGraphs, "only %d parts prepared", prepared)
		})
	}
}

// sharedNetworks are the importable networks of the shared data.
func sharedNetworks(t *testing.T) map[string]*nn.Model {
	paths := shared.Glob(t, "models", "*", "model.tflite")
	all := map[string]*nn.Model{}
	for _, path := range paths {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		if all[filepath.Base(filepath.Dir(path))], err = tflite.Import(file, nil); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return all
}

// checkDeclared prepares parts of a model that a device declares supported and
// returns how many there were.
func checkDeclared(t *testing.T, d hal.Device, name string, m *nn.Model, r *rand.Rand, subsets int) int {
	t.Helper()
	support, err := d.SupportedOperations(m)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	var declared []int
	for i := range support {
		if support[i].OK {
			declared = append(declared, i)
		}
	}
	if len(declared) == 0 {
		return 0
	}
	whole := *m
	if g, err := opspec.Resolve(&m.Main); err == nil { // what is between two parts has the shape that its producer gives it
		whole.Main = *g
	}
	parts := [][]int{declared}
	for _, i := range declared {
		parts = append(parts, []int{i})
	}
	near := neighbours(&m.Main, support)
	for range subsets {
		parts = append(parts, connected(near, declared[r.IntN(len(declared))], 2+r.IntN(8), r))
	}
	n := 0
	for _, operations := range parts {
		part := partition.Extract(&whole, operations)
		if open(part.Model) {
			continue // prepared when an execution knows the shapes
		}
		n++
		if _, err := d.PrepareModel(part.Model, hal.PrepareOptions{}); err != nil {
			t.Errorf("%s: operations %v, all declared, the first %v: %v", name, operations, m.Main.Operations[operations[0]].Type, err)
		}
	}
	return n
}

// open reports whether the shape of an input of a part comes from another.
func open(m *nn.Model) bool {
	return slices.ContainsFunc(m.Main.Inputs, func(x uint32) bool { return !m.Main.Operands[x].Known() })
}

// neighbours lists for each supported operation those it shares a value with.
func neighbours(g *nn.Subgraph, support []hal.Support) [][]int {
	producer := map[uint32]int{}
	near := make([][]int, len(g.Operations))
	for i := range g.Operations {
		for _, x := range g.Operations[i].Inputs {
			if p, ok := producer[x]; ok && support[p].OK && support[i].OK {
				near[p], near[i] = append(near[p], i), append(near[i], p)
			}
		}
		for _, x := range g.Operations[i].Outputs {
			producer[x] = i
		}
	}
	return near
}

// connected grows a set of at most n operations from one, in model order.
func connected(near [][]int, from, n int, r *rand.Rand) []int {
	in := make([]bool, len(near))
	in[from] = true
	frontier := append([]int(nil), near[from]...)
	for n--; n > 0 && len(frontier) > 0; {
		k := r.IntN(len(frontier))
		i := frontier[k]
		frontier = append(frontier[:k], frontier[k+1:]...)
		if in[i] {
			continue
		}
		in[i] = true
		n--
		frontier = append(frontier, near[i]...)
	}
	var set []int
	for i, is := range in {
		if is {
			set = append(set, i)
		}
	}
	return set
}
