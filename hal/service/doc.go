// Package service makes a driver a process of its own, as Android's HAL services are.
//
//	client process                             driver process
//	Device (implements hal.Device) ── gRPC ──► Server ── hal.Device
//	            │      Unix socket                │
//	            └──────── shared memory ──────────┘  models, tensors, burst rings
//
// Control calls travel over gRPC on a Unix socket; models, tensors and bursts lie in
// memory files that both processes map, sealed so that neither can take pages from the
// other. The kernel tells the server which process is at the other end of a connection;
// a client can offer descriptors of its own only.
//
// A session lasts as long as the stream that opened it. When a client ends, however it
// ends, the server frees the memories, prepared models and bursts of its session, after
// the executions that run. When a server ends, calls of its clients fail with
// DEVICE_UNAVAILABLE, and the client's process goes on.
//
// A server copies what a client shares before anything looks at it: the client may
// change the memory at any time, and would only change its own results. Quotas bound the
// memory, the prepared models and the calls at a time of each client.
//
// What does not cross the boundary: compilation caches, device memory (Allocate) and
// spans of a trace. The device says that it has no caches, and refuses the others.
package service
