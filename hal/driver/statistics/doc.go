// Package statistics is what the drivers of all devices share: turning a core's
// report into the HAL's statistics.
package statistics
