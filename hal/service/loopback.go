package service

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// Loopback serves a device to its own process: all calls use the same path as to another
// process. stop ends it.
func Loopback(d hal.Device) (there *Device, stop func(), err error) {
	dir, err := os.MkdirTemp("", "nnsoc-")
	if err != nil {
		return nil, nil, fmt.Errorf("service: %w", err)
	}
	path := filepath.Join(dir, "driver")
	l, err := Listen(path)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, err
	}
	s := NewServer(d, Quotas{})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	end := func() {
		s.Close()
		<-served
		_ = os.RemoveAll(dir)
	}
	if there, err = Dial(path); err != nil {
		end()
		return nil, nil, err
	}
	return there, func() {
		_ = there.Close()
		end()
	}, nil
}

// Crowd serves a device and lets clients use it concurrently, each with a separate session.
// It returns how many sessions, memories, prepared models and bursts the server still
// holds when all have closed theirs.
func Crowd(d hal.Device, clients int, use func(*Device)) (held int, err error) {
	dir, err := os.MkdirTemp("", "nnsoc-")
	if err != nil {
		return 0, fmt.Errorf("service: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "driver")
	l, err := Listen(path)
	if err != nil {
		return 0, err
	}
	s := NewServer(d, Quotas{Sessions: clients})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	defer func() {
		s.Close()
		<-served
	}()
	failures := make(chan error, clients)
	for range clients {
		go func() {
			there, err := Dial(path)
			if err == nil {
				use(there)
				err = there.Close()
			}
			failures <- err
		}()
	}
	for range clients {
		if e := <-failures; e != nil && err == nil {
			err = e
		}
	}
	for end := time.Now().Add(disconnectLimit); ; time.Sleep(time.Millisecond) {
		if held = s.Held().Total(); held == 0 || time.Now().After(end) {
			return held, err
		}
	}
}

// disconnectLimit bounds the time until a server detects that its clients are gone.
const disconnectLimit = 10 * time.Second
