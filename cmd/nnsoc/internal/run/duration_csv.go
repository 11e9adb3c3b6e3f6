package run

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
)

// samplesFile is the file of --csv; nil without one.
type samplesFile struct {
	file    *cli.File
	samples bool // of a duration; else operations
}

func openSamples(path string, samples bool) (*samplesFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := cli.CreateFile(path)
	if err != nil {
		return nil, err
	}
	return &samplesFile{f, samples}, nil
}

// commit writes the samples of a report.
func (s *samplesFile) commit(r *report) error {
	if s == nil {
		return nil
	}
	write := r.writeOperations
	if s.samples {
		write = r.writeCSV
	}
	if err := write(s.file); err != nil {
		return err // discard does the rest
	}
	f := s.file
	s.file = nil
	return f.Commit(0o644)
}

// discard removes an uncommitted file.
func (s *samplesFile) discard() {
	if s != nil && s.file != nil {
		s.file.Discard()
	}
}

// writeCSV writes the samples of all runs: a row for each device and step.
func (r *report) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	headed := false
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for i := range r.data.Runs {
		d := &r.data.Runs[i]
		if d.Invocations == nil {
			continue
		}
		c := d.Invocations.Course
		if !headed {
			headed = true
			head := []string{"device", "seconds", "invocations", "latency_us"}
			for _, name := range c.Clocks {
				head = append(head, name+"_mhz")
			}
			for _, rail := range c.Rails {
				head = append(head, rail.String()+"_w")
			}
			for _, name := range c.Sensors {
				head = append(head, name+"_c")
			}
			if err := out.Write(append(head, "total_w", "dram_gb_per_s", "thermal_status")); err != nil {
				return err
			}
		}
		for j := range c.Samples {
			s := &c.Samples[j]
			row := []string{d.Device, number(s.Seconds), strconv.Itoa(s.Invocations), ""}
			if s.LatencyUS != nil {
				row[3] = number(*s.LatencyUS)
			}
			for _, name := range c.Clocks {
				row = append(row, number(s.ClockMHz[name]))
			}
			for _, rail := range c.Rails {
				row = append(row, number(s.PowerW[rail.String()]))
			}
			for _, name := range c.Sensors {
				row = append(row, number(s.TemperatureC[name]))
			}
			if err := out.Write(append(row, number(s.TotalW), number(s.DRAMGBps), s.Status)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
