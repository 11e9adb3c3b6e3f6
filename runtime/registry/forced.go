package registry

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/nn"
)

// forced is a type of operation that a device must decline, although its
// driver may support it.
type forced struct {
	op     nn.OperationType
	sample bool   // some operations of all types instead
	device string // "" is every device but the CPU
}

// ForceUnsupported keeps a type of operation away from a device, or from every
// device but the CPU: OP or OP:DEVICE, as AOSP's drivers have it for tests. The name
// SampleOperations removes about half of what a device supports: which operations
// follows from the device, their type and the types and shapes of their operands, as with
// debug.nn.sample.supported of AOSP's runtime.
func (r *Registry) ForceUnsupported(rule string) error {
	name, device, one := strings.Cut(rule, ":")
	op, ok := nn.ParseOperationType(name)
	if !ok && name != SampleOperations {
		return fmt.Errorf("runtime: no operation %q in %q; names are as in CONV_2D", name, rule)
	}
	if one {
		i, err := r.Index(device)
		if err != nil {
			return err
		}
		if i == 0 {
			return fmt.Errorf("runtime: %q: %s runs what other devices decline", rule, device)
		}
	}
	r.forced = append(r.forced, forced{op, name == SampleOperations, device})
	return nil
}

// SampleOperations stands for a type of operation in ForceUnsupported.
const SampleOperations = "sample"

// sampled reports whether a sample of the operations of a device leaves one out.
func sampled(device string, g *nn.Subgraph, op *nn.Operation) bool {
	h := fnv.New32a()
	fmt.Fprint(h, device, op.Type)
	for _, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, x := range list {
			fmt.Fprint(h, g.Operands[x].Type, g.Operands[x].Dimensions)
		}
	}
	return h.Sum32()>>16&1 == 1
}

// Force applies the rules to the result of a device's support query.
func (r *Registry) Force(m *nn.Model, device string, support []hal.Support) []hal.Support {
	if device == r.CPU().Name() {
		return support
	}
	for _, f := range r.forced {
		if f.device != "" && f.device != device {
			continue
		}
		for i := range support {
			op := &m.Main.Operations[i]
			switch {
			case !support[i].OK:
			case f.sample && sampled(device, &m.Main, op):
				support[i] = hal.Support{Reason: fmt.Sprintf("this %v is not in the sample of supported operations", op.Type)}
			case !f.sample && op.Type == f.op:
				support[i] = hal.Support{Reason: fmt.Sprintf("%v is forced unsupported", f.op)}
			}
		}
	}
	return support
}

// ForceVersion makes the driver of a device one of an old version of the HAL:
// DEVICE:VERSION, as in dsp:1.1.
func (r *Registry) ForceVersion(rule string) error {
	device, version, _ := strings.Cut(rule, ":")
	i, err := r.Index(device)
	if err != nil {
		return err
	}
	for v := compat.V1_0; v <= compat.V1_3; v++ {
		if v.String() == version && i > 0 {
			r.devices[i] = compat.Adapt(v, r.devices[i])
			return nil
		}
	}
	if i == 0 {
		return fmt.Errorf("runtime: %q: %s is the runtime's own and has no HAL version", rule, device)
	}
	return fmt.Errorf("runtime: no HAL version %q in %q; there are 1.0, 1.1, 1.2, 1.3", version, rule)
}
