package base

import (
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// OperationLowering is a lowering that the author of a driver gives to a device in its
// Config, from outside this module: for an operation that the device does not have, or
// that it shall compute otherwise. L is what the device's own lowerings work with. It
// must be usable from several goroutines.
type OperationLowering[L any] interface {
	// Identity names the lowering and its version, such as "acme/gelu-2". It becomes a
	// part of the device's version, so that a compilation cache does not return what
	// another version has made.
	Identity() string
	// Check returns nil for an operation that Lower lowers, and why not for any other.
	// Support queries and compilations ask it first, and ask the device's own
	// lowerings where it refuses. Shapes and parameters may be unknown.
	Check(v opspec.View, op *nn.Operation) error
	// Lower lowers an operation that Check has accepted, with known shapes.
	Lower(l L, op *nn.Operation) error
}

// Choose returns the first lowering that takes an operation, nil when none does.
func Choose[L any](list []OperationLowering[L], v opspec.View, op *nn.Operation) OperationLowering[L] {
	for _, o := range list {
		if o.Check(v, op) == nil {
			return o
		}
	}
	return nil
}

// Identity is the version of a device with lowerings of its user.
func Identity[L any](version string, list []OperationLowering[L]) string {
	s := []string{version}
	for _, o := range list {
		s = append(s, o.Identity())
	}
	return strings.Join(s, "+")
}
