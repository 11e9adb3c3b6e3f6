package applog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of what a log may contain.
const (
	maxLines  = 10_000_000
	maxNumber = 1 << 20 // of a compilation
)

// Log is what an app did.
type Log struct {
	Processes    []Process
	Compilations []Compilation
	Executions   []Execution
}

// Read reads a log. A last line that its process did not complete, as when it was killed, is left out.
func Read(r io.Reader) (*Log, error) {
	log, d := &Log{}, json.NewDecoder(r)
	for n := 1; ; n++ {
		var l Line
		switch err := d.Decode(&l); {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return log, nil
		case err != nil:
			return nil, fmt.Errorf("applog: line %d: %w", n, err)
		case n > maxLines:
			return nil, fmt.Errorf("applog: more than %d lines", maxLines)
		case l.Compilation != nil && (l.Compilation.Number < 1 || l.Compilation.Number > maxNumber):
			return nil, fmt.Errorf("applog: line %d: compilation %d", n, l.Compilation.Number)
		}
		if l.Process != nil {
			log.Processes = append(log.Processes, *l.Process)
		}
		if l.Compilation != nil {
			log.Compilations = append(log.Compilations, *l.Compilation)
		}
		if l.Execution != nil {
			log.Executions = append(log.Executions, *l.Execution)
		}
	}
}
