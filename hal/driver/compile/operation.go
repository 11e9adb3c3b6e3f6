package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// OperationLowering is a lowering that the author of a driver gives to a device in its
// Config, from outside this module: for an operation that the device does not have, or
// that it shall compute otherwise. L is the argument of the device's own lowerings. It
// must be usable from several goroutines.
type OperationLowering[L any] interface {
	// Identity names the lowering and its version, such as "acme/gelu-2". It becomes a
	// part of the device's version, so that a compilation cache does not return what
	// another version has made.
	Identity() string
	// Check returns nil for an operation that Lower lowers, and why not for any other.
	// Support queries and compilations call it first, and use the device's own
	// lowerings where it refuses. Shapes and parameters may be unknown.
	Check(v opspec.View, op *nn.Operation) error
	// Lower lowers an operation that Check has accepted, with known shapes.
	Lower(l L, op *nn.Operation) error
}

// Operation is an operation of a vendor extension that the author of a driver adds to a device in
// its Config. Models name the extension; they may use any prefix for it.
type Operation[L any] struct {
	// Row describes the operation: the extension, types, arguments, shape rule, work. Its code
	// has a prefix that no other extension of the device has.
	Row opspec.Row
	// Types are the operand types of the extension, for getSupportedExtensions.
	Types []hal.ExtensionOperandType
	// Lowering is how the device computes it.
	Lowering OperationLowering[L]
}

// Extended is a device with operations of its user: the operations that its models may have, the
// extensions that it lists, the lowerings that it queries first.
type Extended[L any] struct {
	Table      *opspec.Table // nil: the standard one
	Extensions []hal.Extension
	Lowerings  []OperationLowering[L]
}

// Extend adds operations to a device that has some of this project's extensions.
func Extend[L any](extensions []string, lowerings []OperationLowering[L], list []Operation[L]) (x Extended[L], err error) {
	x.Lowerings = slices.Clone(lowerings)
	for _, name := range extensions {
		x.Extensions = append(x.Extensions, hal.VendorExtension(name))
	}
	for i := range list {
		o := &list[i]
		if o.Lowering == nil {
			return x, fmt.Errorf("base: %s of %s has no lowering", o.Row.Op, o.Row.Extension)
		}
		if x.Table, err = x.Table.With(o.Row); err != nil {
			return x, err
		}
		at := slices.IndexFunc(x.Extensions, func(e hal.Extension) bool { return e.Name == o.Row.Extension })
		if at < 0 {
			at, x.Extensions = len(x.Extensions), append(x.Extensions, hal.Extension{Name: o.Row.Extension})
		}
		e := &x.Extensions[at]
		for _, t := range o.Types {
			if !slices.Contains(e.OperandTypes, t) {
				e.OperandTypes = append(e.OperandTypes[:len(e.OperandTypes):len(e.OperandTypes)], t)
			}
		}
		x.Lowerings = append(x.Lowerings, o.Lowering)
	}
	return x, nil
}

// Choose returns the first lowering that accepts an operation, nil when none does.
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
