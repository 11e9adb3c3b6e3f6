// Package graph is the form of a model that the drivers of all devices share on its way to a
// device: it knows no device and no instruction.
//
// A Graph is an NNAPI subgraph with, for each operation, the operation of the model
// it stems from. The passes of package pass make it canonical; the tables of package legal say
// what a device does with each of its operations.
//
// Analyses (analysis.go) are values computed from a graph: who reads what, when a
// value is needed, which operands share their bytes. They hold until the graph
// changes. Stages (stage.go) cut a graph where only an execution knows how it goes on.
// Text and Parse (text.go) write and read a graph.
package graph
