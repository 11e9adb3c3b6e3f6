// Package cli is what all commands share: the global flags, exit codes, arguments and kinds of
// flags, text and JSON on standard output, files that are whole or as they were, progress and
// log on standard error, and what an interrupt removes.
package cli
