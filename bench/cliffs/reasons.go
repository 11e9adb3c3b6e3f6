package cliffs

import "strings"

// reason is why cliffs of a kind stay, of the families whose names begin with a type of operation ("" is any).
type reason struct {
	device, family string
	kind           Kind
	// atMost is the ratio up to which the reason holds, and shorter the time; 0 is any.
	atMost, shorter float64
	why             string
}

// Why cliffs stay, more than once.
const (
	short = "shorter than that, an operation is latencies: dispatch, loads that wait for each other, memories that are cold; it has too little work to hide them"
	edge  = "one more than a multiple of a tile, a vector or a thread's share needs one tile more, most of it empty"
	taps  = "elements of a window are loaded and added one by one, in each lane; the roof counts the multipliers that no addition uses"
	cache = "the operands no longer fit the system-level cache; before that they are read from it at more than the memory's rate"
	few   = "few outputs: lanes of a wave are channels, and the rest of them idles"
)

// reasons are why cliffs stay, the first row that fits counts. All were measured on pixel4 by bench cliffs.
var reasons = []reason{
	{device: "gpu", kind: Slow, shorter: 20, why: short},
	{device: "gpu", family: "CONV_2D", kind: Slow, atMost: 76, why: few + "; with as many outputs as lanes the kernels are as far from the peak as those of the phone's library (docs/FIDELITY.md)"},
	{device: "gpu", family: "CONV_2D", kind: Step, atMost: 2.3, why: edge + "; inputs of bytes are products of four"},
	{device: "gpu", family: "GROUPED_CONV_2D", kind: Slow, atMost: 52, why: "lanes of a wave are outputs of several groups, and each reads inputs of its own group: 29 kernels of the phone's library are as slow (docs/FIDELITY.md); bytes have a loop over the window for each output, which takes 0.5 to 1.5 times as long as the quads of floats, where the roof has four times as many products"},
	{device: "gpu", family: "DEPTHWISE_CONV_2D", kind: Slow, atMost: 48, why: taps + "; a byte is a load of a lane as a float is"},
	{device: "gpu", family: "DEPTHWISE_CONV_2D", kind: Step, atMost: 1.6, why: edge},
	{device: "gpu", family: "AVERAGE_POOL_2D", kind: Slow, atMost: 75, why: taps + "; where outputs fill no wave, a row of the window waits for the row before: a phone needs 13 us and more for 7x7 to one position, ours 6 and more"},
	{device: "gpu", family: "MAX_POOL_2D", kind: Slow, atMost: 12, why: taps},
	{device: "gpu", family: "MEAN", kind: Slow, atMost: 200, why: taps + "; of fewer than 64 elements in one step, as on the phone (D-1281)"},
	{device: "gpu", family: "AVERAGE_POOL_2D", kind: Step, atMost: 1.8, why: "windows that do not divide the image leave part of it unread, which the work counts"},
	{device: "gpu", family: "MAX_POOL_2D", kind: Step, atMost: 1.9, why: "windows that do not divide the image leave part of it unread, which the work counts"},
	{device: "gpu", family: "FULLY_CONNECTED", kind: Slow, atMost: 125, why: few},
	{device: "gpu", family: "LSTM", kind: Slow, atMost: 9, why: few + "; gates are a kernel behind that of their sums"},
	{device: "gpu", family: "FULLY_CONNECTED", kind: Step, atMost: 2.1, why: edge},
	{device: "gpu", family: "SOFTMAX", kind: Slow, atMost: 13000, why: "a row is a wave's: its sum is a chain of exponentials, which the roof does not count"},
	{device: "gpu", family: "TRANSPOSE", kind: Slow, atMost: 47, why: "lanes read addresses in as many cache lines as they are: a nearest cache of 1 KiB holds none of them until the next load"},
	{device: "gpu", family: "TRANSPOSE", kind: Step, atMost: 2.3, why: "strides of powers of two fall into the same sets of the caches"},
	{device: "gpu", family: "CONCATENATION", kind: Slow, atMost: 10, why: "an input is a launch of its own, and bytes of an input of another scale go through a table, one by one, before they are copied"},
	{device: "gpu", family: "CONCATENATION", kind: Step, atMost: 1.6, why: "from 64 channels to 65 units of copies overlap and straddle cache lines; from 65 columns to 127 " + cache},
	{device: "gpu", family: "RESIZE_BILINEAR", kind: Step, atMost: 1.4, why: "the output no longer fits the system-level cache"},
	{device: "gpu", family: "ADD", kind: Step, atMost: 1.7, why: cache},
	{device: "gpu", family: "LOGISTIC", kind: Step, atMost: 1.6, why: cache},
	{device: "gpu", family: "RELU", kind: Step, atMost: 1.6, why: cache},

	{device: "dsp", kind: Slow, shorter: 15, why: short},
	{device: "dsp", family: "AVERAGE_POOL_2D", kind: Step, atMost: 1.9, why: firstInput},
	{device: "dsp", family: "MAX_POOL_2D", kind: Step, atMost: 1.9, why: firstInput},
	{device: "dsp", family: "AVERAGE_POOL_2D", kind: Slow, atMost: 18.5, why: taps + "; " + firstInput},
	{device: "dsp", family: "MAX_POOL_2D", kind: Slow, atMost: 12, why: taps + "; " + firstInput},
	{device: "dsp", family: "MEAN", kind: Slow, atMost: 8, why: taps + "; " + firstInput},
	{device: "dsp", family: "CONV_2D", kind: Slow, atMost: 18, why: "few outputs, or few positions: vectors are 32 outputs of 4 inputs, and threads share positions"},
	{device: "dsp", family: "CONV_2D", kind: Step, atMost: 1.8, why: edge + "; from 896 inputs on weights go through L2 more than once (D-2200)"},
	{device: "dsp", family: "DEPTHWISE_CONV_2D", kind: Slow, atMost: 49, why: taps + "; a window of 16 columns takes the general kernel"},
	{device: "dsp", family: "DEPTHWISE_CONV_2D", kind: Step, atMost: 5.8, why: padded + "; a window of 16 columns takes the general kernel"},
	{device: "dsp", family: "FULLY_CONNECTED", kind: Slow, atMost: 15.5, why: edge + ", and weights are read from memory once"},
	{device: "dsp", family: "FULLY_CONNECTED", kind: Step, atMost: 1.8, why: edge},
	{device: "dsp", family: "RESIZE_BILINEAR", kind: Slow, atMost: 28.1, why: "sums of products of words with weights of 22 bits, rounded as the reference's float32"},
	{device: "dsp", family: "RESIZE_BILINEAR", kind: Step, atMost: 1.5, why: "the output no longer fits L2"},
	{device: "dsp", family: "RESIZE_NEAREST_NEIGHBOR", kind: Step, atMost: 1.8, why: unaligned},
	{device: "dsp", family: "SOFTMAX", kind: Slow, atMost: 130, why: "a row is a thread's: its sum is a chain, which the roof does not count"},
	{device: "dsp", family: "TRANSPOSE", kind: Slow, atMost: 30, why: "bytes change places between vectors by permutations of several steps; the rest of a vector of few channels is empty"},
	{device: "dsp", family: "TRANSPOSE", kind: Step, atMost: 1.5, why: edge},
	{device: "dsp", family: "CONCATENATION", kind: Slow, atMost: 4.6, why: unaligned},
	{device: "dsp", family: "CONCATENATION", kind: Step, atMost: 2.2, why: unaligned},
	{device: "dsp", kind: Slow, atMost: 37, why: padded},

	{device: "cpu", kind: Slow, shorter: 30, why: short},
	{device: "cpu", family: "CONV_2D", kind: Slow, atMost: 33, why: held},
	{device: "cpu", family: "DEPTHWISE_CONV_2D", kind: Slow, atMost: 53, why: held},
	{device: "cpu", family: "GROUPED_CONV_2D", kind: Slow, atMost: 263, why: "TensorFlow Lite runs groups by its reference loop, on one thread (D-312)"},
	{device: "cpu", family: "CONCATENATION", kind: Slow, atMost: 40, why: held},
	{device: "cpu", family: "AVERAGE_POOL_2D", kind: Step, atMost: 2.5, why: "windows that do not divide the image leave part of it unread, which the work counts"},
	{device: "cpu", family: "MAX_POOL_2D", kind: Step, atMost: 2.5, why: "windows that do not divide the image leave part of it unread, which the work counts"},
	{device: "cpu", kind: Slow, atMost: 31, why: held},
	{device: "cpu", family: "RESIZE_BILINEAR", kind: Step, atMost: 1.4, why: held},

	{device: "npu", kind: Slow, shorter: 36, why: short},
	{device: "npu", family: "AVERAGE_POOL_2D", kind: Slow, atMost: 26, why: elementUnit},
	{device: "npu", family: "MAX_POOL_2D", kind: Slow, atMost: 71, why: elementUnit},
	{device: "npu", family: "MEAN", kind: Slow, atMost: 20, why: elementUnit},
	{device: "npu", family: "AVERAGE_POOL_2D", kind: Step, atMost: 2.3, why: elementUnit + "; " + edge},
	{device: "npu", family: "MAX_POOL_2D", kind: Step, atMost: 2.5, why: elementUnit + "; " + edge},
	{device: "npu", family: "DEPTHWISE_CONV_2D", kind: Slow, atMost: 66, why: "a channel has one input: of the array's products along inputs one is used"},
	{device: "npu", family: "CONV_2D", kind: Slow, atMost: 6, why: "a tile has an output per cycle (D-1741), 16 in all: with fewer than 256 products for each, outputs are the limit and not the array"},
	{device: "npu", family: "GROUPED_CONV_2D", kind: Slow, atMost: 14, why: "groups are convolutions one after the other, of few channels each, and a tile has an output per cycle (D-1741)"},
	{device: "npu", family: "FULLY_CONNECTED", kind: Slow, atMost: 5.5, why: "rows of a batch go through the array one after the other, with the weights again"},
	{device: "npu", family: "RESIZE_BILINEAR", kind: Slow, atMost: 98, why: "columns are blended in 32 bits, then rows, then divided, each an operation on the image: Ethos-U scales by two alone"},
	{device: "npu", family: "RESIZE_NEAREST_NEIGHBOR", kind: Slow, atMost: 14, why: "rows and columns are copied one by one, as Ethos-U has no other scale than two"},
	{device: "npu", family: "SOFTMAX", kind: Slow, atMost: 53, why: "a softmax is a dozen operations of Ethos-U, each on the whole row"},
	{device: "npu", family: "TRANSPOSE", kind: Slow, atMost: 10.5, why: "not examined: of the zoo only ShuffleNet's exchange of channels comes here, 42 us each"},
	{device: "npu", family: "CONCATENATION", kind: Slow, atMost: 4.5, why: "the second input does not begin at a brick of 16 channels"},
}

// Reasons of an engine for several families.
const (
	firstInput  = "the input of a program's first operation comes from memory line by line: what is prefetched as a whole is so beside the operation before; fewer windows than threads leave these idle"
	padded      = "channels are in rows of 32, 64 and multiples of 128 bytes, a vector each; what has other channels is copied into them and back"
	unaligned   = "runs of channels begin anywhere in a vector: their loads and stores touch two, and vectors of the output hold bytes of several"
	held        = "the CPU is held to measured latencies of TensorFlow Lite's kernels by operation (docs/FIDELITY.md), not to the peak of its cores"
	elementUnit = "pooling uses the array's inputs one by one: an element of a window and cycle for each channel"
)

// Why is why a cliff stays; "" where it has no reason.
func (c *Cliff) Why() string {
	for i := range reasons {
		r := &reasons[i]
		if r.device == c.Device && r.kind == c.Kind && strings.HasPrefix(c.Family, r.family) &&
			(r.atMost == 0 || c.Ratio <= r.atMost) && (r.shorter == 0 || c.At.TimeUS <= r.shorter) {
			return r.why
		}
	}
	return ""
}
