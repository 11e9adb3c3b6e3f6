// Package hvxmath emits arithmetic that takes several instructions: fixed-point multipliers, rounding shifts, inverse roots,
// and quantization of floats.
package hvxmath
