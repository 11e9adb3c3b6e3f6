// Package hexagon is the instruction set of the Hexagon V66 DSP with 128-byte HVX vectors: a table of instruction forms,
// and from it an encoder, a decoder and the text of whole packets, and the packet legality checker. Package asm assembles and
// package object holds images, ELF files and listings.
//
// forms.txt is the table, readable as a datasheet: one row per form with its assembly syntax, encoding, slots, HVX pipes,
// operand cycles and meaning. zops.go is generated from it. Names are LLVM's tags, text is LLVM's syntax, and packets are
// laid out in LLVM's slot order, so llvm-mc and llvm-objdump can check everything this package writes.
//
// A duplex is represented as its two forms and a mark on its packet; Draft forms duplexes and compounds where LLVM does.
//
// Not modelled: later HVX revisions; their encodings are known by name only (foreign.go).
//
// Sources: encodings, types, slots, pipes and operand cycles are those of LLVM 19.1.7's Hexagon tables; packet rules
// follow the V66 programmer's manual's description of slots, .new values and hardware loops, as llvm-mc enforces them.
package hexagon

//go:generate go run ./internal/formgen/cmd
