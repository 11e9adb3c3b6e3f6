// Package asm assembles whole sources for gfx1030 in LLVM's syntax into code
// objects: the output of clang -S, and hand-written code.
//
// It supports labels (also 1: with 1b and 1f), expressions, sections, data,
// symbols, .macro, .rept, .irp and conditions from .if to .endif, the kernel
// descriptors of .amdhsa_kernel and the metadata of .amdgpu_metadata. Symbols
// in instructions may be branch targets, literals, and literals with @rel32@lo,
// @rel32@hi, @gotpcrel32@lo, @gotpcrel32@hi, @abs32@lo or @abs32@hi.
//
// The directives and their defaults are those of LLVM's User Guide for AMDGPU
// Backend.
package asm
