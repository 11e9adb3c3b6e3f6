package nnrt

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
)

// Role is a use of an input or output of a compiled model: an input or output of a
// prepared part.
type Role struct {
	Device   hal.Device
	Prepared hal.PreparedModel
	Input    bool
	Index    uint32
}

// Roles are the uses of input or output i of the model by the parts. An output that
// later parts read has them as inputs, too. ok is false where the uses are not known
// before an execution.
func (c *Compilation) Roles(input bool, i int) (roles []Role, ok bool) {
	g := &c.Model.Main
	list := g.Outputs
	if input {
		list = g.Inputs
	}
	if c.links == nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return c.uses(list[i])
}

// uses are the roles of an operand of the main subgraph.
func (c *Compilation) uses(operand uint32) (roles []Role, ok bool) {
	if c.placed(operand) {
		return nil, false // it is no buffer of its own
	}
	for k := range c.steps {
		s := &c.steps[k]
		for in, operands := range [2][]uint32{s.outputs, s.inputs} {
			if at := slices.Index(operands, operand); at >= 0 {
				if _, open := s.prepared.(unprepared); open {
					return nil, false
				}
				roles = append(roles, Role{s.device, s.prepared, in == 1, uint32(at)})
			}
		}
	}
	return roles, len(roles) > 0
}

// Allocate makes device memory for roles, which must be of one device.
func Allocate(roles []Role, dims []uint32) (hal.Buffer, error) {
	var models []hal.PreparedModel
	var uses [2][]hal.BufferRole // of outputs and inputs
	for _, r := range roles {
		if r.Device != roles[0].Device {
			return nil, hal.Errorf(hal.GeneralFailure, "runtime: the roles are of %s and %s, device memory has one device", roles[0].Device.Name(), r.Device.Name())
		}
		k := slices.Index(models, r.Prepared)
		if k < 0 {
			k = len(models)
			models = append(models, r.Prepared)
		}
		in := 0
		if r.Input {
			in = 1
		}
		if use := (hal.BufferRole{ModelIndex: uint32(k), IOIndex: r.Index, Frequency: 1}); !slices.Contains(uses[in], use) {
			uses[in] = append(uses[in], use)
		}
	}
	if len(roles) == 0 {
		return nil, hal.Errorf(hal.InvalidArgument, "runtime: device memory without a role")
	}
	return guarded.Allocate(roles[0].Device, hal.BufferDesc{Dimensions: dims}, models, uses[1], uses[0])
}
