// Package run is the command run: a network on each device, compared with the reference CPU, or
// several networks at the same time, and its reports.
package run
