// Package applog records what an app does with NNAPI: a line of JSON per process, per
// compilation and per execution. libneuralnetworks.so writes the file while the app runs, as the
// environment asks for it; "nnsoc app" reads it afterwards. Times and energies are simulated, but the time of the host that a
// compilation took.
package applog
