// Package hvxmath emits arithmetic that no instruction has: fixed-point multipliers, rounding shifts, inverse roots,
// and quantization of floats.
package hvxmath
