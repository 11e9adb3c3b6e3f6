// Command driverhost loads a driver in C or C++, a library with NNAPI's support library interface, and serves its devices to
// other processes, each on a socket of package service:
//
//	driverhost libdriver.so
//
// It prints a line per device, its name and its socket, and serves until its standard input ends: with the process that
// has started it. "nnsoc --driver-so" does so.
//
// A device is base.Device around the functions of the driver: base checks models and requests, and keeps bursts, fences,
// device memory and caches; the driver gets models, and executions one by one. `make libneuralnetworks` builds it; without
// the build tag libneuralnetworks the command has no loader and says so.
package main
