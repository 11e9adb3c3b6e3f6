package hal

import "github.com/nnsoc/nnsoc/hal/nn"

// PerformanceInfo relates a device to the CPU: 1 is equal, lower is better.
type PerformanceInfo struct {
	ExecTime   float32 // time per operation, device / CPU
	PowerUsage float32 // energy per operation, device / CPU
}

// Capabilities are what IDevice.getCapabilities_1_3 returns.
type Capabilities struct {
	RelaxedScalar PerformanceInfo // float32 scalars of relaxed models
	RelaxedTensor PerformanceInfo // float32 tensors of relaxed models
	Operand       map[nn.OperandType]PerformanceInfo
	If            PerformanceInfo
	While         PerformanceInfo
}

// DeviceType is the answer of IDevice.getType.
type DeviceType int32

// Device types of HAL 1.2.
const (
	DeviceOther DeviceType = iota + 1
	DeviceCPU
	DeviceGPU
	DeviceAccelerator
)

var deviceTypeNames = [...]string{"", "OTHER", "CPU", "GPU", "ACCELERATOR"}

// String returns the HAL's name of the device type.
func (t DeviceType) String() string {
	if t > 0 && int(t) < len(deviceTypeNames) {
		return deviceTypeNames[t]
	}
	return "UNKNOWN"
}
