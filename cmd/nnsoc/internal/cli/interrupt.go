package cli

import (
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
)

// Temporaries are the files under construction of this process. Signals are per process, and so is the list of files to
// remove.
var Temporaries fileSet

// fileSet is a set of paths.
type fileSet struct {
	mu    sync.Mutex
	paths map[string]bool
	tree  string // a folder that is removed with its contents
}

// own sets the folder that is removed with its contents.
func (s *fileSet) own(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tree = dir
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

// Add registers a file to be removed with the process.
func (s *fileSet) Add(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths == nil {
		s.paths = map[string]bool{}
	}
	s.paths[path] = true
}

// finish ends a file's construction: it is renamed or removed by done.
func (s *fileSet) finish(path string, done func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.paths, path)
	return done()
}

// removeAll removes the files, and folders that are empty; nothing is created or renamed after it.
func (s *fileSet) removeAll() {
	s.mu.Lock()                                                               // for good: the process ends
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(s.paths))) { // contents of a folder before it
		os.Remove(path)
	}
	if s.tree != "" {
		os.RemoveAll(s.tree)
	}
}

// Children are the programs that this process has started and that end with it.
var Children programs

// programs is a set of running programs, each with the function that ends it.
type programs struct {
	mu   sync.Mutex
	last int
	list map[int]func()
	// front handles the first signal that would end this process; nil: none does.
	front func(os.Signal)
}

// Add keeps a program until the caller reports its end by calling ended.
func (p *programs) Add(end func()) (ended func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list == nil {
		p.list = map[int]func(){}
	}
	p.last++
	k := p.last
	p.list[k] = end
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.list, k)
	}
}

// Foreground begins a program that the user waits for: until done is called, the first signal that would end this process is
// passed on to it instead. The terminal sends its own to both.
func (p *programs) Foreground(pass func(os.Signal)) (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.front = pass
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.front = nil
	}
}

// passOn passes a signal on to the program in the foreground; false where there is none, or no more.
func (p *programs) passOn(s os.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pass := p.front
	if p.front = nil; pass == nil {
		return false
	}
	if s != os.Interrupt && s != syscall.SIGQUIT {
		pass(s)
	}
	return true
}

// endAll ends all programs.
func (p *programs) endAll() {
	p.mu.Lock() // for good: the process ends
	for _, end := range p.list {
		end()
	}
}

// ExitOnInterrupt ends the process on a signal that requests its end, without leaving files or programs behind.
func ExitOnInterrupt(exit func(code int)) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, EndSignals()...)
	go func() {
		sig := <-c
		for Children.passOn(sig) {
			sig = <-c
		}
		Children.endAll()
		Temporaries.removeAll()
		exit(signalExit(sig))
	}()
}

// EndSignals are the signals that end the process: Ctrl-C, Ctrl-\, kill, and a
// terminal that is closed, unless the process was started by nohup.
func EndSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// signalExit is 128 + the signal, as shells report a command that it ended.
func signalExit(sig os.Signal) int {
	if s, ok := sig.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return 128 + int(syscall.SIGINT)
}
