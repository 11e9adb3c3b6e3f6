// Package cost determines the costs of the operations and segments of a model on
// each device, for package partition.
//
//	Measured      runs them on the devices; results are cached by content, in
//	              memory and on disk
//	Linear        a line per device and type of operation, fitted to measurements
//	Capabilities  the CPU's measured costs times the ratios of getCapabilities
//	Table         rows of a file, measured elsewhere
package cost
