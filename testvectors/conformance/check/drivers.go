package check

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/timing"
)

// Picky is a driver that supports some operations and counts those that it prepares.
type Picky struct {
	hal.Device
	name      string
	supported []nn.OperationType
	Prepared  []int // operations of each prepared model
}

func NewPicky(name string, supported ...nn.OperationType) *Picky {
	return &Picky{Device: cpudriver.New(cpudriver.Config{}), name: name, supported: supported}
}

func (d *Picky) Name() string { return d.name }

// Type returns the type of an accelerator: the CPU is another device.
func (d *Picky) Type() hal.DeviceType { return hal.DeviceAccelerator }

// Capabilities promise a tenth of the CPU's time for everything.
func (d *Picky) Capabilities() hal.Capabilities {
	c := d.Device.Capabilities()
	fast := hal.Capabilities{RelaxedScalar: Figure(0.1), RelaxedTensor: Figure(0.1), If: Figure(0.1), While: Figure(0.1)}
	for _, p := range c.OperandPerformance() {
		fast.Update(p.Type, hal.PerformanceInfo{ExecTime: 0.1, PowerUsage: 0.1})
	}
	return fast
}

func (d *Picky) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Device.SupportedOperations(m)
	for i := range s {
		if !slices.Contains(d.supported, m.Main.Operations[i].Type) {
			s[i] = hal.Support{Reason: "not one of its operations"}
		}
	}
	return s, err
}

func (d *Picky) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.Prepared = append(d.Prepared, len(m.Main.Operations))
	return d.Device.PrepareModel(m, o)
}

// Driver is a picky driver that reports the timing of executions.
func Driver(name string, supported ...nn.OperationType) *Picky {
	d := NewPicky(name, supported...)
	d.Device = TimedCPU()
	return d
}

// TimedCPU is a CPU of one core with round figures: it reports the timing of executions.
func TimedCPU() hal.Device {
	l1 := timing.CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20}
	l2 := timing.CacheSpec{Bytes: 512 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46}
	core := timing.CoreSpec{Name: "core", Threads: 1, ClockHz: 1e9, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32, PowerUW: 400, L1: l1, L2: l2,
		Kernels: timing.KernelSpec{GroupedCycles: 1, PatchBytes: 8, ScalarCycles: 1, OperationCycles: 1000}}
	for c := range core.Kernels.Efficiency {
		for p := range core.Kernels.Efficiency[c] {
			core.Kernels.Efficiency[c][p] = 0.5
		}
	}
	s := timing.CPUSpec{Name: "round", Cores: []timing.CoreSpec{core}, L3: l2, DRAMPerSecond: 1e10}
	return cpudriver.New(cpudriver.Config{Spec: s, Description: "round"})
}

// QueryRecorder is a driver that keeps the model of its last support query.
type QueryRecorder struct {
	*Picky
	Query *nn.Model
}

func (d *QueryRecorder) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	d.Query = m
	return d.Picky.SupportedOperations(m)
}

// Odd is a driver with its own answers.
type Odd struct {
	*Picky
	SelfDescription
}

// SelfDescription is what a driver reports about itself.
type SelfDescription struct {
	NameIs, VersionIs string
	TypeIs            hal.DeviceType
	Files             [2]int // of models and of data in a cache
	Caps              hal.Capabilities
	Extensions        []hal.Extension
	StatusIs          hal.DeviceStatus
}

func NewOdd() *Odd {
	p := Driver("odd", nn.OpRelu)
	m, d := p.NumberOfCacheFilesNeeded()
	return &Odd{Picky: p, SelfDescription: SelfDescription{NameIs: "odd", VersionIs: "1", TypeIs: hal.DeviceAccelerator, Files: [2]int{m, d}, Caps: p.Capabilities(), StatusIs: hal.DeviceAvailable}}
}

func (d *Odd) Name() string                         { return d.NameIs }
func (d *Odd) Version() string                      { return d.VersionIs }
func (d *Odd) Type() hal.DeviceType                 { return d.TypeIs }
func (d *Odd) NumberOfCacheFilesNeeded() (int, int) { return d.Files[0], d.Files[1] }
func (d *Odd) Capabilities() hal.Capabilities       { return d.Caps }
func (d *Odd) SupportedExtensions() []hal.Extension { return d.Extensions }
func (d *Odd) Status() hal.DeviceStatus             { return d.StatusIs }

// Figure is one number for time and another for power.
func Figure(v float32) hal.PerformanceInfo {
	return hal.PerformanceInfo{ExecTime: v, PowerUsage: 10 * v}
}
