// Package filter has what convolutions multiply with, apart from tensors: filters in
// one unsigned form, biases and requantization, and how records of these begin.
package filter
