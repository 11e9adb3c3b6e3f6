package timing

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Library is the runtime whose kernels compute. The efficiencies of KernelSpec are those of TensorFlow Lite's; the
// others differ in what they compute besides the products, and in what threads share (D-2701).
type Library uint8

// Libraries.
const (
	TFLite Library = iota
	ONNXRuntime
)

// way is how a library computes an operation.
type way struct {
	kernel      opspec.Kernel // whose efficiency the products have
	macs, steps int64         // with what tiles waste and what the library does beside the products
	patches     int64         // bytes of windows that are laid out
	buffer      int64         // of those, what is there at once
	shared      bool          // by all threads, or as many as there are blocks, which they take one after the other
	blocks      int
	layShared   bool // threads lay out the windows of their own blocks; otherwise the first thread lays out all
}

// way is how the library of the CPU computes an operation.
func (s *CPUSpec) way(w *opspec.Work) way {
	if s.Library == ONNXRuntime {
		return s.onnxRuntime(w)
	}
	x := way{kernel: w.Kernel, macs: w.MACs, steps: w.Steps, patches: w.Patches, buffer: w.Patches}
	switch w.Kernel {
	case opspec.KernelConv, opspec.KernelDense:
		x.shared, x.blocks = true, s.threads()*blocksPerThread
	case opspec.KernelDepthwise:
		// Depthwise convolutions are divided into as many rows for each thread.
		x.shared, x.blocks = true, s.threads()
	}
	return x
}

// blocksPerThread is how many blocks of a product of matrices there are for each thread: ruy (block_map.cc) looks for
// blocks of a size of which there are four or more, and threads take the next one when they are done (D-2804).
const blocksPerThread = 4

func (s *CPUSpec) threads() (n int) {
	for i := range s.Cores {
		n += s.Cores[i].Threads
	}
	return n
}

// What ONNX Runtime does, from its source: qlinearconv.cc, convsym.cpp, qgemm_kernel_udot.cpp, threadpool.cc.
const (
	// Rows of a product are tasks of at least taskMACs, at most tasksPerThread of them for each thread.
	taskMACs, tasksPerThread = 64 << 10, 64
	// A task of a depthwise convolution has so many rows.
	depthwiseRows = 4
	// Windows of directChannels and more are read where they are, through pointers; the others are laid out.
	directChannels = 64
	// The product of bytes computes tileColumns outputs at a time, of sums of multiples of tileDepth.
	tileColumns, tileDepth = 8, 8
	// A loop has a second thread from so many cycles on: (cycles - startup) / (cycles of a thread) + 0.9 is 2.
	sharedCycles = 100000 + 1.1*100000
)

// onnxRuntime is how ONNX Runtime computes an operation. Threads share the rows of convolutions and of products of
// matrices with all that is done to them, and loops over elements that are long.
func (s *CPUSpec) onnxRuntime(w *opspec.Work) way {
	x := way{kernel: w.Kernel, macs: w.MACs, steps: w.Steps, patches: w.Patches, buffer: w.Patches, layShared: true}
	tasks := w.MACs / taskMACs
	switch {
	case w.Kernel == opspec.KernelDepthwise:
		tasks = w.Product.Rows / depthwiseRows
	case w.Kernel == opspec.KernelNone:
		if s.Cores[0].arithmetic(w.Type, &x) >= sharedCycles {
			tasks = tasksPerThread * int64(s.threads())
		}
	case w.Product.Groups > 0:
		tasks /= w.Product.Groups // a task is all groups of its rows, and counts the weights of one
		x.products(&w.Product, int64(max(w.Type.ElementBytes(), 1)))
	}
	x.blocks = int(min(tasksPerThread*int64(s.threads()), max(tasks, 1)))
	x.shared = x.blocks > 1
	return x
}

// products makes a convolution products of matrices, for each group one.
func (x *way) products(p *opspec.Product, elementBytes int64) {
	x.kernel, x.steps = opspec.KernelConv, p.Steps
	depth, outputs := p.Taps*p.Inputs, p.Outputs
	switch {
	case p.Groups == 1 && p.Taps > 1 && p.Inputs >= directChannels:
		x.patches, x.buffer = 0, 0
		return
	case p.Groups > 1 && p.Taps > 1:
		x.buffer = p.Rows * depth * elementBytes
		x.patches = p.Groups * x.buffer
	}
	if elementBytes == 1 {
		x.macs = p.Groups * p.Rows * roundUp(depth, tileDepth) * roundUp(outputs, tileColumns)
	}
}

func roundUp(n, of int64) int64 { return (n + of - 1) / of * of }

// arithmetic is the cycles of a core for the steps and the multiply-accumulates of an operation, and for the windows
// that threads lay out for themselves.
func (c *CoreSpec) arithmetic(t nn.OperandType, x *way) float64 {
	p := precisionOf(t)
	element := float64(max(t.ElementBytes(), 1))
	cycles := float64(x.steps) * element / (c.SIMDBytes * c.Kernels.Efficiency[opspec.KernelNone][p])
	switch x.kernel {
	case opspec.KernelNone:
	case opspec.KernelGrouped:
		cycles += float64(float64(x.macs) * c.Kernels.GroupedCycles)
	default:
		peak := [numPrecisions]float64{c.MACF32, c.MACF16, c.MACI8}[p]
		cycles += float64(x.macs) / (peak * c.Kernels.Efficiency[x.kernel][p])
	}
	if x.layShared {
		cycles += float64(x.patches) / c.Kernels.PatchBytes
	}
	return cycles
}
