// Package registry holds the devices of a runtime, in their order, restrictions for tests
// (operations forced to other devices, an older version of the HAL), and the files in which their
// compilations are cached.
package registry
