// Package run is the command run: a network on each device, compared with the reference CPU, or
// several networks beside each other, and its reports.
package run
