package hal

// MemoryName is the kind of a shared memory.
type MemoryName string

// Kinds of memory. Pools of HAL 1.0 and 1.1 are of the first two.
const (
	Ashmem             MemoryName = "ashmem"
	MmapFd             MemoryName = "mmap_fd"
	HardwareBufferBlob MemoryName = "hardware_buffer_blob"
	HardwareBuffer     MemoryName = "hardware_buffer"
)

// Memory is hidl_memory: a region that client and driver share. Its identity is that of
// the pointer: a burst maps each Memory once.
type Memory struct {
	Name     MemoryName
	Data     []byte // the region as this process has mapped it
	ReadOnly bool   // the driver must not write it
}

// NewMemory returns an ashmem region of n bytes.
func NewMemory(n int) *Memory { return &Memory{Name: Ashmem, Data: make([]byte, n)} }

// BufferDesc is the shape that a client wants device memory to have; no dimensions
// leave it to the roles.
type BufferDesc struct {
	Dimensions []uint32
}

// BufferRole is a use of device memory: an input or output of a prepared model.
type BufferRole struct {
	ModelIndex uint32 // into the prepared models of Allocate
	IOIndex    uint32 // into the model's inputs or outputs
	// Frequency estimates how often the role is used, in (0, 1].
	Frequency float32
}

// Buffer is device memory: IBuffer. It is uninitialized until it was copied to or was
// the output of a successful execution, and again after a failed one.
type Buffer interface {
	// Token names the buffer in requests. It is never 0.
	Token() uint32
	// Bytes is the size of the value.
	Bytes() int
	// CopyTo copies the value to a memory of its size.
	CopyTo(dst *Memory) error
	// CopyFrom copies a value of these dimensions; nil means the buffer's own.
	CopyFrom(src *Memory, dimensions []uint32) error
	// Release ends the life of the buffer and of its token.
	Release()
}
