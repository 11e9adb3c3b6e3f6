// Package bench holds workloads built in code: networks of real structure
// with deterministic synthetic weights, and single-operation models for
// measuring a device. Nothing is read from files; the same call gives the same
// bytes on every machine.
package bench
