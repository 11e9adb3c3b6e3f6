// Package engine is what the programs of all simulated engines have in common: addresses of inputs, outputs and
// faults in their memories, how an execution fills and reads them, how programs are saved and listed, and the
// report of estimated and simulated cycles. A driver adds its core and its code.
package engine
