package velatest

// Mixed is a network of [1,4,4,8] int8 in which the CPU works before and after
// the NPU: RELU, then an ethos-u operator with that payload that reads its input
// at 0 and writes its output at 128 of an arena of 256 bytes, then RELU6. The
// NPU's output is the network's second output.
func Mixed(payload []byte) *File {
	shape := []int32{1, 4, 4, 8}
	q := func(name string, offset int32) Tensor {
		return Tensor{Name: name, Type: Int8, Shape: shape, Scale: 0.1, ZeroPoint: -4, Offset: offset}
	}
	constant := func(name string, data []byte) Tensor {
		return Tensor{Name: name, Type: UInt8, Shape: []int32{int32(len(data))}, Data: data, Offset: -1}
	}
	scratch := func(name string, bytes int32) Tensor {
		return Tensor{Name: name, Type: UInt8, Shape: []int32{bytes}, Offset: 0}
	}
	return &File{
		Tensors: []Tensor{
			0: constant("command_stream", payload), 1: constant("flash", make([]byte, 16)),
			2: scratch("scratch", 256), 3: scratch("scratch_fast", 64),
			4: q("input", 0), 5: q("before", 0), 6: q("npu", 128), 7: q("after", 128),
		},
		Operators: []Operator{
			{Builtin: 19, Inputs: []int32{4}, Outputs: []int32{5}},
			{Custom: "ethos-u", Inputs: []int32{0, 1, 2, 3, 5}, Outputs: []int32{6}},
			{Builtin: 21, Inputs: []int32{6}, Outputs: []int32{7}},
		},
		Inputs: []int32{4}, Outputs: []int32{7, 6},
	}
}
