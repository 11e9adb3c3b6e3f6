// Package lower turns the operations of a graph into steps. It keeps what an operation meets: the
// values of the graph in memory, each in a form (layouts.go) or flat (flat.go). Package family has
// the functions that lower operations. What is supported is what lowers (support.go).
package lower
