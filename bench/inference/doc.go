// Package inference runs networks that Vela compiled ahead of time, as an Arm
// driver does: ethos-u operators on an NPU core, the operators between them on
// the CPU of the same SoC through the runtime.
//
// A Session checks that the NPU is the one that the network was compiled for, prepares the CPU parts and keeps the
// memory of the NPU; Run executes the steps one after another and passes tensors between them. Its report of the NPU is
// that of the hardware's performance counters: cycles, active cycles and the beats of each AXI port, with the cycles of
// every command that starts work.
package inference
