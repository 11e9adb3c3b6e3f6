// Package resize has the kernels of RESIZE_BILINEAR.
package resize
