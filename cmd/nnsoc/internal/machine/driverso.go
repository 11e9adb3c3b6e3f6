package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// hostName is the program that loads a driver in C: see cmd/libneuralnetworks/driverhost.
const hostName = "driverhost"

// maxAnnouncement bounds what a host prints, in bytes.
const maxAnnouncement = 1 << 16

// StartLibraries starts a process for each library of --driver-so, and adds the sockets that they serve to those of --driver. The
// processes end with this one, which holds their standard inputs.
func StartLibraries(a *cli.App) error {
	for _, value := range a.DriverLibraries {
		e, named, path := split(value)
		prefix := ""
		if named {
			prefix = e.String() + "="
		}
		sockets, err := startHost(a, path)
		if err != nil {
			return err
		}
		for _, socket := range sockets {
			a.Drivers = append(a.Drivers, prefix+socket)
		}
	}
	return nil
}

// startHost starts the process of a library and returns its sockets.
func startHost(a *cli.App, path string) (sockets []string, err error) {
	refused := func(err error) error { return cli.Usage(fmt.Errorf("--driver-so %s: %w", path, err)) }
	if _, err := os.Stat(path); err != nil {
		return nil, refused(errors.Unwrap(err))
	}
	if !(a.DriverTimeout > 0) {
		return nil, cli.Usage(fmt.Errorf("--driver-timeout %v, want a time above 0", a.DriverTimeout))
	}
	dir, err := Native("", hostName)
	if err != nil {
		return nil, err
	}
	messages := &laterWriter{to: a.Err}
	c := exec.Command(filepath.Join(dir, hostName), path)
	c.Stderr = messages
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, refused(err)
	}
	cli.Children.Add(func() { _ = c.Process.Kill() })
	late := time.AfterFunc(a.DriverTimeout, func() { _ = c.Process.Kill() })
	text, err := io.ReadAll(io.LimitReader(out, maxAnnouncement))
	inTime := late.Stop()
	for line := range strings.Lines(string(text)) {
		if _, socket, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			sockets = append(sockets, socket)
		}
	}
	switch {
	case !inTime:
		err = fmt.Errorf("it was not loaded within %v", a.DriverTimeout)
	case err == nil && len(sockets) == 0:
		err = c.Wait()
		if said := messages.text(); said != "" {
			err = errors.New(strings.TrimPrefix(said, hostName+": "))
		}
		err = fmt.Errorf("it could not be loaded: %w", err)
	}
	if err != nil {
		return nil, refused(err)
	}
	messages.pass()
	a.Keep = append(a.Keep, in)
	return sockets, nil
}

// laterWriter keeps what it is given until pass.
type laterWriter struct {
	mu   sync.Mutex
	kept bytes.Buffer
	open bool
	to   io.Writer
}

// Write implements io.Writer.
func (w *laterWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open {
		return w.to.Write(b)
	}
	if w.kept.Len() < maxAnnouncement {
		w.kept.Write(b)
	}
	return len(b), nil
}

// pass writes what was kept, and all that comes.
func (w *laterWriter) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = true
	_, _ = w.to.Write(w.kept.Bytes()) // a message of another program
}

// text is the last line that was kept.
func (w *laterWriter) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(w.kept.String()), "\n")
	return lines[len(lines)-1]
}
