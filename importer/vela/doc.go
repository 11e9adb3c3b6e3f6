// Package vela reads TensorFlow Lite files that Arm's Vela compiled for an
// Ethos-U NPU: a graph in which custom operators named ethos-u carry register
// commands, encoded weights and the size of their working memory, with the
// operators that Vela left to the CPU between them.
//
// Operands of an ethos-u operator: the driver payload with the commands, the
// constants (region 0), the tensor arena (region 1), the fast scratch memory
// (region 2), then the inputs. Offsets of inputs and outputs in the arena are in
// the metadata OfflineMemoryAllocation.
//
// CPU operators become models of NNAPI: each run of them between two ethos-u operators is cut out of the file as a
// separate TensorFlow Lite file, which package tflite imports.
//
// Files may be hostile: every offset, index and size is checked, and memory is
// bounded by the file and MaxArena.
package vela
