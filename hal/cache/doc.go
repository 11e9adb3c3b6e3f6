// Package cache reads and writes the files of a compilation cache: one model file with
// compiled code, one data file with constants and repacked weights.
//
// The model file is a header, the payload and a SHA-256 of both. The header holds the
// token, a digest of the device's identity, the lengths of both files and the CRC-32C of
// the data file; the data file begins with the digest of its model file. So a file that
// is truncated, extended, changed in one bit, from another model, another driver or
// under another token is refused. Both files are read once, into memory of this process,
// and only the copy is checked and used: concurrent writes to the files have no
// effect. Inside a payload every length is checked against the bytes left, so that a forged
// file with a valid digest is an error, not a crash.
package cache
