package sim

import "fmt"

// Late is the error of a run that had not ended at the instant at which its options let it end.
type Late struct{ At Time }

// Error implements error.
func (e *Late) Error() string {
	return fmt.Sprintf("stopped %.1f us after its start", e.At.Microseconds())
}
