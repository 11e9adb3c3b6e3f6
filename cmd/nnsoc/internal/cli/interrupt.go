package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// exitInterrupt is 128 + SIGINT, as shells report a command ended by Ctrl-C.
const exitInterrupt = 128 + int(syscall.SIGINT)

// Temporaries are the files under construction of this process. A signal is
// the process's, and so is the list of what it must remove.
var Temporaries fileSet

// fileSet is a set of paths.
type fileSet struct {
	mu    sync.Mutex
	paths map[string]bool
}

// create makes a file by way of open and keeps its path.
func (s *fileSet) create(open func() (*os.File, error)) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := open()
	if err == nil {
		if s.paths == nil {
			s.paths = map[string]bool{}
		}
		s.paths[f.Name()] = true
	}
	return f, err
}

// Add names a file that goes with the process.
func (s *fileSet) Add(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths == nil {
		s.paths = map[string]bool{}
	}
	s.paths[path] = true
}

// settle ends a file's construction: it is renamed or removed by done.
func (s *fileSet) settle(path string, done func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.paths, path)
	return done()
}

// removeAll removes the files; nothing is created or renamed after it.
func (s *fileSet) removeAll() {
	s.mu.Lock() // for good: the process ends
	for path := range s.paths {
		os.Remove(path)
	}
}

// ExitOnInterrupt ends the process on SIGINT and SIGTERM without leaving files
// behind.
func ExitOnInterrupt(exit func(code int)) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	go func() {
		sig := <-c
		Temporaries.removeAll()
		code := exitInterrupt
		if sig == syscall.SIGTERM {
			code = 128 + int(syscall.SIGTERM)
		}
		exit(code)
	}()
}
