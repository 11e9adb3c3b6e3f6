package cost

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
	"github.com/nnsoc/nnsoc/nn"
)

// Limits of a file of costs.
const (
	MaxTableBytes = 16 << 20
	maxTableRows  = 100_000
	maxCost       = 1e6 // seconds, or joules: far above any, and far below partition.Never
)

// Types of rows that are no operations.
const (
	TableSegment  = "segment"  // the fixed cost of a part of a plan
	TableKilobyte = "kilobyte" // 1000 bytes that enter or leave a part
	TableNetwork  = "network"  // a network as a whole, which nnsoc schedule reads
)

// tableRow is a row of a file of costs: what it is about, and what that costs. A quantity that it does not have is NaN.
type tableRow struct {
	at                     string // "row 3"
	network, device        string
	operation              int // in execution order; -1: any
	name, kind             string
	macs                   int64 // -1: any
	input, filter, output  string
	timeFs, engineFs       float64
	energyPJ               float64
	used                   bool
	unsupported, elsewhere bool // why it is not used: the device does not run it, or it is about another network
}

// column sets a field of a row from its text, which is not empty.
type column struct {
	name string
	set  func(r *tableRow, text string) error
}

// columns are all that a file of costs can have. A quantity has a column per unit.
var columns = slices.Concat([]column{
	{"network", func(r *tableRow, s string) error { r.network = s; return nil }},
	{"device", func(r *tableRow, s string) error { r.device = s; return nil }},
	{"operation", func(r *tableRow, s string) (err error) {
		r.operation, err = strconv.Atoi(s)
		if err != nil || r.operation < 0 {
			return fmt.Errorf("operation %q, want its index from 0 on; its name goes into column name", s)
		}
		return nil
	}},
	{"name", func(r *tableRow, s string) error { r.name = s; return nil }},
	{"type", (*tableRow).setType},
	{"macs", func(r *tableRow, s string) (err error) {
		r.macs, err = strconv.ParseInt(s, 10, 64)
		if err != nil || r.macs < 0 {
			return fmt.Errorf("macs %q, want a whole number from 0 on", s)
		}
		return nil
	}},
	{"input", func(r *tableRow, s string) (err error) { r.input, err = shape("input", s); return err }},
	{"filter", func(r *tableRow, s string) (err error) { r.filter, err = shape("filter", s); return err }},
	{"output", func(r *tableRow, s string) (err error) { r.output, err = shape("output", s); return err }},
},
	quantity("time", "s", 15, func(r *tableRow) *float64 { return &r.timeFs }),
	quantity("engine", "s", 15, func(r *tableRow) *float64 { return &r.engineFs }),
	quantity("energy", "j", 12, func(r *tableRow) *float64 { return &r.energyPJ }),
)

// quantity are the columns of a quantity, one for each prefix of its unit, which is 10^digits of what is kept.
func quantity(name, unit string, digits int, field func(*tableRow) *float64) (list []column) {
	for k, prefix := range []string{"", "m", "u", "n"} {
		column, scale := name+"_"+prefix+unit, math.Pow10(digits-3*k)
		list = append(list, columnOf(column, maxCost*math.Pow10(3*k), scale, field))
	}
	return list
}

func columnOf(name string, most, scale float64, field func(*tableRow) *float64) column {
	return column{name, func(r *tableRow, s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return fmt.Errorf("%s %q, want a number from 0 to %g", name, s, most)
		}
		if f := field(r); math.IsNaN(*f) {
			*f = v * scale
			return nil
		}
		return fmt.Errorf("%s is a second unit of the same quantity", name)
	}}
}

func (r *tableRow) setType(s string) error {
	special := []string{TableSegment, TableKilobyte, TableNetwork}
	if _, ok := nn.ParseOperationType(s); !ok && !slices.Contains(special, s) {
		return fmt.Errorf("no type of operation is called %q; want one as CONV_2D, or %s%s", s, strings.Join(special, ", "), spelling.DidYouMean(s, append(operationNames(), special...)))
	}
	r.kind = s
	return nil
}

// operationNames are the types of operations.
func operationNames() (names []string) {
	for _, t := range nn.Operations() {
		names = append(names, t.String())
	}
	return names
}

// shape reads dimensions with x or a comma between them.
func shape(column, s string) (string, error) {
	dims := strings.FieldsFunc(s, func(c rune) bool { return c == 'x' || c == ',' || c == ' ' })
	for _, d := range dims {
		if n, err := strconv.ParseUint(d, 10, 32); err != nil || strconv.FormatUint(n, 10) != d {
			return "", fmt.Errorf("%s %q, want dimensions as 1x224x224x3", column, s)
		}
	}
	if len(dims) == 0 {
		return "", fmt.Errorf("%s %q, want dimensions as 1x224x224x3", column, s)
	}
	return strings.Join(dims, "x"), nil
}

// columnNames are the names of all columns.
func columnNames() (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// findColumn is the column of a name.
func findColumn(name string) (*column, error) {
	i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return nil, fmt.Errorf("no column %q; there are %s%s", name, strings.Join(columnNames(), ", "), spelling.DidYouMean(name, columnNames()))
	}
	return &columns[i], nil
}

// ReadTable reads costs: rows separated by tabs or commas under a line with the names of columns, lines from # on are comments, or a JSON
// array of objects with the same names. docs/Strategies.md has the columns. name is that of the file, for errors.
func ReadTable(name string, data []byte) (*Table, error) {
	t := &Table{Name: name}
	var err error
	switch text := bytes.TrimSpace(data); {
	case len(data) > MaxTableBytes:
		err = fmt.Errorf("more than %d bytes", MaxTableBytes)
	case len(text) > 0 && (text[0] == '[' || text[0] == '{'):
		err = t.readJSON(text)
	default:
		err = t.readLines(data)
	}
	if err == nil && len(t.rows) == 0 {
		err = errors.New("no rows")
	}
	if err != nil {
		return nil, fmt.Errorf("costs: %s: %w", name, err)
	}
	return t, nil
}

// add checks a row and keeps it.
func (t *Table) add(r *tableRow) error {
	if len(t.rows) == maxTableRows {
		return fmt.Errorf("more than %d rows", maxTableRows)
	}
	selects := r.operation >= 0 || r.name != "" || r.input != "" || r.filter != "" || r.output != "" || r.macs >= 0
	whole := r.kind == TableSegment || r.kind == TableKilobyte || r.kind == TableNetwork
	err := func() error {
		switch {
		case r.device == "":
			return errors.New("no device")
		case whole && selects:
			return fmt.Errorf("a %s has no operation, name, shape or macs", r.kind)
		case !whole && !selects && r.kind == "":
			return fmt.Errorf("it names no operation: want operation, name, type or a shape, or type %s, %s or %s", TableSegment, TableKilobyte, TableNetwork)
		case r.kind == TableNetwork && r.network == "":
			return errors.New("the cost of a network without its name in column network")
		case math.IsNaN(r.timeFs):
			return errors.New("no time")
		case r.engineFs > r.timeFs*(1+1e-9):
			return errors.New("the engine is held for longer than the time, of which that is a part")
		}
		return nil
	}()
	if err != nil {
		return fmt.Errorf("%s: %w", r.at, err)
	}
	if math.IsNaN(r.engineFs) {
		r.engineFs = r.timeFs
	}
	t.rows = append(t.rows, r)
	return nil
}

func newTableRow(at string) *tableRow {
	return &tableRow{at: at, operation: -1, macs: -1, timeFs: math.NaN(), engineFs: math.NaN(), energyPJ: math.NaN()}
}

// readLines reads a table with tabs or commas.
func (t *Table) readLines(data []byte) error {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comment, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = '#', -1, true, true
	if separatedByTabs(data) {
		r.Comma = '\t'
	}
	var header []*column
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		at := fmt.Sprintf("line %d", line)
		if header == nil {
			if header, err = readHeader(fields); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			continue
		}
		if len(fields) > len(header) {
			return fmt.Errorf("%s: %d fields under %d columns", at, len(fields), len(header))
		}
		row := newTableRow(at)
		for k, text := range fields {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			if err := header[k].set(row, text); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
}

// separatedByTabs reports whether the first line that is no comment has a tab.
func separatedByTabs(data []byte) bool {
	for line := range bytes.Lines(data) {
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return bytes.ContainsRune(line, '\t')
		}
	}
	return false
}

// readHeader finds the columns of a header, each once.
func readHeader(names []string) (header []*column, err error) {
	for _, name := range names {
		c, err := findColumn(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if slices.Contains(header, c) {
			return nil, fmt.Errorf("column %q twice", c.name)
		}
		header = append(header, c)
	}
	return header, nil
}

// readJSON reads an array of objects.
func (t *Table) readJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('[') {
		return errors.New("want a JSON array of rows; of what nnsoc partition --export writes operations.csv is a file of costs")
	}
	for d.More() {
		var fields map[string]any
		at := fmt.Sprintf("row %d", len(t.rows)+1)
		if err := d.Decode(&fields); err != nil {
			return fmt.Errorf("%s: byte %d: %w", at, d.InputOffset(), err)
		}
		row := newTableRow(at)
		for _, c := range columns {
			var text string
			switch v := fields[c.name].(type) {
			case nil:
			case string:
				text = v
			case json.Number:
				text = v.String()
			default:
				return fmt.Errorf("%s: %s is neither text nor a number", at, c.name)
			}
			delete(fields, c.name)
			if text == "" {
				continue
			}
			if err := c.set(row, text); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if _, err := findColumn(name); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
		if err := t.add(row); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil { // the end of the array
		return fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("byte %d: more than one JSON array", d.InputOffset())
	}
	return nil
}
