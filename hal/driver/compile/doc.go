// Package compile is the way from a model to a program, once for all drivers. A driver provides a Lowering; New makes
// a base.Compiler of it, which package base puts behind the contract of the HAL.
//
//	lowering.go      model, graph, passes, stages, each lowered: when the model is prepared, or when an execution brings
//	                 parameters and shapes; a support query is the trial that stops before lowering
//	legalization.go  what the table of a device and the lowerings of its user accept
//	alternative.go   operations that a pass expands where that is cheaper
//	operation.go     operations and lowerings that a device's user adds
//	staged.go        a model as stages, and their execution
//	control.go       IF and WHILE between stages
//	cache.go         programs saved and loaded
//	inspect.go       candidates, cascades, explanations of steps
//
// It knows no device and no instruction set.
package compile
