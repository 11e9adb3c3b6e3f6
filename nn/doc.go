// Package nn holds the vocabulary of the Android Neural Networks HAL: operand
// and operation types, quantization parameters, models. It has no behaviour
// beyond sizes and names.
//
// Numeric values are those of the HIDL interfaces 1.0 to 1.3
// (hardware/interfaces/neuralnetworks), so they can be stored and exchanged.
// Operations of later feature levels have the numbers of the NDK's
// NeuralNetworksTypes.h; OperationType.Code gives that of experimental ones. Types and
// operations of vendor extensions are a prefix and a number, see extension.go.
package nn
