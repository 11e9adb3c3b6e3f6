// Package softmax has the kernel of SOFTMAX along the channels.
package softmax
