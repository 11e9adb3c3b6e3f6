// Package machine opens the SoC that the global flags name: its devices, drivers in other
// processes, drivers of older HAL versions, their limits, and the measured capabilities of a SoC
// that is no preset.
package machine
