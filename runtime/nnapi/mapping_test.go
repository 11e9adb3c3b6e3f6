//go:build unix

package nnapi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

// file makes a file with a byte per offset, open as flag says.
func file(t *testing.T, size, flag int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "values")
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(i % 251)
	}
	must(os.WriteFile(path, content, 0o600))
	f := require.V(os.OpenFile(path, flag, 0))(t)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// TestMemoryFromFileIsShared: at any offset, what is written to the file is in the memory,
// what is written to the memory is in the file, and no byte beside it changes.
func TestMemoryFromFileIsShared(t *testing.T) {
	page := os.Getpagesize()
	for _, offset := range []int{0, 3, 4, page - 1, page, page + 5, 2*page + 4094} {
		const size = 24
		f := file(t, offset+size+7, os.O_RDWR)
		before := require.V(os.ReadFile(f.Name()))(t)
		m := require.V(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, size, int64(offset)))(t)
		require.Check(t, bytes.Equal(m.Data(), before[offset:offset+size]), "offset %d: %v, want the file's bytes", offset, m.Data())
		_ = require.V(f.WriteAt([]byte{200, 201}, int64(offset+1)))(t)
		require.Check(t, m.Data()[1] == 200 && m.Data()[2] == 201, "offset %d: memory has %v after the file was written", offset, m.Data()[:3])
		copy(m.Data()[size-2:], []byte{202, 203})
		want := bytes.Clone(before)
		copy(want[offset+1:], []byte{200, 201})
		copy(want[offset+size-2:], []byte{202, 203})
		after := require.V(os.ReadFile(f.Name()))(t)
		require.Check(t, bytes.Equal(after, want), "offset %d: the file has other bytes than were written to it and to the memory", offset)
		runtime.KeepAlive(m)
	}
}

// TestMemoryFromFileRanges: a range that the file does not have is UNMAPPABLE, one of no bytes BAD_DATA.
func TestMemoryFromFileRanges(t *testing.T) {
	f := file(t, 10, os.O_RDWR)
	for _, x := range []struct {
		size   int
		offset int64
	}{{8, 3}, {1, -1}, {1, 10}, {1, 1 << 62}, {1 << 40, 0}} {
		_, err := nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, x.size, x.offset)
		want(t, "a range past the end", err, nnapi.Unmappable)
	}
	for _, size := range []int{0, -1} {
		_, err := nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, size, 0)
		want(t, "a range of no bytes", err, nnapi.BadData)
	}
	writable := require.V(os.OpenFile(f.Name(), os.O_WRONLY, 0))(t)
	defer writable.Close()
	_, err := nnapi.NewMemoryFromFile(writable, nnapi.ProtectRead|nnapi.ProtectWrite, 4, 0)
	want(t, "a file that cannot be read", err, nnapi.Unmappable)
}

// compiledRelu compiles RELU of six floats.
func compiledRelu(t *testing.T) *nnapi.Compilation {
	t.Helper()
	m := nnapi.NewModel()
	six := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{6}}
	must(m.AddOperand(six))
	must(m.AddOperand(six))
	must(m.AddOperation(nn.OpRelu, []uint32{0}, []uint32{1}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
	must(m.Finish())
	return compiled(t, openRuntime(), m)
}

// TestExecutionInFiles: inputs written to the file after the memory was made and the
// argument set are those that are computed; outputs arrive in the file, though both
// files were closed.
func TestExecutionInFiles(t *testing.T) {
	in, out := file(t, 27, os.O_RDWR), file(t, 30, os.O_RDWR)
	e := require.V(nnapi.NewExecution(compiledRelu(t)))(t)
	must(e.SetInputFromMemory(0, nil, require.V(nnapi.NewMemoryFromFile(in, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 3))(t), 0, 24))
	must(e.SetOutputFromMemory(0, nil, require.V(nnapi.NewMemoryFromFile(out, nnapi.ProtectRead|nnapi.ProtectWrite, 26, 4))(t), 2, 24))
	must(e.SetReusable(true))
	path := out.Name()
	must(out.Close())
	for _, x := range []float32{1, 7} {
		_ = require.V(in.WriteAt(floats(-1, x, -3, 4, -5, 6), 3))(t)
		runtime.GC() // the app holds the memories no longer, the execution does
		must(e.Compute())
		got := require.V(os.ReadFile(path))(t)
		require.Check(t, bytes.Equal(got[6:], floats(0, x, 0, 4, 0, 6)), "input %v: the file has %v", x, got[6:])
		require.Check(t, bytes.Equal(got[:6], []byte{0, 1, 2, 3, 4, 5}), "bytes before the output are %v", got[:6])
	}
}

// TestReadOnlyFile: a file opened for reading holds inputs; an output in it, and a copy into
// it, is UNMAPPABLE, and the file stays as it is.
func TestReadOnlyFile(t *testing.T) {
	f := file(t, 24, os.O_RDONLY)
	before := require.V(os.ReadFile(f.Name()))(t)
	m := require.V(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 0))(t)
	c := compiledRelu(t)
	e := require.V(nnapi.NewExecution(c))(t)
	must(e.SetInput(0, nil, floats(1, 2, 3, 4, 5, 6)))
	must(e.SetOutputFromMemory(0, nil, m, 0, 24))
	want(t, "an output", e.Compute(), nnapi.Unmappable)
	want(t, "a copy", nnapi.CopyMemory(nnapi.NewMemory(24), m), nnapi.Unmappable)
	copied := nnapi.NewMemory(24)
	must(nnapi.CopyMemory(m, copied))
	require.Check(t, bytes.Equal(copied.Data(), before), "a copy of the file is %v", copied.Data())
	after := require.V(os.ReadFile(f.Name()))(t)
	require.Check(t, bytes.Equal(after, before), "the file changed to %v", after)
}

// TestConstantsInFile: a model keeps the memory of its constants after the app has let it go.
func TestConstantsInFile(t *testing.T) {
	f := file(t, 31, os.O_RDWR)
	_ = require.V(f.WriteAt(floats(-1, 2, -3, 4, -5, 6), 7))(t)
	m := nnapi.NewModel()
	six := nnapi.OperandType{Type: nn.TensorFloat32, Dimensions: []uint32{6}}
	for range 3 {
		must(m.AddOperand(six))
	}
	must(m.AddOperand(nnapi.OperandType{Type: nn.Int32}))
	must(m.SetOperandValue(3, []byte{0, 0, 0, 0}))
	must(m.SetOperandValueFromMemory(1, require.V(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, 24, 7))(t), 0, 24))
	must(m.AddOperation(nn.OpAdd, []uint32{0, 1, 3}, []uint32{2}))
	must(m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{2}))
	must(m.Finish())
	c := compiled(t, openRuntime(), m)
	runtime.GC()
	runtime.GC()
	e := require.V(nnapi.NewExecution(c))(t)
	got := make([]byte, 24)
	must(e.SetInput(0, nil, floats(1, 1, 1, 1, 1, 1)))
	must(e.SetOutput(0, nil, got))
	must(e.Compute())
	require.Check(t, bytes.Equal(got, floats(0, 3, -2, 5, -4, 7)), "sum with the constant in the file is %v", got)
}

// TestProtectionOfFiles: memory that was not asked for to write holds no outputs, though the file could be written.
func TestProtectionOfFiles(t *testing.T) {
	f := file(t, 8, os.O_RDWR)
	_, err := nnapi.NewMemoryFromFile(f, 0, 8, 0)
	want(t, "a memory that nobody may read", err, nnapi.BadData)
	c := compiled(t, phoneOf(t), reluOf(t, sizes(nn.TensorFloat32, 2)))
	for protect, code := range map[nnapi.Protection]nnapi.ResultCode{nnapi.ProtectRead: nnapi.Unmappable, nnapi.ProtectRead | nnapi.ProtectWrite: nnapi.NoError} {
		m := require.V(nnapi.NewMemoryFromFile(f, protect, 8, 0))(t)
		e := require.V(nnapi.NewExecution(c))(t)
		require.NoError(t, e.SetInput(0, nil, make([]byte, 8)))
		require.NoError(t, e.SetOutputFromMemory(0, nil, m, 0, 8))
		want(t, "an output", e.Compute(), code)
	}
}

// TestFencedOutputInReadOnlyFile: an output in a file that is not shared for writing is UNMAPPABLE where drivers wait for fences, too.
func TestFencedOutputInReadOnlyFile(t *testing.T) {
	f := file(t, 4, os.O_RDONLY)
	m := require.V(nnapi.NewMemoryFromFile(f, nnapi.ProtectRead|nnapi.ProtectWrite, 4, 0))(t)
	r := openRuntime()
	c := compiled(t, r, quantizedRelu(), named(t, r, "dsp"))
	e := require.V(nnapi.NewExecution(c))(t)
	must(e.SetInput(0, nil, make([]byte, 4)))
	must(e.SetOutputFromMemory(0, nil, m, 0, 4))
	fence := hal.NewSyncFence()
	v := require.V(e.StartComputeWithDependencies([]*nnapi.Event{require.V(nnapi.NewEventFromSyncFence(fence))(t)}, 0))(t)
	fence.Signal(0, nil)
	want(t, "the end", v.Wait(), nnapi.Unmappable)
}
