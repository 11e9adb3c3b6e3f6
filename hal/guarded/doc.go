// Package guarded calls drivers, which are not trusted: a panic, a result that is too short and
// a return of neither result nor error become errors with the name of the device.
package guarded
