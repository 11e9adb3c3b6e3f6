// Package vlog is the verbose logging of Android's NNAPI: events have a tag, and a
// variable selects the tags that are logged, as the property debug.nn.vlog does.
package vlog

import (
	"fmt"
	"slices"
	"strings"
)

// Variable is the environment variable that names the tags.
const Variable = "NNSOC_VLOG"

// Tags of events.
const (
	Model       = "model"       // models, their operations and inputs
	Compilation = "compilation" // devices of operations, parts, what falls back to the CPU
	Execution   = "execution"   // steps and what they cost
	CPU         = "cpuexe"      // operations of the reference CPU
	Manager     = "manager"     // devices that are found
	Driver      = "driver"      // calls of the HAL
	Memory      = "memory"      // device memory
)

// Tags lists all tags, in Android's order.
func Tags() []string {
	return []string{Model, Compilation, Execution, CPU, Manager, Driver, Memory}
}

// Parse reads the value of the variable: tags separated by spaces, commas or colons, or
// "all" or "1" for all tags. Nothing is none. The list is in the order of Tags.
func Parse(value string) ([]string, error) {
	enabled := map[string]bool{}
	for _, tag := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,:", r) }) {
		switch {
		case tag == "all" || tag == "1":
			for _, t := range Tags() {
				enabled[t] = true
			}
		case slices.Contains(Tags(), tag):
			enabled[tag] = true
		default:
			return nil, fmt.Errorf("%s: no tag %q; there are %s and all", Variable, tag, strings.Join(Tags(), ", "))
		}
	}
	return slices.DeleteFunc(Tags(), func(t string) bool { return !enabled[t] }), nil
}
