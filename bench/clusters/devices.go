package clusters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/bench/cputimes"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Prefix begins the name of each device.
const Prefix = "cpu:"

// Any is the name that stands for every division of the cores into devices.
const Any = Prefix + "any"

// cores are a device: some cores of a cluster.
type cores struct {
	name    string
	cluster *soc.Cluster
	cpu     *soc.CPU // that has the cluster
	n       int
}

// CPU is the CPU of a SoC whose clusters are devices.
type CPU struct {
	config   *soc.Config
	at       sim.Preference
	clusters []cores // each whole
}

// NewCPU is the CPU of a SoC, its clusters at their clocks of a preference. They are the clusters of its file and those of
// cputimes.Little, on which an inference has no threads otherwise.
func NewCPU(c *soc.Config, p hal.Preference) (*CPU, error) {
	if c.CPU == nil {
		return nil, fmt.Errorf("clusters: %s has no [cpu]", c.SoC.Name)
	}
	x := &CPU{config: c, at: sim.Preference(p)}
	add := func(cpu *soc.CPU) {
		for i := range cpu.Clusters {
			k := &cpu.Clusters[i]
			x.clusters = append(x.clusters, cores{Prefix + k.Name, k, cpu, k.Cores})
		}
	}
	add(c.CPU)
	little, err := cputimes.Little(c.SoC.Name)
	if err != nil {
		return nil, err
	}
	if little != nil {
		add(little)
	}
	return x, nil
}

// Names lists the clusters as devices.
func (x *CPU) Names() []string {
	var l []string
	for _, k := range x.clusters {
		l = append(l, k.name)
	}
	return l
}

// Set is the devices of a problem: disjoint sets of cores.
type Set struct {
	cpu     *CPU
	devices []cores
}

// Parse returns the sets that names stand for: "cpu:gold" is all cores of a cluster, "cpu:gold:2" two of them, and "cpu:any"
// alone every division of the cores of all clusters.
func (x *CPU) Parse(names []string) ([]Set, error) {
	if slices.Equal(names, []string{Any}) {
		return x.divisions(), nil
	}
	s := Set{cpu: x}
	used := map[string]int{}
	for _, name := range names {
		d, err := x.parse(name)
		if err != nil {
			return nil, err
		}
		if used[d.cluster.Name] += d.n; used[d.cluster.Name] > d.cluster.Cores {
			return nil, fmt.Errorf("clusters: %s: the devices have %d cores of %s, which has %d", name, used[d.cluster.Name], d.cluster.Name, d.cluster.Cores)
		}
		s.devices = append(s.devices, d)
	}
	s.label()
	return []Set{s}, nil
}

func (x *CPU) parse(name string) (cores, error) {
	if _, engine := soc.EngineNamed(name); engine {
		return cores{}, fmt.Errorf("clusters: no cores %q beside others: an engine's driver needs cores that a stage of %s has, which no measurement prices; "+
			"engines divide a network by --objective throughput without --device", name, strings.Join(x.Names(), ", "))
	}
	cluster, count, counted := strings.Cut(strings.TrimPrefix(name, Prefix), ":")
	i := slices.IndexFunc(x.clusters, func(k cores) bool { return k.name == Prefix+cluster })
	if !strings.HasPrefix(name, Prefix) || i < 0 {
		return cores{}, fmt.Errorf("clusters: no cores %q; there are %s, with a number of cores as in %s:1, and %s", name, strings.Join(x.Names(), ", "), x.clusters[0].name, Any)
	}
	d := x.clusters[i]
	if counted {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > d.n {
			return cores{}, fmt.Errorf("clusters: %s: %q cores, want 1 to %d", name, count, d.n)
		}
		d.name, d.n = name, n
	}
	return d, nil
}

// label numbers devices of one name: cpu:gold:1 twice is cpu:gold:1 and cpu:gold:1#2.
func (s *Set) label() {
	seen := map[string]int{}
	for i := range s.devices {
		d := &s.devices[i]
		if seen[d.name]++; seen[d.name] > 1 {
			d.name += "#" + strconv.Itoa(seen[d.name])
		}
	}
}

// divisions are all divisions of the cores of all clusters into devices.
func (x *CPU) divisions() []Set {
	sets := []Set{{cpu: x}}
	for _, k := range x.clusters {
		var next []Set
		for _, s := range sets {
			for _, parts := range partitions(k.n, k.n) {
				t := Set{x, slices.Clone(s.devices)}
				for _, n := range parts {
					d := k
					if d.n = n; n < k.n {
						d.name += ":" + strconv.Itoa(n)
					}
					t.devices = append(t.devices, d)
				}
				next = append(next, t)
			}
		}
		sets = next
	}
	for i := range sets {
		sets[i].label()
	}
	return sets
}

// partitions are the ways to write n as a sum of numbers of at most most, the larger first.
func partitions(n, most int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var l [][]int
	for first := min(n, most); first > 0; first-- {
		for _, rest := range partitions(n-first, first) {
			l = append(l, append([]int{first}, rest...))
		}
	}
	return l
}

// spec is the timing of an inference on the cores alone.
func (x *CPU) spec(d *cores) (*timing.CPUSpec, error) {
	c, cpu := *x.config, *d.cpu
	cpu.Clusters = slices.Clone(cpu.Clusters)
	cpu.Pin(d.n, d.cluster.Name)
	c.CPU = &cpu
	return devices.CPUSpec(&c, x.at)
}

// whole is the timing on the threads that the SoC's runtime gives an inference, each kernel on all of them.
func (x *CPU) whole() (*timing.CPUSpec, error) { return devices.CPUSpec(x.config, x.at) }

// Problem is a network to be divided among the devices of a set.
type Problem struct {
	*partition.Problem
	work       [][]piece // by device and operation
	whole      []piece   // by operation, on the threads of an inference
	wholeCosts []partition.Cost
	peak       float64 // bytes per femtosecond of the memory
}

// piece is an operation on a device.
type piece struct {
	time  float64 // femtoseconds, alone
	dram  float64 // of these, waiting for the memory
	bytes float64 // from and to the memory
}

// Problem makes the problem of a network without control flow, whose shapes are known.
func (s Set) Problem(m *nn.Model) (*Problem, error) {
	dram := s.cpu.config.DRAM.Config()
	p := &Problem{peak: dram.PeakBytesPerSecond() / 1e15}
	p.Problem = &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main), Objective: partition.Throughput}
	if len(p.Graph.Operations) == 0 {
		return nil, fmt.Errorf("clusters: %s has no operations", m.Name)
	}
	whole, err := s.cpu.whole()
	if err != nil {
		return nil, err
	}
	if p.whole, p.wholeCosts, err = pieces(whole, m); err != nil {
		return nil, err
	}
	ok := make([]hal.Support, len(p.Graph.Operations))
	for i := range ok {
		ok[i].OK = true
	}
	for i := range s.devices {
		d := &s.devices[i]
		spec, err := s.cpu.spec(d)
		if err != nil {
			return nil, err
		}
		work, costs, err := pieces(spec, m)
		if err != nil {
			return nil, err
		}
		p.work = append(p.work, work)
		p.Devices = append(p.Devices, partition.Device{Name: d.name, Support: ok})
		p.Costs.Operation = append(p.Costs.Operation, costs)
		wake := float64(spec.ThreadDispatchCycles) / float64(spec.Cores[0].ClockHz) * 1e15
		p.Costs.Fixed = append(p.Costs.Fixed, partition.Cost{TimeFs: wake, EngineFs: wake})
		byte := 1e15 / spec.DRAMPerSecond
		p.Costs.PerByte = append(p.Costs.PerByte, partition.Cost{TimeFs: byte, EngineFs: byte})
	}
	return p, nil
}

// Divide chooses the set of devices on which the pipeline strategy predicts the shortest interval, and makes its problem.
// progress is called with the number of each set and that of all.
func Divide(sets []Set, m *nn.Model, progress func(i, n int)) (best *Problem, err error) {
	least := 0.0
	for i, s := range sets {
		progress(i+1, len(sets))
		p, err := s.Problem(m)
		if err != nil {
			return nil, err
		}
		plan, err := partition.Pipeline{}.Plan(p.Problem)
		if err != nil {
			return nil, fmt.Errorf("clusters: set %d of %d: %w", i+1, len(sets), err)
		}
		e, err := p.Evaluate(plan)
		if err != nil {
			return nil, fmt.Errorf("clusters: set %d of %d: %w", i+1, len(sets), err)
		}
		if best == nil || e.IntervalFs < least {
			best, least = p, e.IntervalFs
		}
	}
	return best, nil
}

// pieces prices the operations of a network.
func pieces(s *timing.CPUSpec, m *nn.Model) ([]piece, []partition.Cost, error) {
	t, err := s.Estimate(nil, m)
	if err != nil {
		return nil, nil, err
	}
	var work []piece
	var costs []partition.Cost
	for i := range t.Operations {
		o := &t.Operations[i]
		if o.Unknown || o.TimeFs <= 0 {
			return nil, nil, fmt.Errorf("clusters: operation %d (%v) has no cost that is known before it runs", i, m.Main.Operations[i].Type)
		}
		time := float64(o.TimeFs)
		work = append(work, piece{time, time * float64(o.Reasons[timing.ReasonDRAM]) / float64(max(o.Cycles, 1)), float64(o.DRAMBytes)})
		costs = append(costs, partition.Cost{TimeFs: time, EngineFs: time, EnergyPJ: o.EnergyPJ})
	}
	return work, costs, nil
}
