// Package hexagonnn is the graph interface of Qualcomm's Hexagon NN library over a
// NNAPI device, so that code written against hexagon_nn runs here: append nodes,
// prepare, execute, read the cycles of each node, tear down.
//
// A node names an operation (op.go), a padding and the outputs of other nodes that it
// reads. Tensors have four dimensions: batches, height, width, depth. An 8-bit tensor is
// three values: the codes, and the real values of the codes 0 and 255, which are float
// scalars. Filters are height, width, input depth, output depth; windows and strides are
// the shape of a constant whose data are ignored.
//
// Prepare converts the graph to a model for the device: each chain that goes through
// 32-bit sums, such as convolution, bias and Requantize_32to8, becomes one operation,
// ranges become scales and zero points, and the device lowers the rest. Results are
// those of NNAPI's arithmetic, which rounds differently from the library in places. Ranges
// must be constants or ranges of other nodes: the device has no data-dependent
// quantization, so AutoQuantize and QuantizeDownAndShrinkRange_32to8 are refused by name,
// as is every operation without a row in rules.go. Forms that only choose a layout in
// memory (the suffix _d32) or an implementation (_ref) mean the operation itself.
//
// docs/HexagonNN.md maps the parts of Android's driver for Hexagon NN, hvxservice, to
// packages of this project.
package hexagonnn
