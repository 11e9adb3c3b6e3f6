package nnapi

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// typeManager knows the extensions of a runtime's devices. An extension gets its prefix
// when an app first requests one of its codes; prefixes count from 1.
type typeManager struct {
	extensions map[string]*extension
	inUse      []*extension // by prefix - 1
}

// extension is one of the devices' extensions.
type extension struct {
	hal.Extension
	device   string // that listed it first
	conflict error  // why it is disabled: another device lists other types
	prefix   uint16 // 0 before its first use
	// local is the prefix of its codes in the models that devices get: that of this
	// project's tables where they have the extension.
	local uint16
}

// add notes the extensions of a device. One that lists other operand types than another
// device did is disabled for all.
func (t *typeManager) add(d *Device) {
	if t.extensions == nil {
		t.extensions = map[string]*extension{}
	}
	for _, e := range d.hal.SupportedExtensions() {
		x := t.extensions[e.Name]
		switch {
		case x == nil:
			t.extensions[e.Name] = &extension{Extension: e, device: d.Name()}
		case !sameTypes(x.OperandTypes, e.OperandTypes):
			x.conflict = fmt.Errorf("extension %s is disabled: %s and %s have other operand types for it", e.Name, x.device, d.Name())
		}
	}
}

// sameTypes compares operand types in any order.
func sameTypes(a, b []hal.ExtensionOperandType) bool {
	byNumber := func(list []hal.ExtensionOperandType) map[uint16]hal.ExtensionOperandType {
		m := map[uint16]hal.ExtensionOperandType{}
		for _, t := range list {
			m[t.Type] = t
		}
		return m
	}
	return reflect.DeepEqual(byNumber(a), byNumber(b))
}

// firstForeign is where local prefixes of extensions begin that this project's tables do
// not have.
const firstForeign = 1 << 14

// use gives an extension its prefix.
func (t *typeManager) use(name string) (*extension, error) {
	e := t.extensions[name]
	if e == nil {
		return nil, fmt.Errorf("no device has the extension %q", name)
	}
	if e.conflict != nil {
		return nil, e.conflict
	}
	if e.prefix == 0 {
		if len(t.inUse) >= firstForeign-1 {
			return nil, fmt.Errorf("%d extensions are in use already", len(t.inUse))
		}
		t.inUse = append(t.inUse, e)
		e.prefix = uint16(len(t.inUse))
		if e.local = opspec.Standard().Prefix(name); e.local == 0 {
			e.local = firstForeign + e.prefix
		}
	}
	return e, nil
}

// code is Model_getExtensionOperandType and Model_getExtensionOperationType: the number
// for a code of an extension, which the model then knows.
func (r *Runtime) code(call string, m *Model, extension string, code uint16) (int32, error) {
	if m == nil {
		return 0, fail(UnexpectedNull, "%s: no model", call)
	}
	r.mu.Lock()
	e, err := r.types.use(extension)
	r.mu.Unlock()
	if err != nil {
		return 0, fail(BadData, "%s: %w", call, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.extensions {
		if x != e && (x.prefix == e.prefix || x.Name == e.Name) {
			return 0, fail(BadData, "%s: the model has extensions of another runtime", call)
		}
	}
	if !slices.Contains(m.extensions, e) {
		m.extensions = append(m.extensions, e)
	}
	return nn.ExtensionCode(e.prefix, code), nil
}

// ExtensionOperandType is Model_getExtensionOperandType. Whether the extension has the
// type is checked where an operand of it is added.
func (r *Runtime) ExtensionOperandType(m *Model, extension string, code uint16) (nn.OperandType, error) {
	t, err := r.code("Model_getExtensionOperandType", m, extension, code)
	return nn.OperandType(t), err
}

// ExtensionOperationType is Model_getExtensionOperationType.
func (r *Runtime) ExtensionOperationType(m *Model, extension string, code uint16) (nn.OperationType, error) {
	t, err := r.code("Model_getExtensionOperationType", m, extension, code)
	return nn.OperationType(t), err
}

// extension returns the extension of a code which an app gives; ok is false for one that the model did
// not get from its runtime.
func (m *Model) extension(code int32) (e *extension, number uint16, ok bool) {
	prefix, number := nn.SplitExtensionCode(code)
	for _, e := range m.extensions {
		if e.prefix == prefix {
			return e, number, true
		}
	}
	return nil, 0, false
}

// extensionType checks an operand type of an extension and gives it its local code.
func (m *Model) extensionType(call string, t *OperandType) error {
	e, number, ok := m.extension(int32(t.Type))
	if !ok {
		return fail(BadData, "%s: operand type %d is of no extension that the model has requested", call, t.Type)
	}
	i := slices.IndexFunc(e.OperandTypes, func(x hal.ExtensionOperandType) bool { return x.Type == number })
	if i < 0 {
		return fail(BadData, "%s: extension %s has no operand type %d", call, e.Name, number)
	}
	info := e.OperandTypes[i]
	n := nn.Elements(t.Dimensions)
	switch {
	case !info.IsTensor && len(t.Dimensions) > 0:
		return fail(BadData, "%s: type %d of %s is one of scalars, with dimensions %v", call, number, e.Name, t.Dimensions)
	case n < 0 || n*int64(info.ByteSize) > math.MaxUint32:
		return fail(BadData, "%s: type %d of %s: %v needs more than 32 bits of bytes", call, number, e.Name, t.Dimensions)
	case t.Scale != 0 || t.ZeroPoint != 0:
		return fail(BadData, "%s: type %d of %s with scale %v and zero point %d, it has none", call, number, e.Name, t.Scale, t.ZeroPoint)
	}
	t.Type = nn.OperandType(nn.ExtensionCode(e.local, number))
	return nil
}

// localOperation is an operation with its local code.
func (m *Model) localOperation(call string, t nn.OperationType) (nn.OperationType, error) {
	if !nn.IsExtensionOperationType(t) {
		return t, nil
	}
	e, number, ok := m.extension(int32(t))
	if !ok {
		return 0, fail(BadData, "%s: operation %d is of no extension that the model has requested", call, t)
	}
	return nn.OperationType(nn.ExtensionCode(e.local, number)), nil
}

// layout is the size of values of a local code, as its extension defines it; known is
// false for types of NNAPI.
func (m *Model) layout(t nn.OperandType) (info hal.ExtensionOperandType, known bool) {
	prefix, number := nn.SplitExtensionCode(int32(t))
	for _, e := range m.extensions {
		for _, x := range e.OperandTypes {
			if e.local == prefix && x.Type == number {
				return x, true
			}
		}
	}
	return info, false
}

// declared are the extensions of the model and of those inside it.
func (m *Model) declared() []nn.ExtensionPrefix {
	var list []nn.ExtensionPrefix
	add := func(p nn.ExtensionPrefix) {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, e := range m.extensions {
		add(nn.ExtensionPrefix{Name: e.Name, Prefix: e.local})
	}
	for _, inner := range m.inner {
		for _, p := range inner.model.Extensions {
			add(p)
		}
	}
	return list
}

// SetOperandExtensionData sets an extension's data of an operand of its type. The
// data is copied; nil removes it.
func (m *Model) SetOperandExtensionData(i uint32, data []byte) error {
	const call = "Model_setOperandExtensionData"
	return m.modify(call, func() error {
		o, err := m.operand(call, i)
		if err != nil {
			return err
		}
		if data != nil && len(data) == 0 {
			return fail(BadData, "%s: data of no bytes", call)
		}
		if !nn.IsExtensionOperandType(o.Type) {
			return fail(BadData, "%s: operand %d is %v, of no extension", call, i, o.Type)
		}
		o.Extension = slices.Clone(data)
		return nil
	})
}
