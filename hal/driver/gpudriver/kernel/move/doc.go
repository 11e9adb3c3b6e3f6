// Package move copies elements: strided copies that concatenate, pad and reorder
// tensors, zeros, and the gather of a convolution's input as a matrix.
package move
