// Package gputimes compares the simulated GPU with a measured one: single float16 kernels of a
// Pixel 4's GPU, by shape, beside the time of the driver's kernels for the same operation on the
// simulated device at its top clock. docs/FIDELITY.md has the classes.
package gputimes
