package sample

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// FaultyPrefix begins the name of a driver with a planted fault: faulty:KIND,
// faulty:KIND=N or faulty:KIND-after=N, followed by @DEVICE for a fault of another
// device than sample_all. With -after the first N executions succeed.
const FaultyPrefix = "faulty:"

// faultKind is what a planted fault does at an execution.
type faultKind struct {
	name, about string
	// parameter is the meaning of N in KIND=N; "": there is no N. initial is its default.
	parameter string
	initial   int
	// before is called before an execution, after behind it; nil does nothing.
	before func(d *Faulty) error
	after  func(d *Faulty, r *hal.Request, res *hal.Result)
}

var faultKinds = []faultKind{
	{name: "wrong", about: "changes the first byte of the first output", after: func(_ *Faulty, r *hal.Request, _ *hal.Result) { corrupt(r) }},
	{name: "fail", about: "fails with GENERAL_FAILURE", before: func(d *Faulty) error {
		return hal.Errorf(hal.GeneralFailure, "%s fails on purpose", d.Name())
	}},
	{name: "panic", about: "panics", before: func(d *Faulty) error { panic(d.Name() + " panics on purpose") }},
	{name: "exit", about: "ends its process", before: func(*Faulty) error { os.Exit(faultyExit); return nil }},
	{name: "hang", about: "does not return", before: func(*Faulty) error { <-make(chan struct{}); return nil }},
	{name: "deadlock", about: "acquires two locks in either order", before: (*Faulty).lockBoth},
	{name: "late", about: "sleeps N ms of the host's time", parameter: "ms", initial: 1000, before: func(d *Faulty) error {
		time.Sleep(time.Duration(d.n) * time.Millisecond)
		return nil
	}},
	{name: "slow", about: "is N times slower on the phone while models are prepared", parameter: "times", initial: 4, after: (*Faulty).slowDown},
	{name: "leak-memory", about: "keeps N KiB of memory", parameter: "KiB", initial: 1024, before: func(d *Faulty) error {
		b := make([]byte, d.n<<10)
		for i := 0; i < len(b); i += 512 { // pages that are not touched use no memory
			b[i] = 1
		}
		d.locked(func() { d.memory = append(d.memory, b) })
		return nil
	}},
	{name: "leak-files", about: "keeps a file open", before: func(d *Faulty) error {
		f, err := os.Open(os.DevNull)
		d.locked(func() { d.files = append(d.files, f) })
		return err
	}},
	{name: "leak-goroutines", about: "keeps a goroutine", before: func(*Faulty) error {
		go func() { <-make(chan struct{}) }()
		return nil
	}},
}

// faultyExit is the exit code of a process that a planted fault ends.
const faultyExit = 41

// FaultyNames lists the kinds of faults with what they do.
func FaultyNames() (list []string) {
	for _, k := range faultKinds {
		name := FaultyPrefix + k.name
		if k.parameter != "" {
			name += "=" + strings.ToUpper(k.parameter)
		}
		list = append(list, name+": "+k.about)
	}
	return list
}

// Faulty is a device with a planted fault in its executions; otherwise it behaves as the
// wrapped device. Callers meet the fault directly.
type Faulty struct {
	hal.Device
	name     string
	kind     *faultKind
	n, after int

	calls     atomic.Int64
	preparing atomic.Int64 // models that are being prepared
	slowUntil atomic.Int64 // in ns of the host's clock
	mu        sync.Mutex   // of what is kept
	memory    [][]byte
	files     []*os.File
	locks     [2]sync.Mutex
}

// FaultyDevice is the name of the device that a name of a faulty driver plants a fault
// in.
func FaultyDevice(name string) string {
	if _, device, ok := strings.Cut(name, "@"); ok {
		return device
	}
	return drivers[0].name
}

// NewFaulty plants the fault of a name in a device.
func NewFaulty(name string, d hal.Device) (*Faulty, error) {
	spec, ok := strings.CutPrefix(name, FaultyPrefix)
	if !ok {
		return nil, fmt.Errorf("sample: %q is no faulty driver", name)
	}
	spec, _, _ = strings.Cut(spec, "@")
	kind, number, hasNumber := strings.Cut(spec, "=")
	kind, after := strings.CutSuffix(kind, "-after")
	f := &Faulty{Device: d, name: name}
	for i := range faultKinds {
		if faultKinds[i].name == kind {
			f.kind, f.n = &faultKinds[i], faultKinds[i].initial
		}
	}
	switch {
	case f.kind == nil:
		return nil, fmt.Errorf("sample: no fault %q; there are\n  %s", kind, strings.Join(FaultyNames(), "\n  "))
	case after && !hasNumber:
		return nil, fmt.Errorf("sample: %s: after how many executions? (%s-after=N)", name, kind)
	case hasNumber && !after && f.kind.parameter == "":
		return nil, fmt.Errorf("sample: %s: %s has no number, but %s-after=N", name, kind, kind)
	}
	if hasNumber {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > maxFaultNumber {
			return nil, fmt.Errorf("sample: %s: %q, want 0 to %d", name, number, maxFaultNumber)
		}
		if after {
			f.after = n
		} else {
			f.n = n
		}
	}
	return f, nil
}

// maxFaultNumber bounds the number of a fault: a GiB at once.
const maxFaultNumber = 1 << 20

// Name implements hal.Device.
func (d *Faulty) Name() string { return d.name }

func (d *Faulty) locked(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// lockBoth acquires two locks in alternating order: two threads wait for each other sooner
// or later.
func (d *Faulty) lockBoth() error {
	first := int(d.calls.Load()) % 2
	d.locks[first].Lock()
	defer d.locks[first].Unlock()
	time.Sleep(time.Millisecond)
	d.locks[1-first].Lock()
	defer d.locks[1-first].Unlock()
	return nil
}

// corrupt changes the first byte of the first output. For a float that is the lowest of
// its mantissa, so the second highest byte of an element of four changes as well.
func corrupt(r *hal.Request) {
	_, outputs, err := r.Buffers()
	if err != nil || len(outputs) == 0 || len(outputs[0]) == 0 {
		return
	}
	b := outputs[0]
	b[0] ^= 0x55
	if len(b)%4 == 0 {
		b[2] ^= 0x55
	}
}

// slowness is for how long after the end of a prepareModel executions are slow.
const slowness = 5 * time.Millisecond

// slowDown adds to the time of an execution while a model is prepared.
func (d *Faulty) slowDown(_ *hal.Request, res *hal.Result) {
	if d.n < 2 || d.preparing.Load() == 0 && time.Now().UnixNano() > d.slowUntil.Load() {
		return
	}
	more := res.Stats.LatencyFs * int64(d.n-1)
	res.Stats.LatencyFs += more
	res.Stats.Parts = append(res.Stats.Parts, hal.Part{Name: "planted", TimeFs: more})
}

// PrepareModel implements hal.Device.
func (d *Faulty) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	return d.prepared(func() (hal.PreparedModel, error) { return d.Device.PrepareModel(m, o) })
}

// PrepareModelFromCache implements hal.Device.
func (d *Faulty) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	return d.prepared(func() (hal.PreparedModel, error) { return d.Device.PrepareModelFromCache(deadline, c) })
}

func (d *Faulty) prepared(prepare func() (hal.PreparedModel, error)) (hal.PreparedModel, error) {
	d.preparing.Add(1)
	p, err := prepare()
	d.slowUntil.Store(time.Now().Add(slowness).UnixNano())
	d.preparing.Add(-1)
	if err != nil {
		return nil, err
	}
	return &faultyModel{p, d}, nil
}

// Allocate implements hal.Device.
func (d *Faulty) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	inner := make([]hal.PreparedModel, len(models))
	for i, p := range models {
		if inner[i] = p; p != nil {
			if x, ok := p.(*faultyModel); ok {
				inner[i] = x.PreparedModel
			}
		}
	}
	return d.Device.Allocate(desc, inner, inputs, outputs)
}

// faultyModel is a prepared model of a faulty driver.
type faultyModel struct {
	hal.PreparedModel
	device *Faulty
}

// execute runs a request with the fault.
func (d *Faulty) execute(r *hal.Request, o hal.ExecuteOptions, f func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error)) (*hal.Result, error) {
	well := d.calls.Add(1) <= int64(d.after)
	if !well && d.kind.before != nil {
		if err := d.kind.before(d); err != nil {
			return nil, err
		}
	}
	res, err := f(r, o)
	if !well && err == nil && d.kind.after != nil {
		d.kind.after(d, r, res)
	}
	return res, err
}

// Execute implements hal.PreparedModel.
func (p *faultyModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return p.device.execute(r, o, p.PreparedModel.Execute)
}

// ExecuteFenced implements hal.PreparedModel. Faults before an execution occur before the
// call returns; those after it do not occur.
func (p *faultyModel) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (x *hal.FencedExecution, err error) {
	d := p.device
	if d.calls.Add(1) > int64(d.after) && d.kind.before != nil {
		if err := d.kind.before(d); err != nil {
			return nil, err
		}
	}
	return p.PreparedModel.ExecuteFenced(r, waitFor, o, after)
}

// ConfigureExecutionBurst implements hal.PreparedModel.
func (p *faultyModel) ConfigureExecutionBurst() (hal.Burst, error) {
	b, err := p.PreparedModel.ConfigureExecutionBurst()
	if err != nil || b == nil {
		return nil, err
	}
	return &faultyBurst{b, p.device}, nil
}

// faultyBurst is a burst of a faulty driver.
type faultyBurst struct {
	hal.Burst
	device *Faulty
}

// Execute implements hal.Burst.
func (b *faultyBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	return b.device.execute(r, o, b.Burst.Execute)
}
