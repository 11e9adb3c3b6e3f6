// Package cli is the part common to all commands: the global flags, exit codes, arguments and kinds of flags, text and
// JSON on standard output, files that are replaced whole or not at all, progress and log on standard error, and
// clean-up after an interrupt.
package cli
