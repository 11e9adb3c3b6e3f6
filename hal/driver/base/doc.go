// Package base is the HAL contract around a lowering: what every driver owes
// its callers and no driver should write again. A driver brings a Compiler, its
// capabilities and a name; base.New makes the hal.Device of them.
//
// Base validates: no driver code sees a model, options or a request that breaks
// a rule of the HAL; the caller gets INVALID_ARGUMENT (or, for a short output
// buffer, OUTPUT_INSUFFICIENT_SIZE with the shapes). Base contains: a panic of
// driver code is a GENERAL_FAILURE that names the device, the call and the
// source line. Base checks answers: a support query that answers for too few
// operations or a refusal without a reason is an error of the driver.
//
// It knows no device, no graph and no instruction.
package base
