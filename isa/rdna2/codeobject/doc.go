// Package codeobject reads, links and writes AMD GPU code objects for gfx1030:
// ELF files as clang makes them for amdgcn-amd-amdhsa, with a 64-byte descriptor
// per kernel and a MessagePack note that describes the kernels' arguments.
//
// Read accepts shared objects, which a runtime loads, and relocatable ones, which it links. Unit is the output of an
// assembler before linking: sections, symbols and relocations. File.Load maps the segments to an address.
//
// Versions 3 to 6 of the ABI are read; they differ in the hidden arguments that
// the metadata lists, not in the file. Formats follow LLVM's User Guide
// for AMDGPU Backend (LLVM 19).
package codeobject
