// Package hvxmath emits arithmetic of several instructions: fixed-point multipliers, rounding shifts, inverse roots,
// and quantization of floats.
package hvxmath
