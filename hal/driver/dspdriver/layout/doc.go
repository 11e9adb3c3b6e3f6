// Package layout is how the DSP keeps tensors in memory: positions of channels at a pitch,
// rows with a halo of zero points, or the dense bytes of a client, and the map of addresses.
package layout
