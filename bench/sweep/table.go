package sweep

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// column is a column of the tables: text, or numbers that may be missing.
type column struct {
	name   string
	text   func(*Row) string
	number func(*Row) (float64, bool) // nil: text
}

// columns lists what the tables show: model, device and SoC of a row, its keys, its status, its numbers.
func columns(keys []string, rows []Row) []column {
	list := []column{
		{name: "index", number: func(r *Row) (float64, bool) { return float64(r.Index), true }},
		{name: "model", text: func(r *Row) string { return r.Model }},
		{name: "device", text: func(r *Row) string { return r.Device }},
		{name: "soc", text: func(r *Row) string { return r.SoC }},
		{name: "soc_hash", text: func(r *Row) string { return r.SoCHash }},
		{name: "build", text: func(r *Row) string { return r.Build }},
	}
	for _, k := range keys {
		c := column{name: k, text: func(r *Row) string { return r.Keys[k] }}
		if numeric(k, rows) {
			c.number = func(r *Row) (float64, bool) {
				x, err := strconv.ParseFloat(r.Keys[k], 64)
				return x, err == nil
			}
		}
		list = append(list, c)
	}
	list = append(list, column{name: "status", text: func(r *Row) string { return r.Status }}, column{name: "error", text: func(r *Row) string { return r.Error }})
	for _, k := range numberNames(rows) {
		list = append(list, column{name: k, number: func(r *Row) (float64, bool) { x, ok := r.Numbers[k]; return x, ok }})
	}
	return list
}

// numeric reports whether all values of a key are numbers.
func numeric(key string, rows []Row) bool {
	for i := range rows {
		if v := rows[i].Keys[key]; v != "" {
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return false
			}
		}
	}
	return true
}

// cell is the text of a row in a column, "" where there is nothing.
func (c *column) cell(r *Row) string {
	if c.number == nil {
		return c.text(r)
	}
	x, ok := c.number(r)
	if !ok {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// writeCSV writes a row per point.
func writeCSV(w io.Writer, keys []string, rows []Row) error {
	list := columns(keys, rows)
	c := csv.NewWriter(w)
	record := make([]string, len(list))
	for i := range list {
		record[i] = list[i].name
	}
	if err := c.Write(record); err != nil {
		return err
	}
	for r := range rows {
		for i := range list {
			record[i] = list[i].cell(&rows[r])
		}
		if err := c.Write(record); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// writeParquet writes the same table in Apache Parquet: text as strings, numbers as
// optional doubles.
func writeParquet(w io.Writer, keys []string, rows []Row) error {
	list := columns(keys, rows)
	group := parquet.Group{}
	byName := map[string]*column{}
	for i := range list {
		c := &list[i]
		byName[c.name] = c
		if c.number == nil {
			group[c.name] = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		} else {
			group[c.name] = parquet.Optional(parquet.Leaf(parquet.DoubleType))
		}
	}
	schema := parquet.NewSchema("sweep", group)
	out := parquet.NewWriter(w, schema, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("nnsoc", "", ""))
	var order []*column // as the schema has them
	for _, path := range schema.Columns() {
		order = append(order, byName[path[0]])
	}
	for r := range rows {
		row := make(parquet.Row, len(order))
		for i, c := range order {
			if c.number == nil {
				row[i] = parquet.ByteArrayValue([]byte(c.text(&rows[r]))).Level(0, 0, i)
			} else if x, ok := c.number(&rows[r]); ok {
				row[i] = parquet.DoubleValue(x).Level(0, 1, i)
			} else {
				row[i] = parquet.NullValue().Level(0, 0, i)
			}
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}
