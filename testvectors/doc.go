// Package testvectors runs test vectors on any device and compares the results
// with the accuracy rules that NNAPI's generated tests use.
//
// Open reads the corpus; Compare judges one output; Check judges a case; Run is
// the suite for a hal.Device. The corpus itself is not part of the repository:
// suites skip when it is absent.
package testvectors
