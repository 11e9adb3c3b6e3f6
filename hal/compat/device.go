package compat

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
)

// Device is a hal.Device behind the interfaces IDevice of HAL 1.0 to 1.3.
//
// The asynchronous calls return the status of their launch. When it is not NONE, the
// callback has been called with the same status. When it is NONE, the work continues and
// the callback is called once, from another goroutine; it also reports a deadline that had
// passed before the launch. Callbacks and queues of 1.2 and earlier receive
// GENERAL_FAILURE for the statuses that 1.3 added.
type Device struct{ device hal.Device }

// NewDevice returns the interfaces of a device.
func NewDevice(d hal.Device) *Device { return &Device{d} }

// PreparedModelCallback is IPreparedModelCallback.notify, notify_1_2 and notify_1_3: p
// is nil unless the status is NONE.
type PreparedModelCallback func(status hal.Status, p *PreparedModel)

// GetStatus is IDevice.getStatus.
func (d *Device) GetStatus() (hal.Status, hal.DeviceStatus) { return hal.StatusNone, d.device.Status() }

// available is the status of queries about a device.
func (d *Device) available() hal.Status {
	if d.device.Status() == hal.DeviceOffline {
		return hal.DeviceUnavailable
	}
	return hal.StatusNone
}

// GetCapabilities returns the performance figures of the device as HAL 1.0 has them.
func (d *Device) GetCapabilities() (hal.Status, CapabilitiesV1_0) {
	return d.available(), ToV1_0(d.device.Capabilities())
}

// GetCapabilities_1_1 returns the performance figures of the device as HAL 1.1 has them.
func (d *Device) GetCapabilities_1_1() (hal.Status, CapabilitiesV1_1) {
	return d.available(), ToV1_1(d.device.Capabilities())
}

// GetCapabilities_1_2 returns the performance figures of the device as HAL 1.2 has them.
func (d *Device) GetCapabilities_1_2() (hal.Status, CapabilitiesV1_2) {
	v, _ := ToV1_2(d.device.Capabilities())
	return d.available(), v
}

// GetCapabilities_1_3 returns the performance figures of the device as HAL 1.3 has them.
func (d *Device) GetCapabilities_1_3() (hal.Status, CapabilitiesV1_3) {
	return d.available(), ToV1_3(d.device.Capabilities())
}

// GetVersionString, GetType, GetSupportedExtensions and GetNumberOfCacheFilesNeeded came
// with HAL 1.2.
func (d *Device) GetVersionString() (hal.Status, string) { return d.available(), d.device.Version() }

// GetType is IDevice.getType.
func (d *Device) GetType() (hal.Status, hal.DeviceType) { return d.available(), d.device.Type() }

// GetSupportedExtensions is IDevice.getSupportedExtensions.
func (d *Device) GetSupportedExtensions() (hal.Status, []hal.Extension) {
	return d.available(), d.device.SupportedExtensions()
}

// GetNumberOfCacheFilesNeeded is IDevice.getNumberOfCacheFilesNeeded.
func (d *Device) GetNumberOfCacheFilesNeeded() (status hal.Status, model, data int) {
	model, data = d.device.NumberOfCacheFilesNeeded()
	return d.available(), model, data
}

// GetSupportedOperations is getSupportedOperations of a version: one answer for each
// operation of the main subgraph, none unless the status is NONE. A model that the
// version cannot express is an invalid argument.
func (d *Device) GetSupportedOperations(v Version, m *nn.Model) (hal.Status, []bool) {
	if err := checkModel(v, m); err != nil {
		return hal.StatusOf(err), nil
	}
	list, err := d.device.SupportedOperations(m)
	if err != nil {
		return hal.StatusOf(err), nil
	}
	answers := make([]bool, len(list))
	for i := range list {
		answers[i] = list[i].OK
	}
	return hal.StatusNone, answers
}

// checkModel checks that a model is valid and that a version can express it.
func checkModel(v Version, m *nn.Model) error {
	if err := validate.Model(m); err != nil {
		return err
	}
	if ok, _ := CompliantWith(v, m); !ok {
		return hal.Errorf(hal.InvalidArgument, "compat: the model needs HAL %v, not %v", ModelVersion(m), v)
	}
	return nil
}

// PrepareModel is prepareModel of HAL 1.0.
func (d *Device) PrepareModel(m *nn.Model, cb PreparedModelCallback) hal.Status {
	return d.prepare(V1_0, m, hal.PrepareOptions{Preference: hal.FastSingleAnswer, Priority: hal.PriorityMedium}, cb)
}

// PrepareModel_1_1 prepares a model of HAL 1.1 and calls back with the result.
func (d *Device) PrepareModel_1_1(m *nn.Model, p hal.Preference, cb PreparedModelCallback) hal.Status {
	return d.prepare(V1_1, m, hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium}, cb)
}

// PrepareModel_1_2 prepares a model of HAL 1.2 and calls back with the result.
func (d *Device) PrepareModel_1_2(m *nn.Model, p hal.Preference, c hal.Cache, cb PreparedModelCallback) hal.Status {
	return d.prepare(V1_2, m, hal.PrepareOptions{Preference: p, Priority: hal.PriorityMedium, Cache: c}, cb)
}

// PrepareModel_1_3 prepares a model of HAL 1.3 and calls back with the result.
func (d *Device) PrepareModel_1_3(m *nn.Model, o hal.PrepareOptions, cb PreparedModelCallback) hal.Status {
	return d.prepare(V1_3, m, o, cb)
}

// prepare validates at the launch and compiles in the background.
func (d *Device) prepare(v Version, m *nn.Model, o hal.PrepareOptions, cb PreparedModelCallback) hal.Status {
	if cb == nil {
		return hal.InvalidArgument
	}
	err := checkModel(v, m)
	if err == nil {
		err = o.Validate()
	}
	if err != nil {
		cb(visible(v, hal.StatusOf(err)), nil)
		return visible(v, hal.StatusOf(err))
	}
	go func() {
		p, err := d.compile(m, o)
		d.notify(v, p, err, cb)
	}()
	return hal.StatusNone
}

// compile prepares a model on the driver, which may panic.
func (d *Device) compile(m *nn.Model, o hal.PrepareOptions) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.device.Name(), "PrepareModel")
	return d.device.PrepareModel(m, o)
}

// notify calls a callback of a version.
func (d *Device) notify(v Version, p hal.PreparedModel, err error, cb PreparedModelCallback) {
	if err != nil || p == nil {
		status := hal.StatusOf(err)
		if err == nil {
			status = hal.GeneralFailure
		}
		cb(visible(v, status), nil)
		return
	}
	cb(hal.StatusNone, &PreparedModel{p, d.device})
}

// visible is a status as a version shows it.
func visible(v Version, s hal.Status) hal.Status {
	if v < V1_3 {
		return s.ToV1_2()
	}
	return s
}

// PrepareModelFromCache prepares a model from the files of a cache, as HAL 1.2 does. Callback and result have the same status.
func (d *Device) PrepareModelFromCache(c hal.Cache, cb PreparedModelCallback) hal.Status {
	return d.fromCache(V1_2, nil, c, cb)
}

// PrepareModelFromCache_1_3 prepares a model from the files of a cache, as HAL 1.3 does.
func (d *Device) PrepareModelFromCache_1_3(deadline *hal.TimePoint, c hal.Cache, cb PreparedModelCallback) hal.Status {
	return d.fromCache(V1_3, deadline, c, cb)
}

func (d *Device) fromCache(v Version, deadline *hal.TimePoint, c hal.Cache, cb PreparedModelCallback) hal.Status {
	if cb == nil {
		return hal.InvalidArgument
	}
	p, err := d.device.PrepareModelFromCache(deadline, c)
	d.notify(v, p, err, cb)
	return visible(v, hal.StatusOf(err))
}

// Allocate is IDevice.allocate of HAL 1.3: no buffer and token 0 unless the status is NONE.
func (d *Device) Allocate(desc hal.BufferDesc, models []*PreparedModel, inputs, outputs []hal.BufferRole) (hal.Status, hal.Buffer, uint32) {
	list := make([]hal.PreparedModel, len(models))
	for i, m := range models {
		if m == nil {
			return hal.InvalidArgument, nil, 0
		}
		list[i] = m.model
	}
	b, err := d.device.Allocate(desc, list, inputs, outputs)
	if err != nil {
		return hal.StatusOf(err), nil, 0
	}
	return hal.StatusNone, b, b.Token()
}
