// Package dramtimes runs patterns of requests on the DRAM controller that the engines
// use and compares the results with golden values of clock-by-clock
// simulators. Table reads the patterns, Run drives the controller, Compare reports
// which results are within their tolerances. docs/Memory.md has the grammar and the results.
package dramtimes
