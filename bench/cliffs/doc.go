// Package cliffs looks for places where a device is suddenly slow: it walks families of operations along
// their parameters (channels, planes, windows, batches, units), at powers of two and their neighbours, and
// reports each step of more than MaxStep beyond the growth of the work, and each operation that takes more
// than MaxRoof times its roof beyond a launch.
//
// The work of an operation is its multiply-accumulates and the bytes of its operands, whichever grow more; its
// roof is that of Williams, Waterman and Patterson, "Roofline" (CACM 52, 2009). Times are what a program
// of one operation at the highest clocks on cold memories, without the launch of the program.
//
// The operations of a network are walked likewise, each alone. What is known to be slow has a reason in a table, with
// the ratio up to which it holds.
package cliffs
