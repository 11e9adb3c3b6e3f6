// Package devices makes the devices of a SoC ready to use: from a file of
// sim/soc, one hal.Device per engine with its driver, clocks, memory path and
// capabilities. It is the only package that imports all drivers; the command, tests
// and users open devices here and pass them to a runtime.
package devices
