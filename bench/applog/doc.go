// Package applog records what an app does with NNAPI: a line of JSON per compilation and
// per execution. Package libneuralnetworks writes the file while the app runs, another process
// reads it afterwards. Times and energies are simulated, but the time of the host that a
// compilation took.
package applog
