package cli

import (
	"bytes"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/nnsoc/nnsoc/internal/require"
)

// endless is a device that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestReadAll: every length arrives whole, and one byte more than the limit is refused.
func TestReadAll(t *testing.T) {
	const limit = 5000
	for _, n := range []int{0, 1, 511, 512, 513, 1024, 1025, 4999, limit, limit + 1, 3 * limit} {
		want := bytes.Repeat([]byte("abcde"), n/5+1)[:n]
		for _, size := range []int64{0, int64(n), 10 * limit} {
			got, err := readSized("x", iotest.HalfReader(bytes.NewReader(want)), limit, size)
			if n > limit {
				require.Check(t, err != nil && strings.Contains(err.Error(), "larger than"), "%d bytes: %v", n, err)
			} else if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, expected %d: %d bytes, %v", n, size, len(got), err)
			}
		}
	}
	require.Fails(t, require.Err(ReadAll("x", iotest.ErrReader(io.ErrClosedPipe), limit)), "an error of reading is lost")
}

// TestReadEndless: an endless reader needs hardly more memory than the limit until it is refused.
func TestReadEndless(t *testing.T) {
	const limit = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadAll("x", endless{}, limit); err == nil {
		t.Fatal("no error")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > limit*5/4 {
		t.Errorf("%d MiB for a limit of %d MiB", n>>20, limit>>20)
	}
}

// TestFileErrors: an error of writing names the file that the user asked for.
func TestFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	f := require.V(CreateFile(path))(t)
	f.File.Close() // as a disk that fails
	_, written := f.Write([]byte("x"))
	for _, err := range []error{written, f.Commit(0o644)} {
		require.Check(t, err != nil && strings.Contains(err.Error(), path) && !strings.Contains(err.Error(), ".nnsoc-"), "%v", err)
	}
}
