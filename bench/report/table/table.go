// Package table renders rows of a report. A column is stated once, as a row of a list: its words, its key in files, its
// unit, its meaning, and the value that it takes from a row of data. Text and CSV are drawn from that list; neither
// computes a figure.
//
// For example, a report of cities:
//
//	var columns = table.Columns[City]{
//		{Name: "city", Key: "city", Meaning: "its name", Cell: func(c City) any { return c.Name }},
//		{Name: "area", Key: "area_km2", Unit: "km2", Digits: 1, Meaning: "land within its limits", Cell: func(c City) any { return c.Area }},
//	}
//
// has the heading "city  area km2" in text and "city,area_km2" in CSV.
package table

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

// Column is a number or a word that a report says of each row.
type Column[R any] struct {
	Name    string // heading in text; a column without one is left out there
	Key     string // heading in CSV, as in JSON; a column without one is left out there
	Unit    string // of the value in text: "x" and "%" stand behind each value, others in the heading
	Digits  int    // behind the point of a float64 in text
	Meaning string // one sentence
	// Cell is the value of a row: a string, an int, an int64 or a float64; nil where there is none.
	Cell func(R) any
	// Text is the value that a person reads, where it is another than Cell's, such as millions; nil: Cell's.
	Text func(R) any
}

// Columns are the columns of a report in their order.
type Columns[R any] []Column[R]

// Without returns the columns that do not have a name.
func (c Columns[R]) Without(name string) Columns[R] {
	var rest Columns[R]
	for i := range c {
		if c[i].Name != name {
			rest = append(rest, c[i])
		}
	}
	return rest
}

// heading returns the words above a column of text.
func (c *Column[R]) heading() string {
	if c.Unit == "" || c.besides() {
		return c.Name
	}
	return c.Name + " " + c.Unit
}

// besides reports whether the unit stands behind each value.
func (c *Column[R]) besides() bool { return c.Unit == "x" || c.Unit == "%" }

// maxWords bounds the characters of a cell of text: names of files may be longer.
const maxWords = 100

// text returns a value as a person reads it, and whether it is a number.
func (c *Column[R]) text(row R) (s string, number bool) {
	cell := c.Cell
	if c.Text != nil {
		cell = c.Text
	}
	switch v := cell(row).(type) {
	case nil:
		return "-", true
	case string:
		return spelling.Short(v, maxWords), false
	case float64:
		s = strconv.FormatFloat(v, 'f', c.Digits, 64)
	default:
		s = fmt.Sprint(v)
	}
	switch c.Unit {
	case "x":
		s += "x"
	case "%":
		s += " %"
	}
	return s, true
}

// WriteText writes a heading and a line per row, two blanks before each column. Columns with a number are aligned to the
// right, columns of words alone to the left.
func WriteText[R any](w io.Writer, columns Columns[R], rows []R) error {
	lines := make([]strings.Builder, len(rows)+1)
	for i := range columns {
		c := &columns[i]
		if c.Name == "" {
			continue
		}
		cells, right := []string{c.heading()}, false
		for _, row := range rows {
			s, number := c.text(row)
			cells, right = append(cells, s), right || number
		}
		width := 0
		for _, s := range cells {
			width = max(width, utf8.RuneCountInString(s))
		}
		for k, s := range cells {
			blank := strings.Repeat(" ", width-utf8.RuneCountInString(s))
			if right {
				s = blank + s
			} else {
				s += blank
			}
			lines[k].WriteString("  " + s)
		}
	}
	for i := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(lines[i].String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes the keys and a record per row. Floats have all their digits; no value is an empty field.
func WriteCSV[R any](w io.Writer, columns Columns[R], rows []R) error {
	out := csv.NewWriter(w)
	var head []string
	for i := range columns {
		if k := columns[i].Key; k != "" {
			head = append(head, k)
		}
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, row := range rows {
		var record []string
		for i := range columns {
			if columns[i].Key == "" {
				continue
			}
			switch v := columns[i].Cell(row).(type) {
			case nil:
				record = append(record, "")
			case float64:
				record = append(record, strconv.FormatFloat(v, 'g', -1, 64))
			default:
				record = append(record, fmt.Sprint(v))
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
