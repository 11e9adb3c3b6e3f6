//go:build linux && cgo && libneuralnetworks

package main

// #include <stdbool.h>
// #include <android/NeuralNetworksTypes.h>
import "C"

import (
	"slices"
	"unsafe"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

//export ANeuralNetworksModel_create
func ANeuralNetworksModel_create(out *C.uintptr_t) C.int {
	return call("Model_create", func() error { return handle(need(out), nnapi.NewModel(), nil) })
}

//export ANeuralNetworksModel_free
func ANeuralNetworksModel_free(m C.uintptr_t) { release("Model_free", m, func(any) {}) }

//export ANeuralNetworksModel_finish
func ANeuralNetworksModel_finish(m C.uintptr_t) C.int {
	return call("Model_finish", func() error { return of[nnapi.Model](m).Finish() })
}

// operandType is the type that the app describes.
func operandType(t *C.ANeuralNetworksOperandType) nnapi.OperandType {
	return nnapi.OperandType{Type: nn.OperandType(t._type), Dimensions: slices.Clone(list(t.dimensions, t.dimensionCount)), Scale: float32(t.scale), ZeroPoint: int32(t.zeroPoint)}
}

//export ANeuralNetworksModel_addOperand
func ANeuralNetworksModel_addOperand(m C.uintptr_t, t *C.ANeuralNetworksOperandType) C.int {
	return call("Model_addOperand", func() error {
		model, o := of[nnapi.Model](m), operandType(need(t))
		if o.Type.IsScalar() && t.dimensions != nil {
			return bad(nnapi.BadData, "dimensions of %v", o.Type)
		}
		return model.AddOperand(o)
	})
}

//export ANeuralNetworksModel_setOperandValue
func ANeuralNetworksModel_setOperandValue(m C.uintptr_t, i C.int32_t, p unsafe.Pointer, n C.size_t) C.int {
	return call("Model_setOperandValue", func() error {
		data, err := block(p, n)
		if err != nil {
			return err
		}
		return of[nnapi.Model](m).SetOperandValue(uint32(i), data)
	})
}

//export ANeuralNetworksModel_setOperandValueFromMemory
func ANeuralNetworksModel_setOperandValueFromMemory(m C.uintptr_t, i C.int32_t, memory C.uintptr_t, offset, n C.size_t) C.int {
	return call("Model_setOperandValueFromMemory", func() error {
		return of[nnapi.Model](m).SetOperandValueFromMemory(uint32(i), of[nnapi.Memory](memory), int(offset), int(n))
	})
}

//export ANeuralNetworksModel_setOperandValueFromModel
func ANeuralNetworksModel_setOperandValueFromModel(m C.uintptr_t, i C.int32_t, inner C.uintptr_t) C.int {
	return call("Model_setOperandValueFromModel", func() error {
		return of[nnapi.Model](m).SetOperandValueFromModel(uint32(i), of[nnapi.Model](inner))
	})
}

//export ANeuralNetworksModel_setOperandSymmPerChannelQuantParams
func ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m C.uintptr_t, i C.int32_t, q *C.ANeuralNetworksSymmPerChannelQuantParams) C.int {
	return call("Model_setOperandSymmPerChannelQuantParams", func() error {
		model, scales := of[nnapi.Model](m), []float32(nil)
		if need(q).scales != nil { // without them BAD_DATA, as in AOSP
			scales = array((*float32)(q.scales), C.size_t(q.scaleCount))
		}
		return model.SetOperandSymmPerChannelQuantParams(uint32(i), nn.ChannelQuant{Dim: uint32(q.channelDim), Scales: scales})
	})
}

//export ANeuralNetworksModel_setOperandExtensionData
func ANeuralNetworksModel_setOperandExtensionData(m C.uintptr_t, i C.int32_t, p unsafe.Pointer, n C.size_t) C.int {
	return call("Model_setOperandExtensionData", func() error {
		data, err := block(p, n)
		if err != nil {
			return err
		}
		return of[nnapi.Model](m).SetOperandExtensionData(uint32(i), data)
	})
}

//export ANeuralNetworksModel_addOperation
func ANeuralNetworksModel_addOperation(m C.uintptr_t, t C.ANeuralNetworksOperationType, ni C.uint32_t, inputs *C.uint32_t, no C.uint32_t, outputs *C.uint32_t) C.int {
	return call("Model_addOperation", func() error {
		return of[nnapi.Model](m).AddOperation(nn.OperationType(t), list(need(inputs), ni), list(need(outputs), no))
	})
}

//export ANeuralNetworksModel_identifyInputsAndOutputs
func ANeuralNetworksModel_identifyInputsAndOutputs(m C.uintptr_t, ni C.uint32_t, inputs *C.uint32_t, no C.uint32_t, outputs *C.uint32_t) C.int {
	return call("Model_identifyInputsAndOutputs", func() error {
		return of[nnapi.Model](m).IdentifyInputsAndOutputs(list(need(inputs), ni), list(need(outputs), no))
	})
}

//export ANeuralNetworksModel_relaxComputationFloat32toFloat16
func ANeuralNetworksModel_relaxComputationFloat32toFloat16(m C.uintptr_t, allow C.bool) C.int {
	return call("Model_relaxComputationFloat32toFloat16", func() error {
		return of[nnapi.Model](m).RelaxComputationFloat32toFloat16(bool(allow))
	})
}

//export ANeuralNetworksModel_getExtensionOperandType
func ANeuralNetworksModel_getExtensionOperandType(m C.uintptr_t, name *C.char, number C.uint16_t, out *C.int32_t) C.int {
	return call("Model_getExtensionOperandType", func() error {
		model, extension := of[nnapi.Model](m), C.GoString(need(name))
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		t, err := p.runtime.ExtensionOperandType(model, extension, uint16(number))
		if err == nil {
			*out = C.int32_t(t)
		}
		return err
	})
}

//export ANeuralNetworksModel_getExtensionOperationType
func ANeuralNetworksModel_getExtensionOperationType(m C.uintptr_t, name *C.char, number C.uint16_t, out *C.ANeuralNetworksOperationType) C.int {
	return call("Model_getExtensionOperationType", func() error {
		model, extension := of[nnapi.Model](m), C.GoString(need(name))
		need(out)
		p, err := thePhone()
		if err != nil {
			return err
		}
		t, err := p.runtime.ExtensionOperationType(model, extension, uint16(number))
		if err == nil {
			*out = C.ANeuralNetworksOperationType(t)
		}
		return err
	})
}
