// Package opspec describes the operations of NNAPI HAL 1.0 to 1.3 and of the
// feature levels above it: one row per operation with its operand types, arity and optional trailing operands. The
// rows are the only place in the project that lists them; validation, the
// reference CPU, the drivers and the manual read them.
//
// On top of the rows it parses an operation into a plain struct (Conv, Pool,
// Elementwise, ...) with implicit padding resolved, layouts and axes made
// explicit and every constant checked, infers output shapes, and holds the
// quantized arithmetic all implementations share: multipliers, activation
// ranges and the fixed-point functions behind softmax and logistic.
//
// Nothing here touches tensor data, except constants that steer an operation.
// A model may be hostile: every function returns an error rather than panic.
//
// Facts: the NNAPI HAL interface definitions, and the behaviour of the NNAPI
// reference CPU; fixed-point primitives after gemmlowp's public definition.
package opspec
