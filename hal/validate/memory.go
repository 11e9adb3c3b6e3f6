package validate

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// MemoryDesc checks the roles of device memory against the models they name and returns
// the operand that all agree on: type, quantization, and the dimensions that they and
// the descriptor state together.
func MemoryDesc(desc hal.BufferDesc, models []*nn.Model, inputs, outputs []hal.BufferRole) (nn.Operand, error) {
	var common nn.Operand
	if len(inputs)+len(outputs) == 0 {
		return common, invalid(fmt.Errorf("validate: memory: no roles"))
	}
	first := true
	type key struct {
		output    bool
		model, io uint32
	}
	seen := map[key]bool{}
	for k, list := range [2][]hal.BufferRole{inputs, outputs} {
		what := [2]string{"input", "output"}[k]
		for i, r := range list {
			fail := func(format string, args ...any) (nn.Operand, error) {
				return nn.Operand{}, invalid(fmt.Errorf("validate: memory: %s role %d: %w", what, i, fmt.Errorf(format, args...)))
			}
			if uint64(r.ModelIndex) >= uint64(len(models)) || models[r.ModelIndex] == nil {
				return fail("prepared model %d of %d", r.ModelIndex, len(models))
			}
			g := &models[r.ModelIndex].Main
			operands := [2][]uint32{g.Inputs, g.Outputs}[k]
			if uint64(r.IOIndex) >= uint64(len(operands)) {
				return fail("%s %d of %d", what, r.IOIndex, len(operands))
			}
			if !(r.Frequency > 0 && r.Frequency <= 1) {
				return fail("frequency %v, it must be above 0 and at most 1", r.Frequency)
			}
			at := key{k == 1, r.ModelIndex, r.IOIndex}
			if seen[at] {
				return fail("%s %d of prepared model %d has it twice", what, r.IOIndex, r.ModelIndex)
			}
			seen[at] = true
			o := &g.Operands[operands[r.IOIndex]]
			if first {
				common = nn.Operand{Type: o.Type, Scale: o.Scale, ZeroPoint: o.ZeroPoint, Channel: o.Channel, Extension: o.Extension, Dimensions: desc.Dimensions}
				first = false
			}
			if o.Type != common.Type || o.Scale != common.Scale || o.ZeroPoint != common.ZeroPoint || !reflect.DeepEqual(o.Channel, common.Channel) ||
				!bytes.Equal(o.Extension, common.Extension) {
				return fail("%s of scale %v and zero point %d, another role has %s of %v and %d",
					o.Type, o.Scale, o.ZeroPoint, common.Type, common.Scale, common.ZeroPoint)
			}
			if o.Type.IsScalar() {
				if len(desc.Dimensions) > 0 {
					return fail("a scalar %s has no dimensions, %v given", o.Type, desc.Dimensions)
				}
				continue
			}
			dims, err := combine(common.Dimensions, o.Dimensions)
			if err != nil {
				return fail("%w", err)
			}
			common.Dimensions = dims
		}
	}
	if nn.Elements(common.Dimensions) < 0 {
		return nn.Operand{}, invalid(fmt.Errorf("validate: memory: shape %v is too large", common.Dimensions))
	}
	return common, nil
}

// combine are the dimensions that two shapes state together.
func combine(a, b []uint32) ([]uint32, error) {
	if len(a) == 0 {
		return b, nil
	}
	if len(b) == 0 {
		return a, nil
	}
	if !compatibleDims(a, b) {
		return nil, fmt.Errorf("shape %v does not agree with %v", b, a)
	}
	c := append([]uint32(nil), a...)
	for i, d := range b {
		c[i] = max(c[i], d)
	}
	return c, nil
}
