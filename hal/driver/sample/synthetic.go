package sample

import (
	"fmt"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Call is a call of the contract at which a synthetic device misbehaves.
type Call uint8

// Calls.
const (
	CallSupportedOperations Call = iota + 1
	CallPrepareModel
	CallExecute
	numCalls
)

var callNames = [numCalls]string{CallSupportedOperations: "getSupportedOperations", CallPrepareModel: "prepareModel", CallExecute: "execute"}

// String returns the HAL's name of the call.
func (c Call) String() string {
	if c > 0 && c < numCalls {
		return callNames[c]
	}
	return fmt.Sprintf("Call(%d)", uint8(c))
}

// Fault is the fault of a synthetic device at a call. The zero value is none: the wrapped
// device answers.
type Fault struct {
	// Status fails the call.
	Status hal.Status
	// Panic crashes it.
	Panic bool
	// Hang keeps the call from returning until Synthetic.Release.
	Hang bool
	// Late is host time by which the call is delayed first.
	Late time.Duration
	// WrongCount drops the last of the answers for each operation, or of the shapes of
	// the outputs.
	WrongCount bool
	// After is how many calls go well first; 0 is none.
	After int
}

// Synthetic is a device that breaks the contract at chosen calls and otherwise is the
// device behind it. It is not wrapped by package base, so that callers see the fault.
type Synthetic struct {
	hal.Device
	name   string
	faults [numCalls]Fault
	done   chan struct{}
	once   sync.Once
	mu     sync.Mutex
	calls  [numCalls]int
}

// NewSynthetic returns a device named name over d with faults by call.
func NewSynthetic(name string, d hal.Device, faults map[Call]Fault) (*Synthetic, error) {
	s := &Synthetic{Device: d, name: name, done: make(chan struct{})}
	for c, f := range faults {
		if c == 0 || c >= numCalls {
			return nil, fmt.Errorf("sample: no call %d", c)
		}
		s.faults[c] = f
	}
	return s, nil
}

// Name implements hal.Device.
func (s *Synthetic) Name() string { return s.name }

// Release lets calls that hang return, with DEVICE_UNAVAILABLE.
func (s *Synthetic) Release() { s.once.Do(func() { close(s.done) }) }

// Calls is how often a call was made.
func (s *Synthetic) Calls(c Call) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[c]
}

// inject counts a call and applies its fault; wrong reports that the answer is to be
// truncated.
func (s *Synthetic) inject(c Call) (wrong bool, err error) {
	s.mu.Lock()
	s.calls[c]++
	n := s.calls[c]
	s.mu.Unlock()
	f := &s.faults[c]
	if n <= f.After {
		return false, nil
	}
	time.Sleep(f.Late)
	switch {
	case f.Panic:
		panic(fmt.Sprintf("%s crashes in %s", s.name, c))
	case f.Hang:
		<-s.done
		return false, hal.Errorf(hal.DeviceUnavailable, "%s: %s was given up", s.name, c)
	case f.Status != hal.StatusNone:
		return false, hal.Errorf(f.Status, "%s fails %s on purpose", s.name, c)
	}
	return f.WrongCount, nil
}

// SupportedOperations implements hal.Device.
func (s *Synthetic) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	wrong, err := s.inject(CallSupportedOperations)
	if err != nil {
		return nil, err
	}
	list, err := s.Device.SupportedOperations(m)
	if wrong && len(list) > 0 {
		list = list[:len(list)-1]
	}
	return list, err
}

// PrepareModel implements hal.Device.
func (s *Synthetic) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	if _, err := s.inject(CallPrepareModel); err != nil {
		return nil, err
	}
	p, err := s.Device.PrepareModel(m, o)
	if err != nil {
		return nil, err
	}
	return &syntheticModel{p, s}, nil
}

// syntheticModel is a prepared model of a synthetic device.
type syntheticModel struct {
	hal.PreparedModel
	device *Synthetic
}

// Execute implements hal.PreparedModel.
func (p *syntheticModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	wrong, err := p.device.inject(CallExecute)
	if err != nil {
		return nil, err
	}
	res, err := p.PreparedModel.Execute(r, o)
	if wrong && res != nil && len(res.OutputDimensions) > 0 {
		res.OutputDimensions = res.OutputDimensions[:len(res.OutputDimensions)-1]
	}
	return res, err
}
