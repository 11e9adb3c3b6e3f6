// Package rdna2 is the instruction set of AMD RDNA2 as gfx1030 implements it: the
// form table, an encoder, a decoder, an assembler and a disassembler for the
// text that LLVM reads and prints, and the kernel descriptor of code objects.
//
// ops.txt is the table, one line per instruction form; gen writes zops.go and the manual docs/isa/rdna2.md from it. It
// holds the scalar, vector, packed, compare, DPP16, DPP8, SDWA, LDS, global, generic (flat), buffer, scratch and
// scalar-memory forms that compilers emit for compute. Left out: image, typed and formatted buffer instructions,
// exports, interpolation, GDS and a few more: omitted.txt lists them, so that Decode reports them by name.
//
// Package asm below assembles whole sources, package codeobject reads, links and
// writes the ELF files.
//
// Programs are written with Kernel against the virtual registers of isa/codegen:
// Target describes wave32 code to its passes, and Link inserts the waits for
// memory that the instruction set leaves to software, resolves branches and
// encodes.
//
// Nothing here executes or times anything. Encodings are facts of the LLVM
// AMDGPU target description (LLVM 19); nominal latencies are those of LLVM's
// GFX10 scheduling model and of Mesa's statistics for the same chips.
package rdna2

//go:generate go run ./gen -table ops.txt -ops zops.go -manual ../../docs/isa/rdna2.md
