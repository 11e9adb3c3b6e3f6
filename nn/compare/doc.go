// Package compare compares tensors with expected ones. Every command and
// interface that compares results uses it, so that all judge an element alike.
//
// An element matches when |actual - expected| <= Abs + Rel * |expected|. A NaN
// matches a NaN only and an infinity only itself, whatever the tolerance.
// Missing or surplus elements and outputs, another shape and another type are
// differences too.
package compare
