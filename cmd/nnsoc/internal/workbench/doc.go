// Package workbench holds the commands that compare many runs: sweeps of a machine, and tables
// and plots of their results.
package workbench
