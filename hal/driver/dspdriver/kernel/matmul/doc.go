// Package matmul has the kernels of products of matrices that are both in memory in
// row-major order: BATCH_MATMUL, and the sums of LSTM gates.
package matmul
