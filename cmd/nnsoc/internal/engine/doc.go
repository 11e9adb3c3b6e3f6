// Package engine is the commands of single engines without a driver: dsp (asm, disasm, exec,
// pipeline), gpu (asm, disasm, exec) and npu (asm, disasm, exec). A file is named after its
// command.
package engine
