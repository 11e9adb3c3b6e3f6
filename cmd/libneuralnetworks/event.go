//go:build linux && cgo && libneuralnetworks

package main

// #include <stdint.h>
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"

	"golang.org/x/sys/unix"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
)

//export ANeuralNetworksEvent_wait
func ANeuralNetworksEvent_wait(v C.uintptr_t) C.int {
	return call("Event_wait", func() error { return of[nnapi.Event](v).Wait() })
}

//export ANeuralNetworksEvent_free
func ANeuralNetworksEvent_free(v C.uintptr_t) {
	release("Event_free", v, func(x any) { _ = x.(*nnapi.Event).Wait() }) // its buffers are the app's until then
}

// A sync fence is an eventfd here: poll finds it readable once it has signalled, and its count says how.
const (
	fenceDone   = 1
	fenceFailed = 2
)

//export ANeuralNetworksEvent_getSyncFenceFd
func ANeuralNetworksEvent_getSyncFenceFd(v C.uintptr_t, out *C.int) C.int {
	return call("Event_getSyncFenceFd", func() error {
		*need(out) = -1
		f, err := of[nnapi.Event](v).SyncFence()
		if err != nil {
			return err
		}
		fd, err := exported(f)
		if err != nil {
			return bad(nnapi.OpFailed, "a descriptor: %w", err)
		}
		*out = C.int(fd)
		return nil
	})
}

// exported is a descriptor that signals when a fence does; it is the app's.
func exported(f *hal.SyncFence) (fd int, err error) {
	fd, err = unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return -1, err
	}
	ours, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, errors.Join(err, unix.Close(fd))
	}
	signal := func() {
		count := uint64(fenceDone)
		if _, err := f.SignalTime(); err != nil {
			count = fenceFailed
		}
		_, _ = unix.Write(ours, binary.NativeEndian.AppendUint64(nil, count)) // an eventfd of 0 takes any small count
		_ = unix.Close(ours)
	}
	select {
	case <-f.Done():
		signal()
	default:
		go func() { <-f.Done(); signal() }()
	}
	return fd, nil
}

//export ANeuralNetworksEvent_createFromSyncFenceFd
func ANeuralNetworksEvent_createFromSyncFenceFd(fd C.int, out *C.uintptr_t) C.int {
	return call("Event_createFromSyncFenceFd", func() error {
		*need(out) = 0
		if fd <= 0 {
			return bad(nnapi.BadData, "descriptor %d", fd)
		}
		ours, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return bad(nnapi.BadData, "descriptor %d: %w", fd, err)
		}
		v, err := nnapi.NewEventFromSyncFence(imported(ours))
		return handle(out, v, err)
	})
}

// imported is a fence that signals when a descriptor becomes readable, which it takes over.
func imported(fd int) *hal.SyncFence {
	f := hal.NewSyncFence()
	poll := func(timeout int) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, timeout)
		switch {
		case err == unix.EINTR || err == unix.EAGAIN || n == 0:
			return false
		case err != nil || p[0].Revents&(unix.POLLERR|unix.POLLNVAL) != 0:
			f.Signal(0, fmt.Errorf("sync fence: poll reports %#x, %v", p[0].Revents, err))
		case count(fd) == fenceFailed:
			f.Signal(0, errors.New("sync fence: it signals an error"))
		default:
			f.Signal(0, nil)
		}
		_ = unix.Close(fd)
		return true
	}
	if !poll(0) {
		go func() {
			for !poll(-1) {
			}
		}()
	}
	return f
}

var eventCount = regexp.MustCompile(`(?m)^eventfd-count:\s*([0-9a-fA-F]+)$`)

// count returns the count of an eventfd, which reading would take away from other readers, and
// fenceDone for a descriptor of another kind.
func count(fd int) (n uint64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	m := eventCount.FindSubmatch(text)
	if err != nil || m == nil {
		return fenceDone
	}
	if _, err := fmt.Sscanf(string(m[1]), "%x", &n); err != nil {
		return fenceDone
	}
	return n
}
