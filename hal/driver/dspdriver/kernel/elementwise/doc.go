// Package elementwise has the kernels whose results depend on the elements at the
// same place of their operands: ADD, SUB and MUL of bytes, table lookups, bounds,
// comparisons, logic and arithmetic on words.
package elementwise
