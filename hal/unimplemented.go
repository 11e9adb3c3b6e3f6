package hal

import (
	"io"
	"time"

	"github.com/nnsoc/nnsoc/nn"
)

// UnimplementedDevice answers what a device without the optional parts of the contract
// answers: no extensions, no caching, no device memory. A test double embeds it.
type UnimplementedDevice struct{}

// Status implements Device.
func (UnimplementedDevice) Status() DeviceStatus { return DeviceAvailable }

// Capabilities implements Device.
func (UnimplementedDevice) Capabilities() Capabilities { return Capabilities{} }

// SupportedExtensions implements Device.
func (UnimplementedDevice) SupportedExtensions() []Extension { return nil }

// NumberOfCacheFilesNeeded implements Device.
func (UnimplementedDevice) NumberOfCacheFilesNeeded() (model, data int) { return 0, 0 }

// Now implements Device.
func (UnimplementedDevice) Now() TimePoint { return 0 }

// PrepareModel implements Device.
func (UnimplementedDevice) PrepareModel(*nn.Model, PrepareOptions) (PreparedModel, error) {
	return nil, unimplemented("prepareModel")
}

// PrepareModelFromCache implements Device.
func (UnimplementedDevice) PrepareModelFromCache(*TimePoint, Cache) (PreparedModel, error) {
	return nil, unimplemented("prepareModelFromCache")
}

// Allocate implements Device.
func (UnimplementedDevice) Allocate(BufferDesc, []PreparedModel, []BufferRole, []BufferRole) (Buffer, error) {
	return nil, unimplemented("allocate")
}

// UnimplementedPreparedModel is a prepared model that can do nothing. A test double
// embeds it.
type UnimplementedPreparedModel struct{}

// Execute implements PreparedModel.
func (UnimplementedPreparedModel) Execute(*Request, ExecuteOptions) (*Result, error) {
	return nil, unimplemented("executeSynchronously")
}

// ExecuteFenced implements PreparedModel.
func (UnimplementedPreparedModel) ExecuteFenced(*Request, []*SyncFence, ExecuteOptions, time.Duration) (*FencedExecution, error) {
	return nil, unimplemented("executeFenced")
}

// CreateReusableExecution implements PreparedModel.
func (UnimplementedPreparedModel) CreateReusableExecution(*Request, ExecuteOptions) (Execution, error) {
	return nil, unimplemented("createReusableExecution")
}

// ConfigureExecutionBurst implements PreparedModel.
func (UnimplementedPreparedModel) ConfigureExecutionBurst() (Burst, error) {
	return nil, unimplemented("configureExecutionBurst")
}

// WriteListing implements PreparedModel.
func (UnimplementedPreparedModel) WriteListing(io.Writer) error { return nil }

// WriteProgram implements PreparedModel.
func (UnimplementedPreparedModel) WriteProgram(io.Writer) error { return nil }

func unimplemented(call string) error {
	return Errorf(GeneralFailure, "%s is not implemented by this driver", call)
}
