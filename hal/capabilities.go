package hal

import (
	"cmp"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
)

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

// Slowest is the figure of what capabilities do not mention: nothing is slower.
var Slowest = PerformanceInfo{ExecTime: math.MaxFloat32, PowerUsage: math.MaxFloat32}

// OperandPerformance is one row of a table of capabilities.
type OperandPerformance struct {
	Type nn.OperandType
	Info PerformanceInfo
}

// OperandPerformance is the table as the HAL has it: in rising order of types, without
// SUBGRAPH and extension types.
func (c Capabilities) OperandPerformance() []OperandPerformance {
	var list []OperandPerformance
	for t, p := range c.Operand {
		if (t.Valid() || nn.IsOEM(t)) && t != nn.SubgraphRef {
			list = append(list, OperandPerformance{t, p})
		}
	}
	slices.SortFunc(list, func(a, b OperandPerformance) int { return cmp.Compare(a.Type, b.Type) })
	return list
}

// Lookup is the performance of a type; Slowest when the table does not have it.
func (c Capabilities) Lookup(t nn.OperandType) PerformanceInfo {
	if p, ok := c.Operand[t]; ok && t != nn.SubgraphRef {
		return p
	}
	return Slowest
}

// Update sets the performance of a type.
func (c *Capabilities) Update(t nn.OperandType, p PerformanceInfo) {
	if c.Operand == nil {
		c.Operand = map[nn.OperandType]PerformanceInfo{}
	}
	c.Operand[t] = p
}

// DeviceType is the result of IDevice.getType.
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
