package mapped

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Use calls f with the bytes of the regular file at path; only those that f accesses are read. They must not be
// written, and nothing may keep them. If the file is truncated meanwhile, an access of f beyond its end is
// io.ErrUnexpectedEOF, in its own goroutine.
func Use(path string, f func(data []byte) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	case info.Size() == 0:
		return f(nil)
	}
	data, release, err := load(file, int(info.Size()))
	if err != nil {
		return err
	}
	defer release()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer lost(&err)
	return f(data)
}

// lost makes an error of a fault, deferred.
func lost(err *error) {
	switch p := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		*err = io.ErrUnexpectedEOF
	default:
		panic(p)
	}
}
