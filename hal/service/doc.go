// Package service makes a driver a process of its own, as Android's HAL services are.
//
//	client process                             driver process
//	Device (implements hal.Device) ── gRPC ──► Server ── hal.Device
//	            │      Unix socket                │
//	            └──────── shared memory ──────────┘  models, tensors, burst rings
//
// Control calls travel over gRPC on a Unix socket; models, tensors and bursts lie in
// memory files that both processes map, sealed so that neither can take pages from the
// other. The files of a compilation cache are the client's own, opened once more by the
// driver. The kernel tells the server which process is at the other end of a connection;
// a client can offer descriptors of its own only.
//
// A session lasts as long as the stream that opened it. When a client ends, however it
// ends, the server frees the memories, prepared models, device memory and bursts of its
// session, each after the executions that use it. When a server ends, calls of its
// clients fail with DEVICE_UNAVAILABLE, and the client's process goes on.
//
// A server copies what a client shares before anything looks at it: the client may
// change the memory at any time, and would only change its own results. Quotas bound what
// each client can hold and the calls that it can make at a time; see Quotas.
//
// What does not cross the boundary: spans of a trace and the driver's log.
//
// docs/Service.md describes the protocol.
package service
