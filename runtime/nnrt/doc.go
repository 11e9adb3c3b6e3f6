// Package nnrt is the runtime that an application calls: it compiles a model for one
// device or for the best device of each operation, runs the parts in order,
// falls back to the CPU for operations that a device refuses, and compares results with
// the reference.
//
// It accesses devices, the CPU among them, only through hal; it is independent of
// instruction sets. Devices come from a registry.Registry that the caller fills.
// A strategy of package partition chooses the devices; AOSP's rule is the
// default. Parts of a model begin when their inputs are available and their device
// is free, so parts on different devices overlap; under AOSP's rule, or on one
// device with the CPU beside it, they run one after another as in Android. Transferring a
// tensor costs what the devices charge for launches and transfers.
//
// An execution is cut along its data: bindings is what operands hold, parts executes one part on a device or the CPU,
// execution is the order of the parts, control flow between them and their time. Each is embedded in the next and knows
// nothing of it.
package nnrt
