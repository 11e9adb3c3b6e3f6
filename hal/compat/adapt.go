package compat

import (
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Adapt returns a device limited to an older version of the HAL, 1.0 to 1.2, as a runtime
// uses it. Queries carry the slice of a model that the version can express, with
// trailing defaults removed; capabilities are what the version can express; later features,
// priorities, deadlines, fences and device memory, do not reach the driver or are
// refused. Simulated costs are passed on.
func Adapt(v Version, d hal.Device) hal.Device {
	if v >= V1_3 {
		return d
	}
	return &adapted{Device: d, old: NewDevice(d), version: v}
}

type adapted struct {
	hal.Device
	old     *Device
	version Version
}

// FeatureLevel is NNAPI's number of the version.
func (d *adapted) FeatureLevel() int { return 27 + int(d.version) }

// Version implements hal.Device. The call came with 1.2.
func (d *adapted) Version() string {
	if d.version < V1_2 {
		return "UNKNOWN"
	}
	return d.Device.Version()
}

// Type implements hal.Device. The call came with 1.2.
func (d *adapted) Type() hal.DeviceType {
	if d.version < V1_2 {
		return 0
	}
	return d.Device.Type()
}

// Capabilities implements hal.Device.
func (d *adapted) Capabilities() hal.Capabilities {
	switch d.version {
	case V1_0:
		_, c := d.old.GetCapabilities()
		return FromV1_0(c)
	case V1_1:
		_, c := d.old.GetCapabilities_1_1()
		return fromV1_1(c)
	}
	_, c := d.old.GetCapabilities_1_2()
	return FromV1_2(c)
}

// SupportedExtensions implements hal.Device. Extensions came with 1.2.
func (d *adapted) SupportedExtensions() []hal.Extension {
	if d.version < V1_2 {
		return nil
	}
	return d.Device.SupportedExtensions()
}

// NumberOfCacheFilesNeeded implements hal.Device. Caches came with 1.2.
func (d *adapted) NumberOfCacheFilesNeeded() (model, data int) {
	if d.version < V1_2 {
		return 0, 0
	}
	return d.Device.NumberOfCacheFilesNeeded()
}

// SupportedOperations implements hal.Device. The driver is queried for the slice of the
// model that its version can express.
func (d *adapted) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	answers := make([]hal.Support, len(m.Main.Operations))
	slice, original := Slice(d.version, m)
	for i := range answers {
		answers[i].Reason = fmt.Sprintf("the driver implements HAL %v", d.version)
		if !slices.Contains(original, i) {
			answers[i].Reason += fmt.Sprintf(", the operation needs %v", OperationVersion(&m.Main, &m.Main.Operations[i]))
		}
	}
	if slice == nil {
		return answers, nil
	}
	list, err := d.Device.SupportedOperations(slice)
	if err != nil || len(list) != len(original) {
		if err == nil {
			err = hal.Errorf(hal.GeneralFailure, "%s: answers for %d of %d operations of HAL %v", d.Name(), len(list), len(original), d.version)
		}
		return nil, err
	}
	for k, i := range original {
		answers[i] = list[k]
	}
	return answers, nil
}

// CheckSlice returns why a support query cannot be made for the slice of a model, although the driver's
// version has some of its operations.
func (d *adapted) CheckSlice(m *nn.Model) error {
	slice, _ := sliced(d.version, m)
	if slice == nil {
		return nil
	}
	return checkSlice(d.version, slice)
}

// PrepareModel implements hal.Device. Before 1.2 executions report no shapes, so the shapes
// of all outputs must be known.
func (d *adapted) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	c, _, err := Convert(d.version, Simplified(m))
	if err != nil {
		return nil, err
	}
	for _, x := range m.Main.Outputs {
		if y := &m.Main.Operands[x]; d.version < V1_2 && !y.Known() {
			return nil, hal.Errorf(hal.InvalidArgument, "compat: an output of shape %v, which executions of HAL %v do not report", y.Dimensions, d.version)
		}
	}
	type reply struct {
		status hal.Status
		model  *PreparedModel
	}
	done := make(chan reply, 1)
	callback := func(status hal.Status, p *PreparedModel) { done <- reply{status, p} }
	switch d.version {
	case V1_0:
		d.old.PrepareModel(c, callback)
	case V1_1:
		d.old.PrepareModel_1_1(c, o.Preference, callback)
	default:
		d.old.PrepareModel_1_2(c, o.Preference, o.Cache, callback)
	}
	return d.prepared((<-done).model, "prepareModel")
}

// PrepareModelFromCache implements hal.Device.
func (d *adapted) PrepareModelFromCache(_ *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	if d.version < V1_2 {
		return nil, d.later("prepareModelFromCache")
	}
	var model *PreparedModel
	d.old.PrepareModelFromCache(c, func(_ hal.Status, p *PreparedModel) { model = p })
	return d.prepared(model, "prepareModelFromCache")
}

// prepared is what a callback brought.
func (d *adapted) prepared(p *PreparedModel, call string) (hal.PreparedModel, error) {
	if p == nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%s: %s of HAL %v failed", d.Name(), call, d.version)
	}
	return &adaptedModel{model: p.HAL(), device: d}, nil
}

// Allocate implements hal.Device. Device memory came with 1.3.
func (d *adapted) Allocate(hal.BufferDesc, []hal.PreparedModel, []hal.BufferRole, []hal.BufferRole) (hal.Buffer, error) {
	return nil, d.later("allocate")
}

func (d *adapted) later(call string) error {
	return hal.Errorf(hal.GeneralFailure, "%s: HAL %v has no %s", d.Name(), d.version, call)
}

// adaptedModel is a prepared model of an old driver. Calls that its version does not have
// are errors, those of hal.UnimplementedPreparedModel.
type adaptedModel struct {
	hal.UnimplementedPreparedModel
	model  hal.PreparedModel
	device *adapted
}

// Execute implements hal.PreparedModel with the parts of request and result that the version
// has: shapes and timing since 1.2, neither a deadline nor a loop timeout.
func (p *adaptedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	v := p.device.version
	if err := request(v, r); err != nil {
		return nil, err
	}
	res, err := p.model.Execute(r, p.versionOptions(o))
	return p.versionResult(res, err)
}

// versionOptions returns the options without those that the version lacks.
func (p *adaptedModel) versionOptions(o hal.ExecuteOptions) hal.ExecuteOptions {
	o.Deadline, o.LoopTimeout = nil, 0
	o.MeasureTiming = o.MeasureTiming && p.device.version >= V1_2
	return o
}

// versionResult returns a result as the version reports it.
func (p *adaptedModel) versionResult(res *hal.Result, err error) (*hal.Result, error) {
	v := p.device.version
	if err != nil {
		if s := hal.StatusOf(err); s != visible(v, s) {
			err = hal.Errorf(visible(v, s), "%w", err)
		}
		if v < V1_2 {
			res = nil
		}
		return res, err
	}
	if v < V1_2 {
		c := *res
		c.OutputDimensions, c.Insufficient, c.Timing = nil, nil, hal.NoTiming
		return &c, nil
	}
	return res, nil
}

// ConfigureExecutionBurst implements hal.PreparedModel. Bursts came with 1.2.
func (p *adaptedModel) ConfigureExecutionBurst() (hal.Burst, error) {
	if p.device.version < V1_2 {
		return nil, p.device.later("configureExecutionBurst")
	}
	b, err := p.model.ConfigureExecutionBurst()
	if err != nil {
		return nil, err
	}
	return &adaptedBurst{b, p}, nil
}

// adaptedBurst is a burst of HAL 1.2.
type adaptedBurst struct {
	hal.Burst
	model *adaptedModel
}

// Execute implements hal.Burst.
func (b *adaptedBurst) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	if err := request(V1_2, r); err != nil {
		return nil, err
	}
	return b.model.versionResult(b.Burst.Execute(r, b.model.versionOptions(o)))
}

// WriteListing implements hal.PreparedModel.
func (p *adaptedModel) WriteListing(w io.Writer) error { return p.model.WriteListing(w) }

// WriteProgram implements hal.PreparedModel.
func (p *adaptedModel) WriteProgram(w io.Writer) error { return p.model.WriteProgram(w) }
