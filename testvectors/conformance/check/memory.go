package check

import (
	"bytes"
	"errors"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Shared is the request of an adder in one memory: inputs at odd offsets, the output
// behind them.
func Shared(m *nn.Model) (r *hal.Request, memory *hal.Memory, want []byte) {
	in, want := Values(m.Main.Operands[0].Type)
	n := uint32(len(want))
	memory = hal.NewMemory(int(3*n + 7))
	copy(memory.Data[1:], in[0])
	copy(memory.Data[3+n:], in[1])
	at := func(offset uint32) hal.RequestArgument {
		return hal.RequestArgument{Location: hal.DataLocation{Offset: offset, Length: n}}
	}
	return &hal.Request{Inputs: []hal.RequestArgument{at(1), at(3 + n)}, Outputs: []hal.RequestArgument{at(6 + 2*n)}, Pools: []hal.RequestPool{{Memory: memory}}}, memory, want
}

// DeviceMemory is the buffer of a valid call of allocate. A driver may have no device memory (E1-4) and reports that
// with GENERAL_FAILURE: the buffer is nil.
func (t *T) DeviceMemory(b hal.Buffer, err error) hal.Buffer {
	if hal.StatusOf(err) == hal.GeneralFailure {
		t.Check(b == nil, "allocate: there is a buffer beside %v", err)
		return nil
	}
	t.OK("allocate", err)
	return b
}

// Allocate makes device memory that so many inputs and outputs of an adder can use. A check
// that needs it does not concern a driver that has none.
func (t *T) Allocate(p hal.PreparedModel, inputs, outputs int) hal.Buffer {
	b := t.TryAllocate(p, inputs, outputs)
	if b == nil {
		t.Skipf("%s has no device memory", t.Device.Name())
	}
	return b
}

// TryAllocate is allocate, but nil for a driver without device memory.
func (t *T) TryAllocate(p hal.PreparedModel, inputs, outputs int) hal.Buffer {
	var in, out []hal.BufferRole
	for i := range inputs {
		in = append(in, hal.BufferRole{IOIndex: uint32(i), Frequency: 1})
	}
	for i := range outputs {
		out = append(out, hal.BufferRole{IOIndex: uint32(i), Frequency: 0.5})
	}
	b := t.DeviceMemory(t.Device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, in, out))
	t.Check(b == nil || b.Token() != 0, "token 0")
	return b
}

// WithToken makes an argument of a request device memory.
func WithToken(r *hal.Request, a *hal.RequestArgument, token uint32) {
	r.Pools = append(r.Pools, hal.RequestPool{Token: token})
	*a = hal.RequestArgument{Location: hal.DataLocation{PoolIndex: uint32(len(r.Pools) - 1)}}
}

// ShareOutput is the request of an adder; quantized adders scale their output by two, so
// that only the first input can share memory with others of its kind.
func ShareOutput(m *nn.Model, b hal.Buffer) (r *hal.Request, want []byte) {
	buffers, want := Sums(m)
	if err := b.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: buffers.Inputs[0]}, nil); err != nil {
		return nil, nil
	}
	r = buffers.Request()
	return r, want
}

// ShareInput reads the first input from device memory.
func ShareInput(m *nn.Model, b hal.Buffer) (r *hal.Request, out, want []byte) {
	buffers, want := Sums(m)
	r = buffers.Request()
	WithToken(r, &r.Inputs[0], b.Token())
	return r, buffers.Outputs[0], want
}

// MemoryFile is a cache file in memory. It implements hal.CacheFile.
type MemoryFile struct {
	Data              []byte
	ReadOnly, NoReads bool
	Touch             func(f *MemoryFile) // called after each read or write
}

var errAccess = errors.New("access denied")

func (f *MemoryFile) ReadAt(b []byte, at int64) (int, error) {
	if f.NoReads {
		return 0, errAccess
	}
	n := 0
	if at < int64(len(f.Data)) {
		n = copy(b, f.Data[at:])
	}
	if f.Touch != nil {
		f.Touch(f)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *MemoryFile) WriteAt(b []byte, at int64) (int, error) {
	if f.ReadOnly {
		return 0, errAccess
	}
	if end := at + int64(len(b)); end > int64(len(f.Data)) {
		f.Data = append(f.Data, make([]byte, end-int64(len(f.Data)))...)
	}
	copy(f.Data[at:], b)
	if f.Touch != nil {
		f.Touch(f)
	}
	return len(b), nil
}

func (f *MemoryFile) Truncate(n int64) error {
	if f.ReadOnly {
		return errAccess
	}
	if n < int64(len(f.Data)) {
		f.Data = f.Data[:n]
	}
	return nil
}

// Files are the two files of a cache with the handles that carry them.
type Files struct{ Model, Data *MemoryFile }

func NewFiles() *Files { return &Files{&MemoryFile{}, &MemoryFile{}} }

func (f *Files) Cache() hal.Cache {
	return hal.Cache{Model: []hal.CacheHandle{{f.Model}}, Data: []hal.CacheHandle{{f.Data}}, Token: hal.CacheToken{1, 2, 3}}
}

// CopyOf is the same content in other files.
func (f *Files) CopyOf() *Files {
	return &Files{&MemoryFile{Data: bytes.Clone(f.Model.Data)}, &MemoryFile{Data: bytes.Clone(f.Data.Data)}}
}
