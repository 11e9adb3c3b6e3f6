// Package numpy is the part of NumPy that specifications use: arrays as Starlark values,
// their arithmetic, and the functions of the module by family. A specification is a program that computes its operands, so
// that what it may call cannot be listed: the functions are those that make, move, round and reduce arrays, and another
// is an error with its name.
//
//	array.go value.go       an array, and its view from Starlark
//	arithmetic.go           operators and comparisons, elementwise
//	functions.go            the module, its functions and constructors of arrays
//	arrange.go pad.go       functions that move elements
//	reduce.go random.go     functions over an axis, random numbers
package numpy
