package hal

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Contain converts a panic of the function that defers it into an error with
// status GENERAL_FAILURE, which names the device, the call and the source line:
//
//	func (d *Device) PrepareModel(...) (p PreparedModel, err error) {
//		defer hal.Contain(&err, d.Name(), "PrepareModel")
//
// The function's other results keep the values they had.
func Contain(err *error, device, call string) {
	if v := recover(); v != nil {
		*err = Errorf(GeneralFailure, "%s: panic in %s: %v (%s)", device, call, v, origin())
	}
}

// origin is where the panic that is being recovered began.
func origin() string {
	var pc [64]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	panicking := false
	for {
		f, more := frames.Next()
		if panicking && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s, %s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], filepath.Base(f.File), f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return "place unknown"
		}
	}
}
