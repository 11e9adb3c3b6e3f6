// Package validate checks the arguments of a HAL service: models before they
// are prepared and requests before they are executed.
//
// A model that passes is well formed: every index is in range, values have
// the size of their type and shape, operands are written once and before they
// are read, operations have the types and arity of their opspec row, the
// quantization parameters that the operation demands, and known shapes that
// agree. What is known only during execution is checked by the execution.
//
// Errors carry the HAL status INVALID_ARGUMENT, the place and the rule.
package validate
