// Package burst is the burst protocol of HAL 1.2 and 1.3: requests and results travel as
// packets of fixed-size datums through two fast message queues, and memories as slots
// that the driver maps once.
//
//	client                                   driver
//	Controller ── packet of RequestDatum ──► Server ── execute
//	Controller ◄── packet of ResultDatum ─── Server
//	slots      ◄── GetMemories(slots) ────── memory cache, when a slot is unknown
//	Controller ─── FreeMemory(slot) ───────► memory cache
//
// A datum is encoded in DatumBytes bytes whose unused ones are zero, so that a queue may
// be in memory shared by two processes. A malformed packet gets an error as its result and
// never ends the burst. A burst carries no deadlines, loop timeouts, device memory or
// fences: the Controller sends such requests through the calls of HAL 1.3.
package burst
