package applog

import (
	"fmt"
	"os"
	"strconv"
)

// Variables of the environment that configure the recorder of a process.
const (
	FileVariable   = "NNSOC_APPLOG"    // the file to which lines are added; without it nothing is recorded
	CheckVariable  = "NNSOC_APPCHECK"  // set to anything: executions are compared with the reference
	TracedVariable = "NNSOC_APPTRACED" // number of executions with their spans
	ModelsVariable = "NNSOC_APPMODELS" // folder to which models are written
)

// FromEnvironment returns the recorder that the environment asks for, nil for none. p and now are what Options calls Process and Now.
func FromEnvironment(env func(string) string, p Process, now func() int64) (*Recorder, error) {
	o := Options{Process: p, NowFs: now, Check: env(CheckVariable) != "", Models: env(ModelsVariable)}
	if text := env(TracedVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s: %q is no number of executions", TracedVariable, text)
		}
		o.Traced = n
	}
	name := env(FileVariable)
	if name == "" {
		return nil, nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FileVariable, err)
	}
	return NewRecorder(f, o), nil
}
