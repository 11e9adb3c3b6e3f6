// Package onnxfile is the file format of ONNX: protocol buffers of messages whose fields
// are numbered by the specification's onnx.proto (ModelProto, GraphProto, NodeProto,
// AttributeProto, TensorProto, ValueInfoProto, FunctionProto).
//
// The structs of types.go have those numbers in tags, by which Read and Append go: a field more is a line there.
//
// Read parses a file into Go values that alias it, with bounds on depth, messages and
// decoded lists; fields that no reader needs (documentation, metadata, training) are
// skipped. Append is its inverse. Operators are not interpreted.
package onnxfile
