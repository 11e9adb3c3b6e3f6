// Package dramtimes runs patterns of requests on the DRAM controller that the engines
// use and compares what it measures with golden values of clock-by-clock
// simulators. Table reads the patterns, Run drives the controller, Compare says
// what lies in its band. docs/Memory.md has the grammar and the results.
package dramtimes
