// Package bench is the command bench: gemm (bench.go), budget, cpu, dsp, kernels, dram, service
// and anchors, each in the file of its name.
package bench
