package nnrt_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/importer/tflite/export"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Invocations of a network with and without states.
const (
	statefulInvocations  = 10
	statelessInvocations = 1
)

// largeNetwork is the size from which on make sweep alone runs a network.
const largeNetwork = 400 << 10

// openNetworks are small networks of the zoo, one of them with states, and those of the
// shared data, by name.
func openNetworks(t *testing.T) map[string]*nn.Model {
	t.Helper()
	networks := map[string]*nn.Model{}
	for _, name := range []string{"mlperf_tiny_ad_quant", "mlperf_tiny_ic_float", "mlperf_tiny_kws_quant"} {
		networks[name] = zoo.MustBuild(name)
	}
	file, err := export.Bytes(zoo.MustBuild("tts_float")) // whose states become those of the model
	require.NoError(t, err)
	if networks["tts_float"], err = tflite.Import(file, nil); err != nil {
		t.Fatal(err)
	}
	files := require.V(filepath.Glob(filepath.Join(shared.Dir(), "models", "*", "model.tflite")))(t)
	for _, path := range files {
		data := require.File(t, path)
		if len(data) > largeNetwork && os.Getenv("NNSOC_SWEEP") == "" {
			continue
		}
		m := require.V(tflite.Import(data, nil))(t)
		networks[filepath.Base(filepath.Dir(path))] = m
	}
	return networks
}

// invocation is what a network is given once, and what the reference makes of it.
type invocation struct {
	given [][]byte
	want  []compare.Tensor
}

// invocations runs the reference, which keeps the states of its own.
func invocations(t *testing.T, m *nn.Model) []invocation {
	t.Helper()
	n := statelessInvocations
	if len(m.States) > 0 {
		n = statefulInvocations
	}
	states := nnrt.NewStates(m)
	list := make([]invocation, n)
	for step := range list {
		x := &list[step]
		for _, i := range nnrt.NonStateInputs(m) {
			x.given = append(x.given, tensor.SyntheticInput(&m.Main, i, uint32(step)))
		}
		in, err := states.Inputs(x.given)
		require.NoError(t, err)
		if x.want, err = cpudriver.ReferenceTensors(m, in); err != nil {
			t.Fatal(err)
		}
		var outputs [][]byte
		for _, o := range x.want {
			outputs = append(outputs, o.Data)
		}
		states.Update(outputs)
	}
	return list
}

// TestNetworksInParts: every open network, divided by every strategy, also when a type
// of its operations is kept away from a device or from all and a driver is of an old
// version of the HAL, equals the reference, over
// ten invocations where it has states. make sweep adds the large networks and forces four
// times as often.
func TestNetworksInParts(t *testing.T) {
	all := pixel4(t)
	rounds := 1
	if os.Getenv("NNSOC_SWEEP") != "" {
		rounds = 4
	}
	for name, m := range openNetworks(t) {
		t.Run(name, func(t *testing.T) {
			h := fnv.New64()
			h.Write([]byte(name))
			r := rand.New(rand.NewPCG(h.Sum64(), 5))
			want := invocations(t, m)
			several := 0
			for round := range 1 + rounds {
				registry := require.V(registry.New(all[0], all[1:]...))(t)
				if rule := forcedRule(r, all, m); round > 0 {
					require.NoError(t, registry.ForceUnsupported(rule))
					version := fmt.Sprintf("%s:1.%d", all[1+r.IntN(len(all)-1)].Name(), r.IntN(4))
					require.NoError(t, registry.ForceVersion(version))
				}
				p := require.V(randomCosts(r, registry, m))(t)
				for _, strategy := range partition.Names(p.Devices) {
					c := require.V(planned(registry, p, strategy))(t, strategy)
					if c.Steps() > 1 {
						several++
					}
					states := nnrt.NewStates(m)
					for i, x := range want {
						in := require.V(states.Inputs(x.given))(t)
						res, err := c.Execute(in, nnrt.ExecuteOptions{Functional: true})
						if err != nil {
							t.Fatalf("%s, invocation %d: %v", strategy, i, err)
						}
						if err := compare.Err(nnrt.Compare(m, x.want, res)); err != nil {
							t.Fatalf("%s, invocation %d: %v", strategy, i, err)
						}
						require.Check(t, len(res.Fallbacks) == 0, "%s, invocation %d: %v", strategy, i, res.Fallbacks)
						states.Update(res.Outputs)
					}
				}
			}
			require.Check(t, len(m.Main.Operations) <= 5 || several != 0, "no strategy divides the network")
		})
	}
}

// forcedRule keeps a random operation of a model away from a random device or from all.
func forcedRule(r *rand.Rand, all []hal.Device, m *nn.Model) string {
	rule := m.Main.Operations[r.IntN(len(m.Main.Operations))].Type.String()
	if i := r.IntN(len(all)); i > 0 {
		rule += ":" + all[i].Name()
	}
	return rule
}

// TestStatesCarry: the networks of TestNetworksInParts that have states differ from
// invocation to invocation, so that a lost state shows.
func TestStatesCarry(t *testing.T) {
	n := 0
	for name, m := range openNetworks(t) {
		if len(m.States) == 0 {
			continue
		}
		n++
		list := invocations(t, m)
		fresh := require.V(nnrt.NewStates(m).Inputs(list[1].given))(t)
		without := require.V(cpudriver.ReferenceTensors(m, fresh))(t)
		same := slices.EqualFunc(without, list[1].want, func(a, b compare.Tensor) bool { return slices.Equal(a.Data, b.Data) })
		require.Check(t, !same, "%s: the second invocation does not depend on the states", name)
	}
	require.Check(t, n != 0, "no network with states")
}
