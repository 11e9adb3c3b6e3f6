// Command libneuralnetworks is Android's NNAPI as a C library, libneuralnetworks.so, whose
// devices belong to a simulated SoC: programs that load NNAPI run on it as they are.
//
// A C function turns handles into values and pointers into slices and calls the function of
// the same name of package nnapi; which call reports an error is decided there. Handles are
// those of runtime/cgo and point at nothing. A panic inside is OP_FAILED, with a line on
// stderr. Functions, types and constants are those of include/android/NeuralNetworks.h, up
// to API level 31.
//
// libandroid.so (ASharedMemory) and libnativewindow.so (AHardwareBuffer), in which Android
// has the memory that apps share with NNAPI, are C in the folder android.
//
// `make libneuralnetworks` builds the three into out/android; it needs a C compiler. Without
// the build tag libneuralnetworks this package is empty. The environment configures the
// phone: NNSOC_SOC names the SoC or its file, NNSOC_SET changes its keys (K=V, separated by
// commas), NNSOC_DEVICE names the drivers to use, NNSOC_APPLOG and its like are those of package
// applog, as "nnsoc app" sets them, and NNSOC_VLOG, set to anything, prints each call that fails.
package main

//go:generate go run ./internal/header

func main() {}
