// Package machine opens the SoC that the global flags name: its devices, drivers that are
// processes of their own, old drivers and limits of them, and the capabilities measured of a SoC
// that is no preset.
package machine
