// Package builder builds models in Go programs: an operation is a method call,
// shapes are inferred, and layers get synthetic weights and quantization.
//
// There are two levels, which mix freely:
//
//   - Operand, Constant and Apply add single operands and operations, with the
//     values that the caller has. Apply infers the shape of the output by the
//     rules of package opspec.
//   - Image, Conv, Depthwise, Dense, Concat and the other layers also make
//     weights, biases and quantization parameters. A network with the shapes of
//     a published one is a few lines of code and needs no file.
//
// Activations are NHWC. A Builder keeps the first error and ignores the calls
// after it, so a network is written without error checks; Model returns it.
//
// Weights are bell-shaped, reproducible on every machine, and sum to zero per
// output channel. The builder carries an estimate of the mean and the standard
// deviation of each activation (Spread) and scales the weights of a layer so
// that the values before its activation have a deviation of 2. Activations
// therefore neither vanish nor explode with depth, ranges for quantization
// follow from the estimate, and the float and the quantized form of a network
// compute the same function up to rounding.
//
// Synthetic weights cannot show accuracy, nor sparsity that results from training.
package builder
