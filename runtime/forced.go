package nnrt

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// forced is a type of operation that a device must not take, although its
// driver might.
type forced struct {
	op     nn.OperationType
	device string // "" is every device but the CPU
}

// ForceUnsupported keeps a type of operation away from a device, or from every
// device but the CPU: OP or OP:DEVICE, as AOSP's drivers have it for tests.
func (r *Registry) ForceUnsupported(rule string) error {
	name, device, one := strings.Cut(rule, ":")
	op, ok := nn.ParseOperationType(name)
	if !ok {
		return fmt.Errorf("runtime: no operation %q in %q; names are as in CONV_2D", name, rule)
	}
	if one {
		i, err := r.index(device)
		if err != nil {
			return err
		}
		if i == 0 {
			return fmt.Errorf("runtime: %q: %s takes what other devices decline", rule, device)
		}
	}
	r.forced = append(r.forced, forced{op, device})
	return nil
}

// force applies the rules to the answer of a device.
func (r *Registry) force(m *nn.Model, device string, support []hal.Support) []hal.Support {
	if device == r.CPU().Name() {
		return support
	}
	for _, f := range r.forced {
		if f.device != "" && f.device != device {
			continue
		}
		for i := range support {
			if m.Main.Operations[i].Type == f.op && support[i].OK {
				support[i] = hal.Support{Reason: fmt.Sprintf("%v is forced unsupported", f.op)}
			}
		}
	}
	return support
}

// SpeakVersion makes the driver of a device one of an old version of the HAL:
// DEVICE:VERSION, as in dsp:1.1.
func (r *Registry) SpeakVersion(rule string) error {
	device, version, _ := strings.Cut(rule, ":")
	i, err := r.index(device)
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
		return fmt.Errorf("runtime: %q: %s is the runtime's own and speaks no version", rule, device)
	}
	return fmt.Errorf("runtime: no HAL version %q in %q; there are 1.0, 1.1, 1.2, 1.3", version, rule)
}
