// Package layout defines how the GPU stores tensors and constants in memory: dense NHWC
// tensors in one arena, packed weights and tables in a read-only region beside it.
package layout
