// Package graph is the intermediate representation that all drivers share; it depends on no
// device or instruction set.
//
// A Graph is an NNAPI subgraph with, for each operation, the operation of the model
// it stems from. The passes of package pass make it canonical; the tables of package legal
// have a device's action for each of its operations.
//
// Analyses (analysis.go) are values computed from a graph: uses, lifetimes, operands that share
// their bytes. They are valid until the graph changes. Stages (stage.go) cut a graph where
// shapes or parameters of the rest are known only during execution.
// Text and Parse (text.go) write and read a graph.
package graph
