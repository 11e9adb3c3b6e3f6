// Package guarded calls drivers, which may be anybody's: a panic, an answer that is too short and
// one that is neither a result nor an error become errors with the name of the device.
package guarded
