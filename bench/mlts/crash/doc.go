// Package crash implements the crash tests of the ML Test Suite: twelve ways to put a driver under stress, each on one
// accelerator and in a separate process.
//
// A Coordinator starts a process for each test (coordinator.go) and judges it by its outcome: SUCCESS, FAILURE with the
// text of an assertion, CRASH when the process died, HANG when it has not ended in time. Work is that process
// (worker.go): it runs a mode (modes.go), then a liveness check, one small inference within a time limit. Where a mode
// needs more processes, or the driver runs behind the service, the test starts them: clients, which may be killed on
// purpose, and a driver (process.go). All of them are the same program; a Request selects the role.
package crash
