package cli

import (
	"io"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// App is the state common to the commands: where to print and the global flags.
type App struct {
	Out, Err io.Writer
	SoC      string
	Set      []string // changes of the SoC, KEY=VALUE
	JSON     bool
	// JSONLines: the rows of a long command are printed as they come, before its object.
	JSONLines bool
	// Drivers are the sockets of drivers in separate processes, DriverFolder one that holds such sockets.
	Drivers      []string
	DriverFolder string
	// DriverLibraries are drivers in C, each a library that a process of its own loads.
	DriverLibraries []string
	// Keep is what must stay open as long as this process runs.
	Keep []io.Closer
	// DriverTimeout is the host time after which such a driver is abandoned.
	DriverTimeout time.Duration
	// CacheDir and CacheToken are --cache-dir and --token of commands that compile.
	CacheDir, CacheToken string
	verbosity
	// Wrap wraps each device for the commands; a test plants faults with it. nil without.
	Wrap func(hal.Device) hal.Device
}
