// Package offline compiles networks for Arm's Ethos-U driver stack, as Vela does: the operations
// that the NPU's driver accepts become custom operators "ethos-u" of a TensorFlow Lite file, whose
// operands are a driver payload, constants and working memory; the others remain operators
// of the CPU.
//
// Before it is returned the file is parsed again by package importer/vela, which reads Vela's files.
package offline
