// Package convolution launches the kernels of convolutions, depthwise ones among them: the choice of kernel and
// register tile, the packed weights, and the arguments of each thread.
package convolution
