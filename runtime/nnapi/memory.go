package nnapi

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// Memory is a region that an app shares with the runtime, or the opaque memory
// of a MemoryDesc.
type Memory struct {
	data    []byte
	private bool // a hardware buffer whose layout only its maker knows
	// readOnly memory is of a file that the runtime cannot write.
	readOnly bool

	// Of a MemoryDesc:
	roles   []role // nil for a region
	operand nn.Operand
	buffer  hal.Buffer // device memory; nil if it is in memory that processors share

	mu          sync.Mutex
	initialized bool
	free        bool
}

// isWritten reports whether opaque memory holds a value.
func (m *Memory) isWritten() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.initialized
}

// written notes that opaque memory holds a value.
func (m *Memory) written() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.initialized = true
}

// invalidate notes that an execution or a copy is about to write opaque memory.
func (m *Memory) invalidate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.initialized = false
}

// Free is Memory_free: device memory ends with it. A second call does nothing.
func (m *Memory) Free() {
	if m == nil {
		return
	}
	m.mu.Lock()
	freed := m.free
	m.free = true
	m.mu.Unlock()
	if m.buffer != nil && !freed {
		m.buffer.Release()
	}
}

// isFree reports whether the app has freed the memory. Models that share a region and
// executions that have it as an argument keep it.
func (m *Memory) isFree() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.free
}

// NewMemory returns a region of n bytes, as of an AHardwareBuffer of blob format.
func NewMemory(n int) *Memory { return &Memory{data: make([]byte, n)} }

// Protection is what may be done with the memory of a file, with the values of mmap.
type Protection int

// Protections.
const (
	ProtectRead  Protection = 1
	ProtectWrite Protection = 2
)

// NewMemoryFromFile is Memory_createFromFd: size bytes of a file from an offset on, on any
// byte, to read, or with ProtectWrite to write as well. The memory is the file's own, so what is written later to either is in both; the
// file may be closed, but not be cut short while the memory is in use. Outputs need a file
// that was opened for reading and writing. Systems other than Unix copy the bytes.
func NewMemoryFromFile(f *os.File, protect Protection, size int, offset int64) (*Memory, error) {
	const call = "Memory_createFromFd"
	if f == nil {
		return nil, fail(UnexpectedNull, "%s: no file", call)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fail(Unmappable, "%s: %w", call, err)
	}
	if size <= 0 {
		return nil, fail(BadData, "%s: %d bytes", call, size)
	}
	if offset < 0 || int64(size) > info.Size()-offset {
		return nil, fail(Unmappable, "%s: %d bytes at offset %d of %s, which has %d", call, size, offset, f.Name(), info.Size())
	}
	if protect&ProtectRead == 0 {
		return nil, fail(BadData, "%s: protection %d does not let anybody read", call, protect)
	}
	m := &Memory{readOnly: protect&ProtectWrite == 0}
	if err := m.share(f, size, offset); err != nil {
		return nil, fail(Unmappable, "%s: %s: %w", call, f.Name(), err)
	}
	return m, nil
}

// Data are the bytes of a region; nil for the memory of a MemoryDesc. Those of a file are
// there as long as the Memory is reachable.
func (m *Memory) Data() []byte {
	if m.roles != nil {
		return nil
	}
	return m.data
}

// HardwareBufferFormat is the format of an AHardwareBuffer.
type HardwareBufferFormat int

// Formats: bytes, and an example of a vendor's own layout.
const (
	FormatRGBA8 HardwareBufferFormat = 1
	FormatBlob  HardwareBufferFormat = 0x21
)

// HardwareBuffer is an AHardwareBuffer: memory that processors share.
type HardwareBuffer struct {
	Format HardwareBufferFormat
	Data   []byte
}

// NewMemoryFromHardwareBuffer is Memory_createFromAHardwareBuffer. Of a format other than blob the memory has no
// ranges and holds no constants, and no device of a phone here can read it: an execution fails with UNMAPPABLE.
func NewMemoryFromHardwareBuffer(b *HardwareBuffer) (*Memory, error) {
	if b == nil {
		return nil, fail(UnexpectedNull, "Memory_createFromAHardwareBuffer: no buffer")
	}
	return &Memory{data: b.Data, private: b.Format != FormatBlob}, nil
}

// part is a range of a region; 0 and 0 is no range.
func (m *Memory) part(call string, offset, length int) ([]byte, error) {
	if offset < 0 || length < 0 || offset > len(m.data)-length || offset == 0 && length == 0 {
		return nil, fail(BadData, "%s: %d bytes at offset %d of a memory of %d", call, length, offset, len(m.data))
	}
	return m.data[offset : offset+length : offset+length], nil
}

// role is a use of opaque memory.
type role struct {
	compilation *Compilation
	input       bool
	index       uint32
}

// MemoryDesc describes opaque memory by its uses.
type MemoryDesc struct {
	roles    []role
	operand  *nn.Operand
	dims     []uint32
	finished bool
}

// AddInputRole states that the memory is input index of a compilation, with a
// share of its uses.
func (d *MemoryDesc) AddInputRole(c *Compilation, index uint32, frequency float32) error {
	return d.add("MemoryDesc_addInputRole", role{c, true, index}, frequency)
}

// AddOutputRole states that the memory is output index of a compilation.
func (d *MemoryDesc) AddOutputRole(c *Compilation, index uint32, frequency float32) error {
	return d.add("MemoryDesc_addOutputRole", role{c, false, index}, frequency)
}

func (d *MemoryDesc) add(call string, r role, frequency float32) error {
	switch {
	case d.finished:
		return fail(BadState, "%s: the description is finished", call)
	case r.compilation == nil:
		return fail(UnexpectedNull, "%s: no compilation", call)
	case !r.compilation.isFinished():
		return fail(BadData, "%s: the compilation is not finished", call)
	case !(frequency > 0 && frequency <= 1):
		return fail(BadData, "%s: frequency %v is not in (0, 1]", call, frequency)
	case slices.Contains(d.roles, r):
		return fail(BadData, "%s: the role was added already", call)
	}
	g := &r.compilation.model.model.Main
	list := g.Outputs
	if r.input {
		list = g.Inputs
	}
	if int64(r.index) >= int64(len(list)) {
		return fail(BadData, "%s: %d of %d", call, r.index, len(list))
	}
	o := g.Operands[list[r.index]]
	if d.operand != nil && !sameValue(d.operand, &o) {
		return fail(BadData, "%s: %v of scale %v, zero point %d does not fit the other roles' %v", call, o.Type, o.Scale, o.ZeroPoint, d.operand.Type)
	}
	dims, ok := combine(d.dims, o.Dimensions)
	if !ok || o.Type.IsScalar() && len(dims) > 0 {
		return fail(BadData, "%s: %v%v does not fit dimensions %v", call, o.Type, o.Dimensions, d.dims)
	}
	d.operand, d.dims = &o, dims
	d.roles = append(d.roles, r)
	return nil
}

// sameValue compares what two operands mean.
func sameValue(a, b *nn.Operand) bool {
	if a.Type != b.Type || a.Scale != b.Scale || a.ZeroPoint != b.ZeroPoint || (a.Channel == nil) != (b.Channel == nil) || !bytes.Equal(a.Extension, b.Extension) {
		return false
	}
	return a.Channel == nil || a.Channel.Dim == b.Channel.Dim && slices.Equal(a.Channel.Scales, b.Channel.Scales)
}

// combine completes dimensions with others; ok is false when they contradict.
func combine(a, b []uint32) (dims []uint32, ok bool) {
	switch {
	case len(a) == 0:
		return slices.Clone(b), true
	case len(b) == 0:
		return a, true
	case len(a) != len(b):
		return nil, false
	}
	dims = slices.Clone(a)
	for i, x := range b {
		if dims[i] == 0 {
			dims[i] = x
		} else if x != 0 && x != dims[i] {
			return nil, false
		}
	}
	return dims, true
}

// SetDimensions narrows the shape of the memory.
func (d *MemoryDesc) SetDimensions(dims []uint32) error {
	const call = "MemoryDesc_setDimensions"
	if d.finished {
		return fail(BadState, "%s: the description is finished", call)
	}
	all, ok := combine(d.dims, dims)
	if !ok || d.operand != nil && d.operand.Type.IsScalar() && len(dims) > 0 {
		return fail(BadData, "%s: dimensions %v do not fit those of the roles, %v", call, dims, d.dims)
	}
	d.dims = all
	return nil
}

// Finish ends the description, which needs a role.
func (d *MemoryDesc) Finish() error {
	const call = "MemoryDesc_finish"
	switch {
	case d.finished:
		return fail(BadState, "%s: it is finished", call)
	case len(d.roles) == 0:
		return fail(BadData, "%s: no roles", call)
	}
	d.finished = true
	return nil
}

// NewMemoryFromDesc allocates opaque memory: on the one device that has all roles, or
// else, where no compilation names its devices, in memory that all processors share.
// Its shape must be known.
func NewMemoryFromDesc(d *MemoryDesc) (*Memory, error) {
	const call = "Memory_createFromDesc"
	if d == nil {
		return nil, fail(UnexpectedNull, "%s: no description", call)
	}
	if !d.finished {
		return nil, fail(BadState, "%s: the description is not finished", call)
	}
	o := *d.operand
	o.Dimensions = d.dims
	m := &Memory{roles: slices.Clone(d.roles), operand: o}
	buffer, err := d.allocate()
	if err == nil {
		m.buffer = buffer
		return m, nil
	}
	if d.explicit() {
		return nil, fail(OpFailed, "%s: %w", call, err)
	}
	if !o.Known() {
		return nil, fail(OpFailed, "%s: dimensions %v are not known", call, d.dims)
	}
	n := o.Bytes()
	if n < 0 || n > math.MaxInt32 {
		return nil, fail(OutOfMemory, "%s: %v%v", call, o.Type, d.dims)
	}
	m.data = make([]byte, n)
	return m, nil
}

// allocate requests memory from the device of all roles.
func (d *MemoryDesc) allocate() (hal.Buffer, error) {
	var all []nnrt.Role
	for _, r := range d.roles {
		list, ok := r.compilation.compiled.Roles(r.input, int(r.index))
		if !ok {
			return nil, hal.Errorf(hal.GeneralFailure, "the parts that use the memory are not known before an execution")
		}
		all = append(all, list...)
	}
	return nnrt.Allocate(all, d.dims)
}

// explicit reports whether a compilation of a role names its devices.
func (d *MemoryDesc) explicit() bool {
	return slices.ContainsFunc(d.roles, func(r role) bool { return r.compilation.devices != nil })
}

// CopyMemory copies the value of one memory to another of the same size or
// meaning. Opaque memory must have been written before it is read; as a destination it holds a value
// afterwards if the copy succeeds, and only then.
func CopyMemory(src, dst *Memory) error {
	err := copyMemory(src, dst)
	if dst != nil && src != dst && dst.roles != nil {
		if dst.invalidate(); err == nil {
			dst.written()
		}
	}
	return err
}

func copyMemory(src, dst *Memory) error {
	const call = "Memory_copy"
	switch {
	case src == nil || dst == nil:
		return fail(UnexpectedNull, "%s: no memory", call)
	case src.isFree() || dst.isFree():
		return fail(BadState, "%s: a memory was freed", call)
	case src == dst:
		return nil
	case src.private || dst.private:
		return fail(BadData, "%s: a hardware buffer of another format than blob", call)
	case dst.readOnly:
		return fail(Unmappable, "%s: the destination is a file that is not shared for writing", call)
	case src.roles != nil && !src.isWritten():
		return fail(BadData, "%s: the source was never written", call)
	case src.roles != nil && dst.roles != nil && (!sameValue(&src.operand, &dst.operand) || !slices.Equal(src.operand.Dimensions, dst.operand.Dimensions)):
		return fail(BadData, "%s: %v%v into %v%v", call, src.operand.Type, src.operand.Dimensions, dst.operand.Type, dst.operand.Dimensions)
	case src.size() != dst.size():
		return fail(BadData, "%s: %d bytes into a memory of %d", call, src.size(), dst.size())
	}
	err := transfer(src, dst)
	runtime.KeepAlive(src)
	runtime.KeepAlive(dst)
	return wrap(err)
}

// size is the size of the value in bytes.
func (m *Memory) size() int64 {
	if m.roles != nil {
		return m.operand.Bytes()
	}
	return int64(len(m.data))
}

// transfer copies bytes, between two device memories through memory that both can
// reach.
func transfer(src, dst *Memory) error {
	from := &hal.Memory{Name: hal.Ashmem, Data: src.data, ReadOnly: true}
	if src.buffer != nil {
		to := &hal.Memory{Name: hal.Ashmem, Data: dst.data}
		if dst.buffer != nil {
			to = hal.NewMemory(int(src.size()))
		}
		if err := src.buffer.CopyTo(to); err != nil || dst.buffer == nil {
			return err
		}
		from = to
	}
	if dst.buffer != nil {
		return dst.buffer.CopyFrom(from, dst.operand.Dimensions)
	}
	copy(dst.data, from.Data)
	return nil
}

// hasRole checks that opaque memory has a role.
func (m *Memory) hasRole(r role) bool { return slices.Contains(m.roles, r) }
