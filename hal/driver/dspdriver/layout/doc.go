// Package layout defines how the DSP stores tensors in memory: positions of channels at a pitch,
// rows with a halo of zero points, or the dense bytes of a client, and the map of addresses.
package layout
