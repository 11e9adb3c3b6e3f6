package table_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/report/table"
)

// engine is a row of the tests' report.
type engine struct {
	name   string
	us     float64
	macs   int64
	cycles any
}

var columns = table.Columns[engine]{
	{Name: "device", Key: "device", Meaning: "the engine", Cell: func(e engine) any { return e.name }},
	{Name: "latency", Key: "latency_us", Unit: "us", Digits: 1, Meaning: "time of an invocation", Cell: func(e engine) any { return e.us }},
	{Name: "MMAC", Key: "macs", Digits: 1, Meaning: "multiply-accumulates", Cell: func(e engine) any { return e.macs }, Text: func(e engine) any { return float64(e.macs) / 1e6 }},
	{Name: "engine cycles", Meaning: "cycles of its clock", Cell: func(e engine) any { return e.cycles }},
	{Key: "speed", Meaning: "inverse of the latency", Cell: func(e engine) any { return 1 / e.us }},
	{Name: "share", Unit: "%", Digits: 0, Meaning: "share of a millisecond", Cell: func(e engine) any { return e.us / 10 }},
}

var engines = []engine{{"cpu", 4, 1_500_000, nil}, {"größer", 1024.25, 20_000_000, int64(7)}}

func ExampleWriteText() {
	_ = table.WriteText(os.Stdout, columns, engines)
	// Output:
	//   device  latency us  MMAC  engine cycles  share
	//   cpu            4.0   1.5              -    0 %
	//   größer      1024.2  20.0              7  102 %
}

func ExampleWriteCSV() {
	_ = table.WriteCSV(os.Stdout, columns, engines)
	// Output:
	// device,latency_us,macs,speed
	// cpu,4,1500000,0.25
	// größer,1024.25,20000000,0.000976324139614352
}

// TestWithout: a column that a report leaves out is missing from its text.
func TestWithout(t *testing.T) {
	var b strings.Builder
	if err := table.WriteText(&b, columns.Without("MMAC"), nil); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "  device  latency us  engine cycles  share\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
