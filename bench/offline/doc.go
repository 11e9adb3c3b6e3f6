// Package offline compiles networks for Arm's Ethos-U driver stack, as Vela does: the operations
// that the NPU's driver takes become custom operators "ethos-u" of a TensorFlow Lite file, whose
// operands are a driver payload, constants and working memory, and the others stay operators
// of the CPU.
//
// The file is read again before it is returned, as package importer/vela reads Vela's files.
package offline
