package engine

import (
	"bufio"
	"io"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
)

// Program is the device-specific part of running, saving and printing the program of a graph. M is the working memory
// of an execution. Its methods may be called from several goroutines, Acquire to Release each with a separate M.
type Program[M any] interface {
	// Acquire returns what an execution works on, with nothing of another in it.
	Acquire(o *compile.RunOptions) (M, error)
	// Memory is memory i of the Places.
	Memory(m M, i int) []byte
	// Execute runs the program. After an error m is not used again.
	Execute(m M, o *compile.RunOptions) (hal.Stats, error)
	// Release returns m for reuse when its outputs are no longer read.
	Release(m M)

	// Code saves or loads all but the Places, and returns the sizes of the memories that these are in.
	Code(c *cache.Coder) (sizes []int)
	// Write prints what an execution depends on but for the Places.
	Write(w io.Writer)
	// List prints the code for readers.
	List(w io.Writer) error
	// Steps prints the lowered graph. Neither it nor Plan is called for a loaded program.
	Steps(w io.Writer) error
	Plan() (*Plan, error)
}

// Executable is a program with its graph as package base runs, saves and shows it. An executable of a device
// embeds it and calls Init. It implements compile.Executable but for Bytes, compile.Saver, compile.StepWriter,
// compile.Chooser and compile.Explainer.
type Executable[M any] struct {
	Graph      *graph.Graph
	IO         IOAddresses
	Candidates map[int]string // that the client requested
	program    Program[M]
	loaded     bool // from a compilation cache, which does not keep what it was planned from
}

// Init sets the graph and the program, which is what embeds x.
func (x *Executable[M]) Init(p Program[M], g *graph.Graph) { x.program, x.Graph = p, g }

// code saves and loads the program and its places.
func (x *Executable[M]) code(c *cache.Coder) {
	sizes := x.program.Code(c)
	x.IO.Code(c, x.Graph, sizes...)
}

// Save implements compile.Saver.
func (x *Executable[M]) Save(w *cache.Writer) { x.code(w.Coder()) }

// Load reads what Save has written.
func (x *Executable[M]) Load(r *cache.Reader) error {
	x.loaded = true
	x.code(r.Coder())
	return r.Err()
}

// WriteListing implements compile.Executable.
func (x *Executable[M]) WriteListing(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := x.program.List(out); err != nil {
		return err
	}
	return out.Flush()
}

// WriteProgram implements compile.Executable.
func (x *Executable[M]) WriteProgram(w io.Writer) error {
	out := bufio.NewWriter(w)
	x.program.Write(out)
	if err := x.IO.Write(out); err != nil {
		return err
	}
	return out.Flush()
}
