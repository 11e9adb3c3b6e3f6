package hal

import "fmt"

// Request is one execution: the locations of its inputs and outputs.
type Request struct {
	Inputs, Outputs []RequestArgument
	Pools           []RequestPool
}

// RequestArgument is one input or output of a request: a dense row-major little-endian
// value at a location in a pool.
type RequestArgument struct {
	// HasNoValue leaves an optional operand out; all else is zero then.
	HasNoValue bool
	Location   DataLocation
	// Dimensions completes the model's dimensions; without any, the model's hold.
	Dimensions []uint32
}

// DataLocation is a part of a pool.
type DataLocation struct {
	PoolIndex      uint32
	Offset, Length uint32 // bytes
}

// RequestPool is a shared memory, or the token of device memory.
type RequestPool struct {
	Memory *Memory
	Token  uint32 // of a Buffer; used when Memory is nil
}

// Buffers is a request on plain buffers, in the order of the main subgraph's inputs and
// outputs. It is what a driver sees of a Request, and the short form for callers that
// share no memory.
type Buffers struct {
	// An input without bytes is left out.
	Inputs, Outputs [][]byte
	// InputDimensions complete the shapes of inputs that the model leaves open; nil, or
	// nil for an input, where the model or the length of the buffer determines them.
	InputDimensions [][]uint32
	// DeviceInputs and DeviceOutputs mark operands in memory of the device, which is already
	// mapped and needs no cache maintenance. nil: no operand is.
	DeviceInputs, DeviceOutputs []bool
	ExecuteOptions
}

// Request makes each buffer a pool of its own.
func (b *Buffers) Request() *Request {
	r := &Request{}
	argument := func(data []byte, input bool) RequestArgument {
		if input && len(data) == 0 {
			return RequestArgument{HasNoValue: true}
		}
		r.Pools = append(r.Pools, RequestPool{Memory: &Memory{Name: Ashmem, Data: data, ReadOnly: input}})
		return RequestArgument{Location: DataLocation{PoolIndex: uint32(len(r.Pools) - 1), Length: uint32(len(data))}}
	}
	for i, data := range b.Inputs {
		r.Inputs = append(r.Inputs, argument(data, true))
		if i < len(b.InputDimensions) && len(data) > 0 {
			r.Inputs[i].Dimensions = b.InputDimensions[i]
		}
	}
	for _, data := range b.Outputs {
		r.Outputs = append(r.Outputs, argument(data, false))
	}
	return r
}

// Execute runs a prepared model on plain buffers.
func Execute(p PreparedModel, b *Buffers) (*Result, error) {
	if b == nil {
		return p.Execute(nil, ExecuteOptions{})
	}
	return p.Execute(b.Request(), b.ExecuteOptions)
}

// Buffers are the buffers that the arguments of a request name. Device memory and
// locations outside their pools are errors.
func (r *Request) Buffers() (inputs, outputs [][]byte, err error) {
	for i := range r.Inputs {
		b, err := r.data(&r.Inputs[i])
		if err != nil {
			return nil, nil, fmt.Errorf("input %d: %w", i, err)
		}
		inputs = append(inputs, b)
	}
	for i := range r.Outputs {
		b, err := r.data(&r.Outputs[i])
		if err != nil {
			return nil, nil, fmt.Errorf("output %d: %w", i, err)
		}
		outputs = append(outputs, b)
	}
	return inputs, outputs, nil
}

// data is the part of a pool that an argument names; nil when it has no value.
func (r *Request) data(a *RequestArgument) ([]byte, error) {
	if a.HasNoValue {
		return nil, nil
	}
	l := a.Location
	if uint64(l.PoolIndex) >= uint64(len(r.Pools)) {
		return nil, Errorf(InvalidArgument, "pool %d of %d", l.PoolIndex, len(r.Pools))
	}
	m := r.Pools[l.PoolIndex].Memory
	if m == nil {
		return nil, Errorf(InvalidArgument, "pool %d is device memory", l.PoolIndex)
	}
	end := uint64(l.Offset) + uint64(l.Length)
	if end > uint64(len(m.Data)) {
		return nil, Errorf(InvalidArgument, "%d bytes at offset %d of pool %d, which has %d bytes", l.Length, l.Offset, l.PoolIndex, len(m.Data))
	}
	return m.Data[l.Offset:end:end], nil
}
