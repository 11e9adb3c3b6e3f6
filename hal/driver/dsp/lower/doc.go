// Package lower turns the operations of a graph into steps: one file per family of
// operations, one table from operation to function (operations.go). What is supported is what
// lowers (support.go).
package lower
