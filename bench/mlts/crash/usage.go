package crash

import (
	"fmt"
	"os"
	"runtime"
)

// usage is the resources of a process.
type usage struct {
	Heap       int64 `json:"heap"` // live bytes
	Files      int   `json:"files"`
	Goroutines int   `json:"goroutines"`
}

// Growth over the test that is no leak (assumed, D-981): caches of the driver and of the
// Go runtime.
const (
	heapGrowth      = 32 << 20
	filesGrowth     = 16
	goroutineGrowth = 16
)

// own is the resources of this process.
func own() usage {
	for range 2 { // the second collection frees what finalizers of the first released
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{Heap: int64(m.HeapAlloc), Goroutines: runtime.NumGoroutine()}
	if list, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.Files = len(list)
	}
	return u
}

// leak is the error of a process that holds much more than before.
func (u *usage) leak(before *usage) error {
	for _, x := range []struct {
		what        string
		more, limit int64
	}{
		{"bytes of memory", u.Heap - before.Heap, heapGrowth},
		{"open files", int64(u.Files - before.Files), filesGrowth},
		{"goroutines", int64(u.Goroutines - before.Goroutines), goroutineGrowth},
	} {
		if x.more > x.limit {
			return fmt.Errorf("leak: the driver's process holds %d %s more than after a quarter of the test, at most %d", x.more, x.what, x.limit)
		}
	}
	return nil
}

// usage is the resources of the driver's process; not known of a driver started elsewhere.
func (t *test) usage() (u usage, known bool, err error) {
	switch {
	case t.driver != nil:
		u, err = t.driver.usage()
		return u, true, err
	case t.socket != "":
		return u, false, nil
	}
	return own(), true, nil
}
