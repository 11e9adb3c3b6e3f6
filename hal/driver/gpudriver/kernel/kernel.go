// Package kernel is the common part of the GPU's kernels. Each family has a separate
// package with the computation of a kernel, the packing of its constants, and its
// code.
package kernel

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Kernel is one launch: a computation on tensors, as data. It is made when an
// operation is lowered and does not change.
type Kernel interface {
	// Emit generates the code and returns the grid of the launch. It is called when all
	// tensors have their places, of the result of Pack where there is one; and before, to
	// count what the launch does. The code depends on nothing but what the kernel's fields
	// hold; kernels that hold the same share it.
	Emit(b *rdna.Builder) Grid
}

// Packer is a Kernel with constants of its own.
type Packer interface {
	Kernel
	// Pack stores the constants and returns the kernel with their offsets in their place.
	// It is called once, when all tensors have their places.
	Pack(m *Memory) Kernel
}

// Cut is a way to divide a computation among waves.
type Cut struct {
	Name   string
	Weight float64 // by which it is compared: less is better
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

// Grid is the name and the shape of a launch.
type Grid struct {
	Name      string // of the kernel, in listings
	Lanes     [3]int // work-items per dimension
	Workgroup int    // of them in a work-group, all along dimension 0
	Busy      int    // waves that have work; 0: all
}

// Waves is the number of waves of 32 lanes with work.
func (g *Grid) Waves() int {
	if g.Busy > 0 {
		return g.Busy
	}
	return (g.Lanes[0]*g.Lanes[1]*g.Lanes[2] + 31) / 32
}

// Flat is a one-dimensional grid of single lanes in work-groups of FlatGroup.
func Flat(name string, lanes int) Grid {
	return Grid{Name: name, Lanes: [3]int{lanes, 1, 1}, Workgroup: FlatGroup}
}

// Waves is a one-dimensional grid of waves, each a work-group of 32 lanes.
func Waves(name string, waves int) Grid {
	return Grid{Name: name, Lanes: [3]int{32 * waves, 1, 1}, Workgroup: 32}
}

// FlatGroup is the lanes of a work-group where lanes do not cooperate.
const FlatGroup = 64

// Pixel is the arena offset of the first channel at (y, x) of an image, or outside beyond its edges.
func Pixel(w *opspec.Window, in *layout.Tensor, channels, image, y, x int, outside uint32) uint32 {
	if y < 0 || y >= w.H || x < 0 || x >= w.W {
		return outside
	}
	return in.Off + uint32(((image*w.H+y)*w.W+x)*channels*in.Elem.Bytes())
}
