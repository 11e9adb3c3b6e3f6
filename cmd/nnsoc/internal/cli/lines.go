package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/spf13/cobra"
)

// linesKey is the annotation of a command whose --json=lines prints the elements of a list: the list's field.
const linesKey = "lines"

// PrintsLines declares that a command prints the elements of a field of its object with --json=lines, by a Lines.
func PrintsLines(cmd *cobra.Command, field string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[linesKey] = field
}

// LinesField is the field of a command's object whose elements --json=lines prints; "" is none.
func LinesField(cmd *cobra.Command) string { return cmd.Annotations[linesKey] }

// CheckLines refuses --json=lines of a command that prints nothing before its object.
func CheckLines(a *App, cmd *cobra.Command) error {
	if !a.JSONLines || LinesField(cmd) != "" {
		return nil
	}
	return Usage(fmt.Errorf("--json=lines: %q has one object and no rows before it: give --json (docs/JSON.md names the commands with rows)", cmd.CommandPath()))
}

// JSONFlag is --json: one object, or with =lines the rows of a long command before it.
type JSONFlag struct{ App *App }

// String implements pflag.Value.
func (f JSONFlag) String() string {
	switch {
	case f.App == nil:
		return "false"
	case f.App.JSONLines:
		return "lines"
	}
	return strconv.FormatBool(f.App.JSON)
}

// Type implements pflag.Value; a flag of this type is shown without the name of a value.
func (f JSONFlag) Type() string { return "bool" }

// IsBoolFlag makes the value optional, as pflag has it.
func (f JSONFlag) IsBoolFlag() bool { return true }

// Set implements pflag.Value.
func (f JSONFlag) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if lines := s == "lines"; lines {
		on, err, f.App.JSONLines = true, nil, true
	} else {
		f.App.JSONLines = false
	}
	if err != nil {
		return errors.New("want nothing, or =lines")
	}
	f.App.JSON = on
	return nil
}

// PrintObject writes the object of a command that has rows: as PrintJSON does, or with --json=lines on one line, the last.
func (a *App) PrintObject(v any) error {
	if !a.JSONLines {
		return PrintJSON(a.Out, v)
	}
	line, err := jsonLine(v)
	if err != nil {
		return err
	}
	_, err = a.Out.Write(line)
	return err
}

func jsonLine(v any) ([]byte, error) {
	b, err := encodeJSON(v)
	return append(b, '\n'), err
}

// Lines prints the rows of a long command as they come, each as an object on a line, where --json=lines asks for them.
// Rows that several workers finish are printed in the order of the rows, each as soon as all before it are there.
type Lines struct {
	app   *App
	mu    sync.Mutex
	next  int            // the row that is printed next
	early map[int][]byte // rows after it
}

// Lines returns what prints the rows of a command.
func (a *App) Lines() *Lines { return &Lines{app: a, early: map[int][]byte{}} }

// Append prints the next row, of a command that has one after the other.
func (l *Lines) Append(row any) error { return l.Add(l.next, row) }

// Add prints row i, or keeps it until those before it are printed. It may be called from several goroutines.
func (l *Lines) Add(i int, row any) error {
	if !l.app.JSONLines {
		return nil
	}
	line, err := jsonLine(row)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.early[i] = line
	var ready bytes.Buffer
	for ; l.early[l.next] != nil; l.next++ {
		ready.Write(l.early[l.next])
		delete(l.early, l.next)
	}
	_, err = l.app.Out.Write(ready.Bytes())
	return err
}
