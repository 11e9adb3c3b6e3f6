// Package base implements the HAL contract around a lowering, once for all drivers. A driver
// provides a Compiler, its capabilities and a name; base.New returns a hal.Device.
//
// Base validates: no driver code sees a model, options or a request that breaks
// a rule of the HAL; the caller gets INVALID_ARGUMENT (or, for a short output
// buffer, OUTPUT_INSUFFICIENT_SIZE with the shapes). Base contains panics: one in
// driver code is a GENERAL_FAILURE that names the device, the call and the
// source line. Base checks results: a support query that covers too few
// operations or a refusal without a reason is an error of the driver.
//
// It knows no device, no pass and no instruction set: package compile has the way from a model to a program.
package base
