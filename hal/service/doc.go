// Package service runs a driver in a separate process, like Android's HAL services.
//
//	client process                             driver process
//	Device (implements hal.Device) ── gRPC ──► Server ── hal.Device
//	            │      Unix socket                │
//	            └──────── shared memory ──────────┘  models, tensors, burst rings
//
// Control calls are gRPC on a Unix socket; models, tensors and bursts are in
// memory files that both processes map, sealed so that neither can truncate them under the
// other. The files of a compilation cache are the client's own, opened once more by the
// driver. The kernel identifies the process at the other end of a connection;
// a client can pass only its own descriptors.
//
// A session lasts as long as the stream that opened it. When a client ends, however it
// ends, the server frees the memories, prepared models, device memory and bursts of its
// session, each after the executions that use it. When a server ends, calls of its
// clients fail with DEVICE_UNAVAILABLE, and the client's process continues.
//
// A server copies what a client shares before it is examined: the client may
// change the memory at any time, and affects only its own results. Quotas bound what
// each client can hold and the calls that it can make at a time; see Quotas.
//
// Not transferred: spans of a trace and the driver's log.
//
// docs/Service.md describes the protocol.
package service
