// Package validate checks what a HAL service may be handed: models before they
// are prepared and requests before they are executed.
//
// A model that passes is well formed: every index names something, values have
// the size their type and shape say, operands are written once and before they
// are read, operations have the types and arity of their opspec row, the
// quantization parameters that the operation demands, and known shapes that
// agree. What only an execution can know is left to the execution.
//
// Errors carry the HAL status INVALID_ARGUMENT and say where and which rule.
package validate
