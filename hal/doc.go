// Package hal is the contract between the runtime and a driver: what a device
// can do (Capabilities, SupportedOperations), how a model becomes a prepared
// model, and what an execution reports. It follows the semantics of NNAPI HAL
// 1.3; it imports neither a device nor the simulator.
package hal
