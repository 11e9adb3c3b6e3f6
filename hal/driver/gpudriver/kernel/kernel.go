// Package kernel is what the kernels of the GPU have in common. Each family has a
// package of its own, which holds together what a kernel computes, how its constants
// are packed, and its code.
package kernel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// Kernel is one launch: a computation on tensors, as data. It is made when an
// operation is lowered and does not change.
type Kernel interface {
	// Name is the name of the kernel in listings.
	Name() string
	// Work is what the launch does, for estimates. It is known before tensors have
	// places.
	Work() Work
	// Emit generates the code and returns the grid of the launch. It is called when all
	// tensors have their places, of the result of Pack where there is one. The code depends
	// on nothing but what the kernel's fields hold; kernels that hold the same share it.
	Emit(b *rdna.Builder) Grid
}

// Packer is a Kernel with constants of its own.
type Packer interface {
	Kernel
	// Pack stores the constants and returns the kernel with their offsets in their place.
	// It is called once, when all tensors have their places.
	Pack(m *Memory) Kernel
}

// Cut is a way to divide a computation among waves, and what it would do.
type Cut struct {
	Name   string
	Weight float64 // by which it is compared: less is better
	Work   Work
	Chosen bool
}

// Chooser is a Kernel that was cut by comparison.
type Chooser interface {
	// Cuts are the ways that were compared.
	Cuts() []Cut
	// Select cuts the computation as the one of a name does; it reports whether there is one.
	Select(name string) bool
}

// Memory is what a kernel packs into or refers to.
type Memory struct {
	Consts layout.Constants
	Pages  *layout.Pages
}

// Grid is the shape of a launch.
type Grid struct {
	Lanes     [3]int // work-items per dimension
	Workgroup int    // of them in a work-group, all along dimension 0
}

// Flat is a one-dimensional grid of single lanes in work-groups of FlatGroup.
func Flat(lanes int) Grid { return Grid{[3]int{lanes, 1, 1}, FlatGroup} }

// FlatGroup is the lanes of a work-group where lanes do not cooperate.
const FlatGroup = 64

// Work is what a launch does in all: an estimate that the cost model turns into
// cycles.
type Work struct {
	Waves        int   // of 32 lanes
	Instructions int64 // vector instructions of all waves
	Loads        int64 // vector and scalar loads of all waves
	ReadBytes    int64 // distinct bytes read, constants included
	WriteBytes   int64
	// Chain is the loads of one wave that wait for each other.
	Chain       int
	VectorLoads int64 // of Loads; 0: all are
	Dots        int64 // of Instructions: dot products
	FarLoads    int64 // of the vector loads: those whose lanes are each in a cache line of its own
}

// Lanes is the work of n lanes that each take so many instructions and loads, one load after
// the other, to read one tensor and to write another.
func Lanes(n, instructions, loads int, in, out *layout.Tensor) Work {
	waves := (n + 31) / 32
	return Work{Waves: waves, Instructions: int64(waves) * int64(instructions), Loads: int64(waves) * int64(loads),
		ReadBytes: int64(in.Bytes()), WriteBytes: int64(out.Bytes()), Chain: loads}
}

// Add adds the work of another launch.
func (w *Work) Add(x Work) {
	w.Waves += x.Waves
	w.Instructions += x.Instructions
	w.Loads += x.Loads
	w.ReadBytes += x.ReadBytes
	w.WriteBytes += x.WriteBytes
	w.Chain += x.Chain
	w.VectorLoads += x.VectorLoads
	w.Dots += x.Dots
	w.FarLoads += x.FarLoads
}
