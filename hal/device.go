package hal

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nnsoc/nnsoc/nn"
)

// Support is the result of a support query for one operation of a model.
type Support struct {
	OK     bool
	Reason string // why not, in one line; empty when OK
}

// Device is one accelerator behind its driver: IDevice. All methods may be called from
// several goroutines. Answers that describe the device never change.
type Device interface {
	// Name is the short, lower-case name of the device: cpu, gpu, dsp, npu; see CheckName.
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
	// SupportedOperations returns the support of every operation of the main subgraph, in
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

// DeviceStatus is the result of IDevice.getStatus.
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

// MaxText bounds a device's name, version and description, in bytes.
const MaxText = 1024

// CheckName returns an error for an invalid name of a device: names appear in lists between commas, and on terminals.
func CheckName(name string) error {
	if name == "" || name == "auto" || name == "aosp" || strings.ContainsAny(name, ", ") {
		return fmt.Errorf("a device named %q: want a name without spaces and commas that is neither auto nor aosp", name)
	}
	return CheckText("name", name)
}

// CheckText is an error for a device's text that is long, or has more than a line or what steers a terminal.
func CheckText(what, text string) error {
	if len(text) > MaxText {
		return fmt.Errorf("a device's %s of %d bytes, at most %d", what, len(text), MaxText)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return fmt.Errorf("a device's %s %q: want printable text", what, text)
	}
	return nil
}
