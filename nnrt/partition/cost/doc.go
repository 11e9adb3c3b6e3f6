// Package cost finds out what the operations and segments of a model cost on
// each device, for package partition.
//
//	Measured      runs them on the devices; answers are kept by content, in
//	              memory and on disk
//	Linear        a line per device and type of operation, fitted to measurements
//	Capabilities  the CPU's measured costs times what devices promise
package cost
