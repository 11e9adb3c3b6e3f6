// Package ethosu is the register-command language of Arm's Ethos-U55 and
// Ethos-U65 NPUs: the command stream, the driver payload around it, the
// compressed weight stream and the bias/scale records.
//
// A stream is a sequence of 32-bit words. Set commands write one register of
// the machine, operation commands start work with the current registers.
// Registers keep their value until rewritten.
//
// The package has encodings only. Package npu executes commands.
//
// Sources: the U55 and U65 interface headers, the Vela compiler 3.10 (which
// registers it writes and in which text form it lists them) and the stream
// validator of the Linux accel/ethosu driver. The weight codec follows the
// format those tools share. docs/isa/ethosu.md is generated from the table.
package ethosu

//go:generate go run ./gen -o ../../docs/isa/ethosu.md
