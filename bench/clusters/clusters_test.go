package clusters

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func pixel4(t *testing.T) *CPU {
	t.Helper()
	return require.V(NewCPU(require.V(soc.Load("pixel4"))(t), hal.FastSingleAnswer))(t)
}

func outline(t *testing.T, name string) *nn.Model {
	t.Helper()
	for _, n := range zoo.Networks() {
		if n.Name == name {
			m, _ := require.V2(n.Outline())(t)
			return m
		}
	}
	t.Fatalf("no network %s", name)
	return nil
}

// TestParse: devices are disjoint sets of the cores that the clusters have.
func TestParse(t *testing.T) {
	cpu := pixel4(t)
	require.Same(t, "cpu:prime cpu:gold cpu:silver", strings.Join(cpu.Names(), " "), "clusters")
	for names, want := range map[string]string{
		"cpu:prime cpu:gold":              "cpu:prime cpu:gold",
		"cpu:gold:2 cpu:gold:1":           "cpu:gold:2 cpu:gold:1",
		"cpu:gold:1 cpu:gold:1 cpu:prime": "cpu:gold:1 cpu:gold:1#2 cpu:prime",
		"gpu":                             `no cores "gpu" beside others: an engine's driver needs cores that a stage of cpu:prime, cpu:gold, cpu:silver has`,
		"cpu:bronze":                      `no cores "cpu:bronze"`,
		"cpu:gold:4":                      `cpu:gold:4: "4" cores, want 1 to 3`,
		"cpu:gold:0":                      "want 1 to 3",
		"cpu:gold:x":                      "want 1 to 3",
		"cpu:gold:2 cpu:gold:2":           "the devices have 4 cores of gold, which has 3",
		"cpu:any cpu:gold":                `no cores "cpu:any"`,
	} {
		sets, err := cpu.Parse(strings.Fields(names))
		if err != nil {
			require.Check(t, strings.Contains(err.Error(), want), "%s: %v, want %s", names, err, want)
			continue
		}
		require.Same(t, want, strings.Join(sets[0].names(), " "), names)
	}
	sets := require.V(cpu.Parse([]string{Any}))(t)
	require.Same(t, 1*3*5, len(sets), "divisions of 1, 3 and 4 cores")
	for _, s := range sets {
		n := map[string]int{}
		for _, d := range s.devices {
			n[d.cluster.Name] += d.n
		}
		require.Same(t, "map[gold:3 prime:1 silver:4]", fmt.Sprint(n), strings.Join(s.names(), " "))
	}
}

// TestRun: the interval of a stream on one device is the latency, on devices with a stage each that of the slowest one
// where nobody waits for the memory, and waiting for the memory makes it longer.
func TestRun(t *testing.T) {
	graph := &partition.Graph{
		Operations: []partition.Operation{{Outputs: []int{0}}, {Inputs: []int{0}, Outputs: []int{1}}, {Inputs: []int{1}, Outputs: []int{2}}},
		Values:     []partition.Value{{Producer: 0, Consumers: []int{1}}, {Producer: 1, Consumers: []int{2}}, {Producer: 2, Output: true}},
	}
	ok := []hal.Support{{OK: true}, {OK: true}, {OK: true}}
	make3 := func(dram float64) *Problem {
		p := &Problem{Problem: &partition.Problem{Graph: graph, Objective: partition.Throughput}, peak: 1}
		for range 3 {
			p.Devices = append(p.Devices, partition.Device{Support: ok})
			p.work = append(p.work, []piece{{100, dram, dram}, {300, dram, dram}, {200, dram, dram}})
		}
		p.Costs.Fixed, p.Costs.PerByte = make([]partition.Cost, 3), make([]partition.Cost, 3)
		return p
	}
	for _, c := range []struct {
		plan              []int
		dram              float64
		interval, latency float64
	}{
		{[]int{1, 1, 1}, 50, 600, 600}, // alone no wait is longer
		{[]int{0, 1, 2}, 0, 300, 600},
		{[]int{0, 1, 0}, 0, 300, 600}, // two of the shorter ones take as long as the other
		{[]int{0, 0, 1}, 0, 400, 600},
	} {
		s := require.V(make3(c.dram).Run(partition.Plan{Device: c.plan}))(t)
		require.Check(t, math.Abs(s.IntervalFs-c.interval) < 1e-6 && math.Abs(s.LatencyFs-c.latency) < 1e-6, "%v: %+v, want %+v", c.plan, s, c)
	}
	// Beside one another the pieces of 100, 300 and 200 fs take 0.5, 1/6 and 1/4 of the bandwidth: the slowest stage waits
	// longer while the others are under way.
	s := require.V(make3(50).Run(partition.Plan{Device: []int{0, 1, 2}}))(t)
	require.Check(t, s.IntervalFs > 310 && s.IntervalFs < 300+50*9 && s.LatencyFs == 600, "contention: %+v", s)
	_, err := make3(0).Run(partition.Plan{Device: []int{0, 3, 0}})
	require.Check(t, err != nil, "a device that there is none of")
}

// pipeItNetworks names the networks that Pipe-it measured, as the zoo has them.
var pipeItNetworks = []string{"alexnet_float", "inception_v1_float", "mobilenet_v1_1.0_224_float", "resnet_50_float", "squeezenet_float"}

// TestPipelines writes the table of pipelines beside the best way to run an inference on all cores of a cluster, or of the
// threads of the runtime, at once. A prediction is within a tenth of the simulated interval where no stage waits for the
// memory.
func TestPipelines(t *testing.T) {
	cpu := pixel4(t)
	const header = "| network | without stages | per second | a stage per cluster | gain | `cpu:any` | gain | its stages: cores and operations |"
	var rows []string
	mean := [2]float64{}
	for _, network := range pipeItNetworks {
		m := outline(t, network)
		name, base := "", math.Inf(1)
		var gain [2]float64
		var stages string
		for i, names := range [][]string{cpu.Names(), {Any}} {
			p := require.V(Divide(require.V(cpu.Parse(names))(t), m, func(int, int) {}))(t)
			if i == 0 {
				s, _ := p.Whole()
				name, base = "cpu", s.IntervalFs
				for d := range p.Devices {
					s := require.V(p.Run(partition.Plan{Device: slices.Repeat([]int{d}, len(m.Main.Operations))}))(t)
					if s.IntervalFs < base {
						name, base = p.DeviceName(d), s.IntervalFs
					}
				}
			}
			plan := require.V(partition.Pipeline{}.Plan(p.Problem))(t)
			s := require.V(p.Run(plan))(t)
			gain[i] = base / s.IntervalFs
			mean[i] += math.Log(gain[i]) / float64(len(pipeItNetworks))
			stages = stagesOf(p, plan)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s | %.1f | %.1f | %+.0f %% | %.1f | %+.0f %% | %s |", network, name, 1e15/base,
			gain[0]*1e15/base, 100*(gain[0]-1), gain[1]*1e15/base, 100*(gain[1]-1), stages))
	}
	rows = append(rows, fmt.Sprintf("| geometric mean |  |  |  | %+.0f %% |  | %+.0f %% |  |", 100*(math.Exp(mean[0])-1), 100*(math.Exp(mean[1])-1)))
	doctable.Check(t, "../../docs/Strategies.md", header, rows)
}

// stagesOf names the devices of a plan with the numbers of their operations.
func stagesOf(p *Problem, plan partition.Plan) string {
	var l []string
	for i := 0; i < len(plan.Device); {
		j := i
		for j < len(plan.Device) && plan.Device[j] == plan.Device[i] {
			j++
		}
		l = append(l, fmt.Sprintf("%s %d", strings.TrimPrefix(p.DeviceName(plan.Device[i]), Prefix), j-i))
		i = j
	}
	return strings.Join(l, ", ")
}

// names lists the devices of a set.
func (s Set) names() []string {
	var l []string
	for _, d := range s.devices {
		l = append(l, d.name)
	}
	return l
}
