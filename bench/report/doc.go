// Package report reads what "nnsoc run --json" wrote, compares two of them and draws them.
// It computes no figure of its own: latencies, energies, cycles and stalls are those of the
// run.
package report
