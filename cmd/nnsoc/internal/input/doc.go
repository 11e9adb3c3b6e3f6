// Package input reads the input of commands: networks by file or name (MODEL), their input tensors and shapes, the
// names of classes, and test vectors.
package input
