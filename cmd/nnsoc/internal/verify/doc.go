// Package verify is the commands that check devices: vts and fuzz against the reference CPU,
// conformance against the contract of a driver, eval against a data set. Each is in the file of
// its name.
package verify
