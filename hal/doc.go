// Package hal is the contract between the runtime and a driver: the semantics of
// Android's NNAPI HAL 1.3, with its names, in Go.
//
//   - Device is IDevice: capabilities, type, version, extensions, support queries,
//     preparing a model (from a model or from a compilation cache), device memory.
//   - PreparedModel is IPreparedModel: synchronous and fenced executions, reusable
//     executions, bursts.
//   - Buffer is IBuffer, Burst is IBurst, Execution is IExecution.
//
// Methods return when the work is done, with an error that has a Status, as Android's
// own canonical interfaces do. The asynchronous methods of each HIDL version, with a
// status of the launch and a callback, are in package hal/compat; they are the same for
// every driver.
//
// Time is simulated: a Clock belongs to a machine, deadlines are instants of it, and
// Timing is the duration of the simulated execution. The package imports neither a device
// nor the simulator.
package hal
