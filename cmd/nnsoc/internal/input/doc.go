// Package input is what commands read: networks by file or name (MODEL), their input tensors and
// shapes, the names of classes, and test vectors.
package input
