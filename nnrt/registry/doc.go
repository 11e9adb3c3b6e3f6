// Package registry holds the devices that a runtime knows, in their order, the rules that tests
// put on them (operations forced away, an old version of the HAL), and the files in which their
// compilations are cached.
package registry
