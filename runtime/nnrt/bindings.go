package nnrt

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// value is what an operand holds in an execution. Operands of a subgraph share the
// values of its caller's.
type value struct {
	data   []byte     // nil for an input that is left out, and for device memory
	dims   []uint32   // nil while they are not known
	buffer hal.Buffer // device memory
}

// bindings is what the operands of an execution hold. In the order of the calls: allocateDeviceMemory once; enter when control
// reaches a subgraph, pass where its inputs are values of the caller; for each part outputMemory, request and, where the
// CPU takes over from a device, fetch; release and releaseMemory once.
type bindings struct {
	*Compilation
	frames        [][]*value // by source and operand
	deviceBuffers []hal.Buffer
	main          *frame
	pool          []byte // of the temporaries between steps, made by the first of them
}

// enter gives a source values of its own: constants, and for the rest the shapes that
// its model knows.
func (v *bindings) enter(source int) []*value {
	var f *frame
	if source == 0 { // once in an execution: one of an earlier execution serves
		if f, _ = v.idle.Acquire(nil); f == nil {
			f = newFrame(v.sources[0].values)
		}
		copy(f.values, v.sources[0].values)
		v.main = f
	} else {
		f = newFrame(v.sources[source].values)
	}
	v.frames[source] = f.operands
	return f.operands
}

// frame are the values of a subgraph's operands.
type frame struct {
	values   []value
	operands []*value // they may be values of the caller's
}

func newFrame(values []value) *frame {
	f := &frame{values: slices.Clone(values), operands: make([]*value, len(values))}
	for i := range f.operands {
		f.operands[i] = &f.values[i]
	}
	return f
}

// releaseMemory frees the frame of the main subgraph and device memory.
func (v *bindings) releaseMemory() {
	v.release()
	clear(v.main.values)
	v.idle.Put(v.main, nil)
}

// valuesOf are the values of a subgraph's operands before an execution: constants and
// known shapes.
func valuesOf(g *nn.Subgraph) []value {
	values := make([]value, len(g.Operands))
	for i := range values {
		o := &g.Operands[i]
		if o.IsConst() {
			values[i].data = o.Data
		}
		if o.Known() {
			values[i].dims = o.Dimensions
		}
	}
	return values
}

// pass enters a source with values as its inputs.
func (v *bindings) pass(source int, inputs []*value) {
	in := v.enter(source)
	for k, x := range v.sources[source].model.Main.Inputs {
		in[x] = inputs[k]
	}
}

// outputMemory is memory of n bytes for an output of a step: a part of the pool, or a separate
// allocation.
func (v *bindings) outputMemory(source int, operand uint32, n int64) []byte {
	if source == 0 && v.placed(operand) {
		return v.memoryOf(operand, n)
	}
	p := v.sources[source].places[operand]
	if p.bytes == 0 || n != p.bytes {
		return make([]byte, n)
	}
	return v.fromPool(p)
}

// fromPool is a place in the pool of temporaries.
func (v *bindings) fromPool(p place) []byte {
	if v.pool == nil {
		v.pool = make([]byte, v.poolBytes)
	}
	return v.pool[p.offset : p.offset+p.bytes : p.offset+p.bytes]
}

// openBytes are the bytes of the tensors whose shapes the model does not know, but for one that is about to be replaced.
func (v *bindings) openBytes(but *value) (n int64) {
	seen := map[*value]bool{but: true}
	for source, operands := range v.frames {
		for i, x := range operands {
			if o := &v.sources[source].model.Main.Operands[i]; !o.Known() && !o.Type.IsScalar() && x != nil && !seen[x] {
				seen[x] = true
				n += int64(len(x.data))
			}
		}
	}
	return n
}

// allocateDeviceMemory allocates memory of the devices for tensors that stay on one.
func (v *bindings) allocateDeviceMemory() {
	for _, h := range v.handovers {
		if b, err := Allocate(h.roles, nil); err == nil {
			v.frames[0][h.operand].buffer = b
			v.deviceBuffers = append(v.deviceBuffers, b)
		}
	}
}

// release frees that memory. Executions that were started with it continue.
func (v *bindings) release() {
	for _, b := range v.deviceBuffers {
		b.Release()
	}
	v.deviceBuffers = nil
}

// request makes a request of buffers, with device memory where operands lie in it.
func (v *bindings) request(s *step, req *hal.Buffers) *hal.Request {
	r, f := req.Request(), v.frames[s.source]
	for k, args := range [2][]hal.RequestArgument{r.Inputs, r.Outputs} {
		for i, x := range [2][]uint32{s.inputs, s.outputs}[k] {
			b := f[x].buffer
			if b == nil {
				continue
			}
			if args[i].HasNoValue { // an input, which has no pool yet
				r.Pools = append(r.Pools, hal.RequestPool{})
				args[i].Location.PoolIndex = uint32(len(r.Pools) - 1)
			}
			pool := args[i].Location.PoolIndex
			r.Pools[pool] = hal.RequestPool{Token: b.Token()}
			args[i] = hal.RequestArgument{Location: hal.DataLocation{PoolIndex: pool}}
		}
	}
	return r
}

// fetch copies the device memory of a step's operands to plain memory, for a device
// that cannot name it. Returned is what writes the outputs back.
func (v *bindings) fetch(s *step) (writeBack func() error, err error) {
	f := v.frames[s.source]
	for _, x := range s.inputs {
		if b := f[x].buffer; b != nil {
			if f[x].data, err = fetched(b); err != nil {
				return nil, err
			}
			f[x].buffer = nil
		}
	}
	to := map[uint32]hal.Buffer{}
	for _, x := range s.outputs {
		if b := f[x].buffer; b != nil {
			to[x], f[x].buffer = b, nil
		}
	}
	return func() error {
		for _, x := range s.outputs {
			if to[x] == nil {
				continue
			}
			if err := to[x].CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: f[x].data, ReadOnly: true}, f[x].dims); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// fetched is the value of device memory.
func fetched(b hal.Buffer) ([]byte, error) {
	n := b.Bytes()
	if n < 0 || n > maxDynamicBytes {
		return nil, hal.Errorf(hal.GeneralFailure, "runtime: device memory of %d bytes cannot be moved to the CPU, at most %d", n, maxDynamicBytes)
	}
	m := hal.NewMemory(n)
	return m.Data, b.CopyTo(m)
}
