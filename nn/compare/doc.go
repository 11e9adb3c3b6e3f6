// Package compare judges tensors against expected ones. Every command and
// interface that compares results uses it, so that a wrong element is wrong
// everywhere.
//
// An element matches when |actual - expected| <= Abs + Rel * |expected|. A NaN
// matches a NaN only and an infinity only itself, whatever the tolerance.
// Elements that only one side has, another shape, another type, and outputs
// that are missing or too many are differences too.
package compare
