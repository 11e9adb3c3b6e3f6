// Package hvxtest runs one kernel alone on a core, so that a test can compare what it
// writes with an oracle in Go:
//
//	b := hvxtest.New(t)
//	in, out := b.Load(data), b.Room(len(data))
//	b.Run(elementwise.Clamp{}, []uint32{b.Words(in, out, 1), 1, 0x10101010, 0xf0f0f0f0})
//	got := b.Bytes(out, len(data))
//
// The core is the pixel4's DSP (Hexagon V66 with 128-byte HVX). Runs are timed, and
// Run returns the report of the core: cycles, stalls, regions.
//
// Golden keeps a kernel's key and the packets of its inner loops in a file that a
// person can read, so that a change of the code is visible in a review.
package hvxtest
