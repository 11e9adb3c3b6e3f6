// Package workbench holds the commands that look at many runs: sweeps of a machine, and what
// is made of their results.
package workbench
