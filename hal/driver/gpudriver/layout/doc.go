// Package layout is how the GPU keeps tensors and constants in memory: dense NHWC
// tensors in one arena, packed weights and tables in a read-only region beside it.
package layout
