package soc

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/thermal"
)

// Thermal is the thermal model of the phone and its throttling rules.
type Thermal struct {
	AmbientC float64 `toml:"ambient_c" range:"-40..80"`
	RestMW   float64 `toml:"rest_mw" range:"0..100000"` // of all that is no engine, no CPU and no DRAM, while the phone is awake
	// Static power of an engine grows by LeakagePerK of itself for each degree above
	// LeakageC.
	LeakagePerK float64 `toml:"leakage_per_k" range:"0..0.1"`
	LeakageC    float64 `toml:"leakage_c" range:"-40..150"`
	// Nodes are the parts that have a temperature. Heat flows from each to a later one.
	Nodes []ThermalNode `toml:"node" len:"1..16"`
	Rules []ThermalRule `toml:"rule" len:"0..32" soc:"optional"`
	Skin  Skin          `toml:"skin"`
}

// ThermalNode is a part of the phone.
type ThermalNode struct {
	Name     string   `toml:"name"`
	HeatedBy []string `toml:"heated_by"` // rails whose power becomes heat here
	JPerK    float64  `toml:"j_per_k" range:"0.0001..100000"`
	KPerW    float64  `toml:"k_per_w" range:"0.0001..100000"` // on the way to To
	To       string   `toml:"to"`                             // a later node, or ambient
}

// ThermalRule lowers a clock while a node is hot.
type ThermalRule struct {
	Clock    string  `toml:"clock"`  // a cluster of [cpu], gpu, dsp or npu
	Sensor   string  `toml:"sensor"` // a node
	SampleMs float64 `toml:"sample_ms" range:"1..1e6"`
	// Minus is a node whose temperature is subtracted from the sensor's.
	Minus string `toml:"minus" soc:"optional"`
	// A step begins only while the node Gate is above GateC.
	Gate  string  `toml:"gate" soc:"optional"`
	GateC float64 `toml:"gate_c" range:"-40..200" soc:"optional"`
	// Steps are [C from which, C down to which, highest MHz], the hotter the later.
	Steps [][3]float64 `toml:"steps" len:"1..16" range:"-40..6000"`
}

// Skin is the sensor that Android's thermal status follows.
type Skin struct {
	Sensor   string  `toml:"sensor"` // a node
	SampleMs float64 `toml:"sample_ms" range:"1..1e6"`
	// StatusC are the temperatures of light, moderate, severe, critical and emergency
	// heat and of shutdown; a status ends ClearK lower.
	StatusC [6]float64 `toml:"status_c" range:"0..200"`
	ClearK  float64    `toml:"clear_k" range:"0..50"`
}

// Rail is a consumer of power.
type Rail uint8

// Rails. The first are those of the engines.
const (
	RailCPU  = Rail(EngineCPU) // the CPU, as an engine and as the host of drivers
	RailGPU  = Rail(EngineGPU)
	RailDSP  = Rail(EngineDSP)
	RailNPU  = Rail(EngineNPU)
	RailDRAM = Rail(NumEngines)
	RailRest = RailDRAM + 1 // of the phone
	NumRails = RailRest + 1
)

// String is the name of the rail in a SoC file.
func (r Rail) String() string {
	switch r {
	case RailDRAM:
		return "dram"
	case RailRest:
		return "rest"
	}
	return Engine(r).String()
}

// statusNames are Android's names of thermal statuses.
var statusNames = [...]string{"none", "light", "moderate", "severe", "critical", "emergency", "shutdown"}

// ThermalStatus is how hot the skin is, as Android reports it to applications.
type ThermalStatus uint8

// StatusShutdown is the status at which the phone switches itself off.
const StatusShutdown = ThermalStatus(len(statusNames) - 1)

// String is Android's name of the status.
func (s ThermalStatus) String() string { return statusNames[s] }

// Node is the index of a node, -1 when none has the name.
func (t *Thermal) Node(name string) int {
	return slices.IndexFunc(t.Nodes, func(n ThermalNode) bool { return n.Name == name })
}

// Network builds the network, with the node of every rail; the file has been checked.
func (t *Thermal) Network() (*thermal.Network, [NumRails]int, error) {
	var of [NumRails]int
	var nodes []thermal.Node
	for i := range t.Nodes {
		n := &t.Nodes[i]
		nodes = append(nodes, thermal.Node{Name: n.Name, Capacity: n.JPerK, Resistance: n.KPerW, To: t.Node(n.To)})
		for r := range NumRails {
			if slices.Contains(n.HeatedBy, r.String()) {
				of[r] = i
			}
		}
	}
	net, err := thermal.New(nodes, t.AmbientC)
	return net, of, err
}

// Rule is a rule on the network.
func (t *Thermal) Rule(r *ThermalRule) *thermal.Rule {
	x := &thermal.Rule{Sensor: t.Node(r.Sensor), Minus: t.Node(r.Minus), Gate: t.Node(r.Gate), GateCelsius: r.GateC, Every: sim.Microseconds(r.SampleMs * 1e3)}
	for _, s := range r.Steps {
		x.Steps = append(x.Steps, thermal.Step{Reach: s[0], Clear: s[1], Hz: sim.Hertz(s[2])})
	}
	return x
}

// Status is the rule of the thermal status: each step is one.
func (t *Thermal) Status() *thermal.Rule {
	x := &thermal.Rule{Sensor: t.Node(t.Skin.Sensor), Minus: thermal.None, Gate: thermal.None, Every: sim.Microseconds(t.Skin.SampleMs * 1e3)}
	for _, c := range t.Skin.StatusC {
		x.Steps = append(x.Steps, thermal.Step{Reach: c, Clear: c - t.Skin.ClearK})
	}
	return x
}

// clocks are the clock domains of a SoC by name: the clusters of the CPU, then the
// other engines'.
func (c *Config) clocks() (names []string, clocks []*Clock) {
	add := func(name string, k *Clock) { names, clocks = append(names, name), append(clocks, k) }
	if c.CPU != nil {
		for i := range c.CPU.Clusters {
			add(c.CPU.Clusters[i].Name, &c.CPU.Clusters[i].Clock)
		}
	}
	if c.GPU != nil {
		add("gpu", &c.GPU.Clock)
	}
	if c.DSP != nil {
		add("dsp", &c.DSP.Clock)
	}
	if c.NPU != nil {
		add("npu", &c.NPU.Clock)
	}
	return names, clocks
}

// Rails are those that the SoC has.
func (c *Config) Rails() []Rail {
	l := []Rail{RailDRAM, RailRest}
	for r, there := range []bool{c.CPU != nil, c.GPU != nil, c.DSP != nil, c.NPU != nil} {
		if there {
			l = append(l, Rail(r))
		}
	}
	return l
}

// thermal checks constraints that tags cannot express.
func (k *checker) thermal(c *Config) {
	t := c.Thermal
	heated := map[string]int{}
	for i := range t.Nodes {
		n, p := &t.Nodes[i], fmt.Sprintf("thermal.node[%d]", i)
		if n.Name == "" || n.Name == "ambient" || t.Node(n.Name) != i {
			k.fail(p+".name", "%q, want a distinct name", n.Name)
		}
		if to := t.Node(n.To); n.To != "ambient" && to <= i {
			k.fail(p+".to", "%q, want a later node or ambient", n.To)
		}
		for _, r := range n.HeatedBy {
			if !slices.ContainsFunc(c.Rails(), func(x Rail) bool { return x.String() == r }) {
				k.fail(p+".heated_by", "this SoC has no power of %q", r)
			}
			heated[r]++
		}
	}
	for _, r := range c.Rails() {
		if heated[r.String()] != 1 {
			k.fail("thermal", "%d nodes are heated by %s, want one", heated[r.String()], r)
		}
	}
	sensor := func(p, name string) {
		if t.Node(name) < 0 {
			k.fail(p, "no node named %q", name)
		}
	}
	names, _ := c.clocks()
	for i := range t.Rules {
		r, p := &t.Rules[i], fmt.Sprintf("thermal.rule[%d]", i)
		if !slices.Contains(names, r.Clock) {
			k.fail(p+".clock", "no clock named %q, there are %v", r.Clock, names)
		}
		sensor(p+".sensor", r.Sensor)
		if r.Minus != "" {
			sensor(p+".minus", r.Minus)
		}
		if r.Gate != "" {
			sensor(p+".gate", r.Gate)
		}
		k.only(p+".gate_c", r.Gate != "", "gate")
		for j, s := range r.Steps {
			if s[1] > s[0] || s[2] < 10 || j > 0 && (s[0] <= r.Steps[j-1][0] || s[1] < r.Steps[j-1][1] || s[2] >= r.Steps[j-1][2]) {
				k.fail(fmt.Sprintf("%s.steps[%d]", p, j), "%v, want [C, a C not above it, MHz], hotter and slower than the step before", s)
			}
		}
	}
	sensor("thermal.skin.sensor", t.Skin.Sensor)
	for i := 1; i < len(t.Skin.StatusC); i++ {
		if t.Skin.StatusC[i] <= t.Skin.StatusC[i-1] {
			k.fail("thermal.skin.status_c", "temperatures must rise")
		}
	}
}

// StaticMW is the static power of an engine.
func (c *Config) StaticMW(e Engine) float64 {
	switch e {
	case EngineGPU:
		return c.GPU.Energy.StaticMW
	case EngineDSP:
		return c.DSP.Energy.StaticMW
	case EngineNPU:
		return c.NPU.Energy.StaticMW
	}
	return c.CPU.Energy.StaticMW
}
