package compat

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// CapabilitiesV1_0 are what IDevice.getCapabilities returns.
type CapabilitiesV1_0 struct {
	Float32Performance, Quantized8Performance hal.PerformanceInfo
}

// CapabilitiesV1_1 are what IDevice.getCapabilities_1_1 returns.
type CapabilitiesV1_1 struct {
	Float32Performance, Quantized8Performance, RelaxedFloat32toFloat16Performance hal.PerformanceInfo
}

// CapabilitiesV1_2 are what IDevice.getCapabilities_1_2 returns.
type CapabilitiesV1_2 struct {
	RelaxedFloat32toFloat16PerformanceScalar hal.PerformanceInfo
	RelaxedFloat32toFloat16PerformanceTensor hal.PerformanceInfo
	OperandPerformance                       []hal.OperandPerformance
}

// CapabilitiesV1_3 are what IDevice.getCapabilities_1_3 returns.
type CapabilitiesV1_3 struct {
	CapabilitiesV1_2
	IfPerformance, WhilePerformance hal.PerformanceInfo
}

// floats and quants are the types that the two figures of HAL 1.0 stand for. TENSOR_INT32,
// the OEM types and the others without a figure of their own go with the quantized one, as
// they do in AOSP.
var (
	floats = []nn.OperandType{nn.Float32, nn.TensorFloat32}
	quants = []nn.OperandType{nn.Int32, nn.Uint32, nn.TensorInt32, nn.TensorQuant8Asymm, nn.OEM, nn.TensorOEMByte}
)

// ToV1_3 converts capabilities to HAL 1.3.
func ToV1_3(c hal.Capabilities) CapabilitiesV1_3 {
	v := CapabilitiesV1_3{IfPerformance: c.If, WhilePerformance: c.While}
	v.RelaxedFloat32toFloat16PerformanceScalar, v.RelaxedFloat32toFloat16PerformanceTensor = c.RelaxedScalar, c.RelaxedTensor
	v.OperandPerformance = c.OperandPerformance()
	return v
}

// FromV1_3 is the inverse of ToV1_3.
func FromV1_3(v CapabilitiesV1_3) hal.Capabilities {
	c := FromV1_2(v.CapabilitiesV1_2)
	c.If, c.While = v.IfPerformance, v.WhilePerformance
	return c
}

// ToV1_2 converts capabilities to HAL 1.2. Rows of types that 1.2 lacks are left out,
// with a warning.
func ToV1_2(c hal.Capabilities) (v CapabilitiesV1_2, warnings []string) {
	v = ToV1_3(c).CapabilitiesV1_2
	v.OperandPerformance = slices.DeleteFunc(v.OperandPerformance, func(p hal.OperandPerformance) bool {
		if OperandTypeVersion(p.Type) <= V1_2 {
			return false
		}
		warnings = append(warnings, fmt.Sprintf("the performance of %v is left out: HAL 1.2 does not know the type", p.Type))
		return true
	})
	return v, warnings
}

// FromV1_2 reads capabilities of HAL 1.2: control flow is as slow as can be.
func FromV1_2(v CapabilitiesV1_2) hal.Capabilities {
	c := hal.Capabilities{RelaxedScalar: v.RelaxedFloat32toFloat16PerformanceScalar, RelaxedTensor: v.RelaxedFloat32toFloat16PerformanceTensor,
		If: hal.Slowest, While: hal.Slowest, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for _, p := range v.OperandPerformance {
		c.Operand[p.Type] = p.Info
	}
	return c
}

// ToV1_1 converts capabilities to HAL 1.1: of each group of types the figure of its tensors.
func ToV1_1(c hal.Capabilities) CapabilitiesV1_1 {
	return CapabilitiesV1_1{c.Lookup(nn.TensorFloat32), c.Lookup(nn.TensorQuant8Asymm), c.RelaxedTensor}
}

// fromV1_1 reads capabilities of HAL 1.1.
func fromV1_1(v CapabilitiesV1_1) hal.Capabilities {
	c := hal.Capabilities{RelaxedScalar: v.RelaxedFloat32toFloat16Performance, RelaxedTensor: v.RelaxedFloat32toFloat16Performance,
		If: hal.Slowest, While: hal.Slowest, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for _, t := range floats {
		c.Operand[t] = v.Float32Performance
	}
	for _, t := range quants {
		c.Operand[t] = v.Quantized8Performance
	}
	return c
}

// ToV1_0 converts capabilities to HAL 1.0.
func ToV1_0(c hal.Capabilities) CapabilitiesV1_0 {
	v := ToV1_1(c)
	return CapabilitiesV1_0{v.Float32Performance, v.Quantized8Performance}
}

// FromV1_0 reads capabilities of HAL 1.0: relaxed float32 is as fast as float32.
func FromV1_0(v CapabilitiesV1_0) hal.Capabilities {
	return fromV1_1(CapabilitiesV1_1{v.Float32Performance, v.Quantized8Performance, v.Float32Performance})
}

// CapabilitiesCompliantWith reports whether a version can express capabilities without loss.
func CapabilitiesCompliantWith(v Version, c hal.Capabilities) bool {
	same := func(types []nn.OperandType) bool {
		return !slices.ContainsFunc(types, func(t nn.OperandType) bool { return c.Lookup(t) != c.Lookup(types[0]) })
	}
	switch v {
	case V1_0:
		f := c.Lookup(nn.TensorFloat32)
		return CapabilitiesCompliantWith(V1_1, c) && c.RelaxedScalar == f && c.RelaxedTensor == f
	case V1_1:
		return c.RelaxedScalar == c.RelaxedTensor && same(floats) && same(quants)
	case V1_2:
		return !slices.ContainsFunc(c.OperandPerformance(), func(p hal.OperandPerformance) bool { return OperandTypeVersion(p.Type) > V1_2 }) &&
			c.If == hal.Slowest && c.While == hal.Slowest
	}
	return true
}

// NonExtensionOperandPerformance is a table with one figure for every type of a version, the
// OEM types included.
func NonExtensionOperandPerformance(v Version, p hal.PerformanceInfo) []hal.OperandPerformance {
	var list []hal.OperandPerformance
	for t := nn.OperandType(0); t.Valid(); t++ {
		if t != nn.SubgraphRef && OperandTypeVersion(t) <= v {
			list = append(list, hal.OperandPerformance{Type: t, Info: p})
		}
	}
	for _, t := range []nn.OperandType{nn.OEM, nn.TensorOEMByte} {
		list = append(list, hal.OperandPerformance{Type: t, Info: p})
	}
	return list
}
