package devices

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// promise is what a device reports for one class of operand types.
type promise struct{ quant8, float32, relaxed hal.PerformanceInfo }

// promises are the getCapabilities figures by device: time and energy per
// operation relative to the CPU. They are rounded from this simulator's own
// runs of MobileNet v1 on pixel4, as a vendor rounds its measurements
// (D-01); slow stands for types the device hands back.
var promises = map[string]promise{
	"gpu": {slow, hal.PerformanceInfo{ExecTime: 0.4, PowerUsage: 0.5}, hal.PerformanceInfo{ExecTime: 0.3, PowerUsage: 0.4}},
	"dsp": {hal.PerformanceInfo{ExecTime: 0.5, PowerUsage: 0.3}, slow, slow},
	"npu": {hal.PerformanceInfo{ExecTime: 0.2, PowerUsage: 0.1}, slow, slow},
}

// slow is AOSP's convention for a type that a device should not be given.
var slow = hal.PerformanceInfo{ExecTime: 30, PowerUsage: 30}

// capabilities spreads a device's promise over the operand types of HAL 1.3.
func capabilities(device string) hal.Capabilities {
	p := promises[device]
	c := hal.Capabilities{RelaxedScalar: p.relaxed, RelaxedTensor: p.relaxed, Operand: map[nn.OperandType]hal.PerformanceInfo{}, If: slow, While: slow}
	for t := nn.OperandType(0); t.Valid(); t++ {
		switch t {
		case nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8SymmPerChannel, nn.TensorQuant8Symm:
			c.Operand[t] = p.quant8
		case nn.TensorFloat32, nn.Float32:
			c.Operand[t] = p.float32
		case nn.TensorFloat16, nn.Float16:
			c.Operand[t] = p.relaxed
		case nn.SubgraphRef:
		default:
			c.Operand[t] = slow
		}
	}
	return c
}
