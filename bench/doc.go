// Package bench holds workloads built in code: single-operation models for measuring a device. Nothing is read from
// files; the same call builds the same bytes on every machine. Package bench/zoo has whole networks.
package bench
