// Package depthwise has the kernels of DEPTHWISE_CONV_2D with one output channel per
// input channel, with the packer of their weights. One Kernel describes all three; it
// selects the first that its fields allow:
//
//	direct 3x3      vectors of several positions: the nine taps are two words and a byte
//	sliding window  columns of the window are made into words once, and shared by the
//	                outputs that read them
//	general         any window, each output for itself
//
// docs/RATIONALE.md has the measured gain of each.
package depthwise
