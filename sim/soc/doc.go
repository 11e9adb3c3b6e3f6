// Package soc describes whole machines: one TOML file per SoC, embedded
// presets among them. Each number in a preset carries a comment that names its
// public source, or "assumed" and an entry of docs/DEVIATIONS.md.
//
// The sections are plain structs with documented units; a driver converts its
// section into the specification of its core, and package platform makes a machine of
// the whole. The package models nothing itself; it decodes strictly (an unknown or missing key
// is an error) and checks the range of every number, with file:line:column.
package soc
