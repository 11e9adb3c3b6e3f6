// Package lower lowers the operations of a graph to steps. It keeps the state of the lowering: the
// values of the graph in memory, each in a layout (layouts.go) or flat (flat.go). Package family has
// the functions that lower operations. An operation is supported if it can be lowered (support.go).
package lower
