// Package gputimes holds the simulated GPU to a measured one: single float16 kernels of a Pixel 4's
// GPU, by shape, beside the time that the driver's kernels for the same operation take on the
// simulated device at its top clock. docs/FIDELITY.md has the classes.
package gputimes
