package hal

import "github.com/nnsoc/nnsoc/nn"

// Support is a driver's answer for one operation of a model.
type Support struct {
	OK     bool
	Reason string // why not, in one line; empty when OK
}

// Device is one accelerator behind its driver: IDevice. All methods may be called from
// several goroutines. Answers that describe the device never change.
type Device interface {
	// Name is the short, lower-case name of the device: cpu, gpu, dsp, npu.
	Name() string
	// Description is one line for a person: machine shape and clock.
	Description() string
	// Version is getVersionString: it changes with every release that changes results
	// or performance, so that it can be part of a cache's key.
	Version() string
	// Type is getType.
	Type() DeviceType
	// Status is getStatus. It never blocks.
	Status() DeviceStatus
	// Capabilities is getCapabilities_1_3.
	Capabilities() Capabilities
	// SupportedExtensions is getSupportedExtensions.
	SupportedExtensions() []Extension
	// NumberOfCacheFilesNeeded is the number of files of a compilation cache, each at
	// most MaxCacheFiles; 0 and 0 is a device that caches nothing.
	NumberOfCacheFilesNeeded() (model, data int)
	// Now is the steady clock that deadlines refer to.
	Now() TimePoint
	// SupportedOperations answers for every operation of the main subgraph, in
	// model order. It depends only on the model.
	SupportedOperations(m *nn.Model) ([]Support, error)
	// PrepareModel lowers a model whose operations are all supported. The model
	// must not change until the prepared model is dropped. A cache that cannot be
	// written does not make it fail.
	PrepareModel(m *nn.Model, o PrepareOptions) (PreparedModel, error)
	// PrepareModelFromCache makes the prepared model that an earlier PrepareModel has
	// saved. The error has status GENERAL_FAILURE when the cache cannot be used.
	PrepareModelFromCache(deadline *TimePoint, c Cache) (PreparedModel, error)
	// Allocate makes device memory for the roles: inputs and outputs of prepared
	// models of this device.
	Allocate(desc BufferDesc, models []PreparedModel, inputs, outputs []BufferRole) (Buffer, error)
}

// DeviceStatus is the answer of IDevice.getStatus.
type DeviceStatus int32

// Device statuses of HAL 1.0. A busy device accepts calls; an offline one may return.
const (
	DeviceAvailable DeviceStatus = iota
	DeviceBusy
	DeviceOffline
	DeviceUnknown
)

var deviceStatusNames = [...]string{"AVAILABLE", "BUSY", "OFFLINE", "UNKNOWN"}

// String returns the HAL's name of the status.
func (s DeviceStatus) String() string {
	if s >= 0 && int(s) < len(deviceStatusNames) {
		return deviceStatusNames[s]
	}
	return "UNKNOWN"
}
