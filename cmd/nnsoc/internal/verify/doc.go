// Package verify is the commands that compare devices with what is expected of them: vts and fuzz
// with the reference CPU, conformance with the contract of a driver, eval with a data set. Each is
// in the file of its name.
package verify
