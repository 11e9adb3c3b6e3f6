// Package nnapi is the interface that Android's NNAPI gives to an app: models
// built operand by operand, compilations, executions, events, bursts and
// memories, with its states and result codes. It runs on devices through package
// nnrt.
//
// The names are those of NeuralNetworks.h without ANeuralNetworks. Functions that return
// a result code there return an error here, whose code CodeOf returns; nil is
// NO_ERROR. Times are simulated.
package nnapi
