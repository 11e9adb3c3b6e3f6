// Package pool has the kernels of windows over an image: AVERAGE_POOL_2D,
// MAX_POOL_2D, MEAN.
package pool
