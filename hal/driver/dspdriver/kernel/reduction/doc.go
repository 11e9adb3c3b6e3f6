// Package reduction has the kernels that reduce the elements of rows: REDUCE_*,
// ARGMAX, ARGMIN, L2_NORMALIZATION, TOPK_V2.
package reduction
