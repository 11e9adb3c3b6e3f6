// Package asm assembles Hexagon programs in LLVM's syntax, and writes code as source that assembles to the same bytes.
package asm
