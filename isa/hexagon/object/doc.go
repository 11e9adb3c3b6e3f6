// Package object is Hexagon programs outside of an assembler: images of segments and symbols, ELF files written and read, and
// listings of code as llvm-objdump prints them.
package object
