package soc

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
)

// Host is the software between an application and an engine, and the CPU that it runs on: the cost of an execution
// outside the engine. Costs of code hold at ReferenceMHz and are the same number of cycles at any other clock.
type Host struct {
	// Cluster names the cores that applications, services and kernel drivers run on.
	Cluster      string  `toml:"cluster"`
	ReferenceMHz float64 `toml:"reference_mhz" range:"10..6000"`
	RuntimeUs    float64 `toml:"runtime_us" range:"0..100000"` // an NNAPI runtime's own work per execution
	// BinderUs is the round trip to another process; where a transport is binder.
	BinderUs float64 `toml:"binder_us" range:"0..100000" soc:"optional"`
	// Clean and Invalidate are the cache maintenance of a request's buffers before and
	// after the engine has them, where a path has maintenance: rising points [KiB, us],
	// linear between.
	Clean      [][2]float64 `toml:"clean_us" len:"1..16" range:"0..1e9" soc:"optional"`
	Invalidate [][2]float64 `toml:"invalidate_us" len:"1..16" range:"0..1e9" soc:"optional"`
	// Idle are the states of a core that waits, the lightest first.
	Idle []IdleState `toml:"idle" len:"1..8"`
	// Burst is the effect of a burst object; where a transport is binder.
	Burst *Burst `toml:"burst" soc:"optional"`
}

// IdleState is a state of a core that waits.
type IdleState struct {
	Name   string  `toml:"name"`
	ExitUs float64 `toml:"exit_us" range:"0..100000"`
	// BreakEvenUs rises from state to state: shorter waits do not pay. A single state
	// has none.
	BreakEvenUs float64 `toml:"break_even_us" range:"0..1e9" soc:"optional"`
	MW          float64 `toml:"mw" range:"0..100000"`
}

// Burst is the effect of a burst object: its message queues replace binder,
// and its driver votes for the CPU.
type Burst struct {
	Us       float64 `toml:"us" range:"0..100000"`      // round trip over the queues: two futex wake-ups
	WakeUs   float64 `toml:"wake_us" range:"0..100000"` // longest exit of the idle states that remain allowed
	MinShare float64 `toml:"min_share" range:"0..1"`    // lowest clock as a share of the highest
}

// Path is how a request reaches an engine and its result returns.
type Path struct {
	// Transport is "binder" when the driver is a service in its own process, "direct" when it is a library in the
	// application's.
	Transport string `toml:"transport"`
	// Callback: the answer is a separate call to a thread of the application's pool, which wakes the waiting thread
	// (execute_1_2); else it returns from the request.
	Callback bool `toml:"callback"`
	// Maintenance: caches are cleaned and invalidated for the engine.
	Maintenance bool    `toml:"maintenance"`
	MapUs       float64 `toml:"map_us" range:"0..100000"`    // per buffer
	UnmapUs     float64 `toml:"unmap_us" range:"0..100000"`  // per execution that has mapped buffers
	RPCUs       float64 `toml:"rpc_us" range:"0..100000"`    // messages to the engine's own system and back, at the reference clock
	LaunchUs    float64 `toml:"launch_us" range:"0..100000"` // submission to the engine's queue and its interrupt, at the reference clock
	// CPULatencyUs is the longest exit of the idle states that the driver's request to the CPU leaves while the engine is
	// awake: a quality of service of power management. Without one all are allowed.
	CPULatencyUs float64 `toml:"cpu_latency_us" range:"1..1e6" soc:"optional"`
	// Preempt lets programs of higher priority preempt.
	Preempt *Preempt `toml:"preempt" soc:"optional"`
}

// host checks constraints that tags cannot express.
func (k *checker) host(c *Config) {
	h := &c.Host
	if c.CPU != nil && c.HostCluster() == nil {
		k.fail("host.cluster", "no cluster named %q in [cpu]", h.Cluster)
	}
	for i := range h.Idle {
		k.only(fmt.Sprintf("host.idle[%d].break_even_us", i), len(h.Idle) > 1, "more than one state")
	}
	for i := 1; i < len(h.Idle); i++ {
		if h.Idle[i].BreakEvenUs <= h.Idle[i-1].BreakEvenUs || h.Idle[i].ExitUs < h.Idle[i-1].ExitUs {
			k.fail("host.idle", "state %s is not deeper than the one before", h.Idle[i].Name)
		}
	}
	binder := c.anyPath(func(p *Path) bool { return p.Transport == "binder" })
	k.only("host.binder_us", binder, "a path with transport = \"binder\"")
	if (h.Burst != nil) != binder {
		k.fail("host.burst", "there must be one exactly where a path has transport = \"binder\"")
	}
	maintained := c.anyPath(func(p *Path) bool { return p.Maintenance })
	k.only("host.clean_us", maintained, "a path with maintenance = true")
	k.only("host.invalidate_us", maintained, "a path with maintenance = true")
	k.curve("host.clean_us", h.Clean)
	k.curve("host.invalidate_us", h.Invalidate)
}

// anyPath reports whether the path of some engine is such.
func (c *Config) anyPath(is func(*Path) bool) bool {
	return c.GPU != nil && is(&c.GPU.Path) || c.DSP != nil && is(&c.DSP.Path) || c.NPU != nil && is(&c.NPU.Path)
}

// curve demands rising sizes.
func (k *checker) curve(p string, c [][2]float64) {
	for i := range c {
		if c[i][0] <= 0 || i > 0 && c[i][0] <= c[i-1][0] {
			k.fail(p, "sizes must rise from above 0")
			return
		}
	}
}

func (k *checker) path(p string, x *Path) {
	if x.Transport != "binder" && x.Transport != "direct" {
		k.fail(p+".transport", "%q, want binder or direct", x.Transport)
	}
	if x.Callback && x.Transport != "binder" {
		k.fail(p+".callback", "takes no effect: it needs transport = \"binder\"")
	}
}

// HostCluster is the cluster that Host names, nil when there is none.
func (c *Config) HostCluster() *Cluster {
	for i := range c.CPU.Clusters {
		if c.CPU.Clusters[i].Name == c.Host.Cluster {
			return &c.CPU.Clusters[i]
		}
	}
	return nil
}

// Preempt is the cost for an engine to leave a program between two operations for one of
// higher priority, and to return to it. An engine without it runs each program to its end.
type Preempt struct {
	SaveUs    float64 `toml:"save_us" range:"0..1e6"`    // the engine's state is saved to memory
	RestoreUs float64 `toml:"restore_us" range:"0..1e6"` // and back
}

// WakeTime is the time until a core runs a thread again after it has slept: the exit
// of its idle state. Which state the core is in follows from the sleep it predicts, and
// predictions scatter: between the break-even times of two states the exits are
// interpolated. longest, when not negative, forbids states with a longer exit.
func (h *Host) WakeTime(slept, longest sim.Time) sim.Time {
	s := h.Idle
	for len(s) > 1 && longest >= 0 && sim.Microseconds(s[len(s)-1].ExitUs) > longest {
		s = s[:len(s)-1]
	}
	x := slept.Microseconds()
	for i := len(s) - 1; i >= 0; i-- {
		if x < s[i].BreakEvenUs && i > 0 {
			continue
		}
		if i == len(s)-1 || x < s[i].BreakEvenUs {
			return sim.Microseconds(s[i].ExitUs)
		}
		share := (x - s[i].BreakEvenUs) / (s[i+1].BreakEvenUs - s[i].BreakEvenUs)
		return sim.Microseconds(s[i].ExitUs + share*(s[i+1].ExitUs-s[i].ExitUs))
	}
	return 0
}

// IdleMW is the power of a core that sleeps for a time.
func (h *Host) IdleMW(slept, longest sim.Time) float64 {
	mw := h.Idle[0].MW
	for i := range h.Idle {
		if sim.Microseconds(h.Idle[i].BreakEvenUs) <= slept && (i == 0 || longest < 0 || sim.Microseconds(h.Idle[i].ExitUs) <= longest) {
			mw = h.Idle[i].MW
		}
	}
	return mw
}
