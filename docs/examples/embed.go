// Package examples holds the examples that commands hand out.
package examples

import "embed"

// Adder is a whole driver as a module's files: "nnsoc driver new" renames it.
//
//go:embed adder
var Adder embed.FS
