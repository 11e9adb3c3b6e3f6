// Package report reads the output of "nnsoc run --json", compares two of them and draws them. It computes no figures
// itself: latencies, energies, cycles and stalls are those of the run.
package report
