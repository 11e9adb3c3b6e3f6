// Package nnrt is what an application talks to: it compiles a model for one
// device or for the best device of each operation, runs the parts in order,
// falls back to the CPU for what a device declines, and compares results with
// the reference.
//
// It sees devices, the CPU among them, only through hal; it never sees an
// instruction. Devices come from a registry.Registry that the caller fills.
// A strategy of package partition chooses the devices; AOSP's rule is the
// default. Parts of a model begin when what they read is there and their device
// is free, so parts on different devices overlap; under AOSP's rule, or on one
// device with the CPU beside it, they follow each other as in Android. Handing a
// tensor over costs what the devices charge for launches and transfers.
package nnrt
