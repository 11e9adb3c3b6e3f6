package sweep

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/sim/soc"
)

// maxCell bounds a cell of a list of points.
const maxCell = 4096

// Read plans the points of a CSV file: a column model and a column device, where all points
// have not the same, and a column per key. An empty cell leaves the key as the SoC has it.
// file is used in errors.
func Read(file string, r io.Reader, models, devices []string) (*Plan, error) {
	c := csv.NewReader(r)
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: no line of column names", file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	p := &Plan{}
	for i, name := range header {
		if name == "" || slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("%s:1: column %d has no name, or that of another one", file, i+1)
		}
		switch {
		case name != "model" && name != "device":
			p.Keys = append(p.Keys, name)
		case name == "model" && models != nil || name == "device" && devices != nil:
			return nil, fmt.Errorf("%s:1: a column %s, and %ss besides", file, name, name)
		}
	}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		line, _ := c.FieldPos(0)
		model, device := models, devices
		var set []soc.Change
		for i, cell := range record {
			switch {
			case len(cell) > maxCell:
				return nil, fmt.Errorf("%s:%d: %s is longer than %d bytes", file, line, header[i], maxCell)
			case header[i] == "model":
				model = []string{cell}
			case header[i] == "device":
				device = []string{cell}
			case cell != "":
				set = append(set, soc.Change{Key: header[i], Value: cell})
			}
		}
		for _, x := range [2]struct {
			name string
			list []string
		}{{"model", model}, {"device", device}} {
			if len(x.list) == 0 || x.list[0] == "" {
				return nil, fmt.Errorf("%s:%d: no %s", file, line, x.name)
			}
		}
		if len(p.Points) >= maxPoints {
			return nil, fmt.Errorf("%s: more than %d points", file, maxPoints)
		}
		if err := p.spread(model, device, [][]soc.Change{set}); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(p.Points) == 0 {
		return nil, fmt.Errorf("%s: no points", file)
	}
	return p, nil
}
