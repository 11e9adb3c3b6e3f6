package serving

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// options are the layers between clients and a driver.
type options struct {
	name        string    // "": the device's
	unsupported []numbers // operations that support queries refuse
	dump        *recorder // nil: none
	queue       *queue    // nil: executions run on arrival
}

// numbers are the operations of a model from one to another, both included.
type numbers struct{ first, last int }

// parseNumbers reads lists such as 3,7-9.
func parseNumbers(text string) (list []numbers, err error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, several := strings.Cut(strings.TrimSpace(part), "-")
		if !several {
			to = from
		}
		a, errA := strconv.ParseUint(from, 10, 31)
		b, errB := strconv.ParseUint(to, 10, 31)
		if errA != nil || errB != nil || b < a {
			return nil, fmt.Errorf("--force-unsupported %q: want numbers of operations, such as 3,7-9", text)
		}
		list = append(list, numbers{int(a), int(b)})
	}
	return list, nil
}

// front is a driver with options before it. It implements hal.Device.
type front struct {
	hal.Device
	options
}

// Name implements hal.Device.
func (d *front) Name() string {
	if d.name != "" {
		return d.name
	}
	return d.Device.Name()
}

// Unwrap is the driver behind it.
func (d *front) Unwrap() hal.Device { return d.Device }

// SupportedOperations implements hal.Device.
func (d *front) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	list, err := d.Device.SupportedOperations(m)
	for i := range list {
		forced := slices.ContainsFunc(d.unsupported, func(n numbers) bool { return n.first <= i && i <= n.last })
		if list[i].OK && forced {
			list[i] = hal.Support{Reason: fmt.Sprintf("operation %d is refused on request", i)}
		}
	}
	return list, err
}

// PrepareModel implements hal.Device.
func (d *front) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return d.prepared(p, err, m, o.Priority)
}

// PrepareModelFromCache implements hal.Device. What the model is, only its driver knows: its
// requests are recorded as bytes.
func (d *front) PrepareModelFromCache(deadline *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModelFromCache(deadline, c)
	return d.prepared(p, err, nil, hal.PriorityMedium)
}

// prepared wraps a prepared model, if there is one; m is nil where it is not known.
func (d *front) prepared(p hal.PreparedModel, err error, m *nn.Model, priority hal.Priority) (hal.PreparedModel, error) {
	if err != nil || p == nil {
		return nil, err
	}
	x := &frontModel{PreparedModel: p, device: d, priority: priority}
	if d.dump != nil {
		x.record = d.dump.model(d.Device, m)
	}
	return x, nil
}

// Allocate implements hal.Device.
func (d *front) Allocate(desc hal.BufferDesc, models []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	models = slices.Clone(models)
	for i, p := range models {
		if m, ok := p.(*frontModel); ok {
			models[i] = m.PreparedModel
		}
	}
	return d.Device.Allocate(desc, models, inputs, outputs)
}

// frontModel is a prepared model behind a front.
type frontModel struct {
	hal.PreparedModel
	device   *front
	priority hal.Priority
	record   *modelRecord // nil: none
}

// Unwrap is the driver's model.
func (p *frontModel) Unwrap() hal.PreparedModel { return p.PreparedModel }

// Execute implements hal.PreparedModel.
func (p *frontModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if q := p.device.queue; q != nil {
		q.enter(p.priority)
		defer q.release()
	}
	n := p.record.request(r)
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		p.record.recordOutputs(n, r, res)
	}
	return res, err
}

// ExecuteFenced implements hal.PreparedModel. An execution that waits for fences waits in no queue: it might wait for a
// request behind it. Inputs that a fence guards are recorded when it ends.
func (p *frontModel) ExecuteFenced(r *hal.Request, waitFor []*hal.SyncFence, o hal.ExecuteOptions, after time.Duration) (*hal.FencedExecution, error) {
	f, err := p.PreparedModel.ExecuteFenced(r, waitFor, o, after)
	if err == nil && p.record != nil {
		go func() {
			<-f.Fence.Done()
			if info, err := f.ExecutionInfo(); err == nil {
				p.record.recordOutputs(p.record.request(r), r, info.Result)
			}
		}()
	}
	return f, err
}
