package cost_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// tableProblem is two equal convolutions and a pooling on a CPU and a GPU that does not pool.
func tableProblem(t testing.TB) *partition.Problem {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("input", 1, 8, 8, 4)
	for range 2 {
		x = b.Conv(x, builder.Conv{Out: 4, Kernel: 3, Width: 3, Stride: 1, Act: builder.ReLU})
	}
	b.Output(b.AveragePool(x, builder.Pool{Window: 2, Width: 2, Stride: 2}), "output")
	m, err := b.Model("three")
	if err != nil {
		t.Fatal(err)
	}
	p := &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main)}
	for d, name := range []string{"cpu", "gpu"} {
		support := make([]hal.Support, len(p.Graph.Operations))
		for i := range support {
			support[i] = hal.Support{OK: d == 0 || p.Graph.Operations[i].MACs > 0, Reason: "it does not pool"}
		}
		p.Devices = append(p.Devices, partition.Device{Name: name, Support: support})
	}
	return p
}

// tableBase is what the simulator has: a microsecond and a microjoule of all.
func tableBase() (partition.Costs, error) {
	one := partition.Cost{TimeFs: 1e9, EngineFs: 1e9, EnergyPJ: 1e6}
	return partition.Costs{Operation: [][]partition.Cost{{one, one, one}, {one, one, partition.Never}}, Fixed: []partition.Cost{one, one}, PerByte: []partition.Cost{one, one}}, nil
}

// us are the times of a device's operations, segment and kilobyte in microseconds.
func us(c *partition.Costs, d int) string {
	var l []string
	for _, x := range append(append([]partition.Cost{}, c.Operation[d]...), c.Fixed[d], partition.Cost{TimeFs: c.PerByte[d].TimeFs * 1000}) {
		l = append(l, fmt.Sprintf("%.4g", x.TimeFs/1e9))
	}
	return strings.Join(l, " ")
}

// TestTable: the row that says the most of an operation counts, equal rows as their mean, what is missing as the simulator has it.
func TestTable(t *testing.T) {
	for _, x := range []struct{ text, cpu, gpu, covered string }{
		{"device\ttype\ttime_us\ncpu\tCONV_2D\t5\n", "5 5 1 1 1000", "1 1", "2 of 3, 0 of 2"},
		{"device,operation,type,time_ms\ncpu,,CONV_2D,5\ncpu,1,,7\n", "5000 7000 1 1 1000", "1 1", "2 of 3, 0 of 2"},
		{"# phone\n\ndevice,type,input,filter,output,time_us\ncpu,CONV_2D,1x8x8x4,4x3x3x4,1x8x8x4,3\ncpu,CONV_2D,1x9x9x4,,,9\ncpu,CONV_2D,,,,2\n", "3 3 1 1 1000", "1 1", "2 of 3, 0 of 2"},
		{"device,type,time_us\ncpu,CONV_2D,4\ncpu,CONV_2D,6\ngpu,segment,900\ngpu,kilobyte,2\n", "5 5 1 1 1000", "1 1 1e+21 900 2", "2 of 3, 0 of 2"},
		{"network,device,type,time_us\nother,cpu,CONV_2D,9\nthree,cpu,CONV_2D,4\n,cpu,AVERAGE_POOL_2D,8\n", "4 4 8 1 1000", "1 1", "3 of 3, 0 of 2"},
		{`[{"device": "gpu", "operation": 0, "time_ns": 2500, "energy_uj": "3"}, {"device": "cpu", "name": "output", "time_us": 6}]`, "1 1 6 1 1000", "2.5 1", "1 of 3, 1 of 2"},
		{"device,type,time_us\ngpu,AVERAGE_POOL_2D,4\ngpu,CONV_2D,3\n", "1 1 1 1 1000", "3 3", "0 of 3, 2 of 2"},
	} {
		table := require.V(cost.ReadTable("t", []byte(x.text)))(t)
		c, cover, err := table.Costs(tableProblem(t), tableBase)
		require.NoError(t, err)
		require.Same(t, x.cpu, us(&c, 0), x.text)
		require.Check(t, strings.HasPrefix(us(&c, 1), x.gpu), "%s: gpu %s, want %s", x.text, us(&c, 1), x.gpu)
		require.Same(t, x.covered, fmt.Sprintf("%d of %d, %d of %d", cover[0].Times, cover[0].Operations, cover[1].Times, cover[1].Operations), x.text)
	}
}

// TestTableIsWhole: a file that has all costs needs no simulation.
func TestTableIsWhole(t *testing.T) {
	text := "device,type,time_us,engine_us,energy_uj\n"
	for _, d := range []string{"cpu", "gpu"} {
		for _, kind := range []string{"CONV_2D", "AVERAGE_POOL_2D", "segment", "kilobyte"} {
			text += d + "," + kind + ",4,1,2\n"
		}
	}
	table := require.V(cost.ReadTable("t", []byte(text)))(t)
	c, cover, err := table.Costs(tableProblem(t), func() (partition.Costs, error) { return partition.Costs{}, errors.New("simulated") })
	require.NoError(t, err)
	require.Same(t, partition.Cost{TimeFs: 4e9, EngineFs: 1e9, EnergyPJ: 2e6}, c.Operation[1][0], "cost")
	require.Same(t, "costs of gpu from t: times of 2 of 2 operations, energies of 2 of 2 operations, the call of a segment, bytes that enter and leave; 1 of its rows are not used, the first at line 7: gpu does not support the operation here", cover[1].String("t"), "coverage")
	require.Same(t, "costs of cpu from t: times of 3 of 3 operations, energies of 3 of 3 operations, the call of a segment, bytes that enter and leave", cover[0].String("t"), "coverage")
}

// TestTableExported: what a problem exports is a file of its costs, and is written as the same again.
func TestTableExported(t *testing.T) {
	p := tableProblem(t)
	p.Costs = require.V(tableBase())(t)
	p.Costs.Operation[0][1] = partition.Cost{TimeFs: 1e9 / 3, EngineFs: 1e9 / 7, EnergyPJ: 12345.678912345678}
	p.Costs.PerByte[1] = partition.Cost{TimeFs: 1e6 / 7, EngineFs: 1e6 / 11}
	first := require.V(p.Export("s").Files())(t)["operations.csv"]
	table := require.V(cost.ReadTable("t", first))(t)
	p.Costs = partition.Costs{}
	c, _, err := table.Costs(p, tableBase)
	require.NoError(t, err)
	p.Costs = c
	require.Same(t, string(first), string(require.V(p.Export("s").Files())(t)["operations.csv"]), "operations.csv")
}

// TestTableErrors: what is wrong with a file is named with its line.
func TestTableErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                                                   "no rows",
		"device,type,time_us\n":                                              "no rows",
		"device,type,time_min\ncpu,ADD,1\n":                                  `line 1: no column "time_min"; there are network, device,`,
		"device,device,time_us\n":                                            `line 1: column "device" twice`,
		"device,type,time_us\ncpu,CONV,1\n":                                  `line 2: no type of operation is called "CONV"; want one as CONV_2D, or segment,`,
		"device,type,time_us\ncpu,CONV_2D,-1\n":                              `line 2: time_us "-1", want a number from 0 to 1e+12`,
		"device,type,time_us\ncpu,CONV_2D,NaN\n":                             `time_us "NaN", want a number`,
		"device,type,time_us\ncpu,CONV_2D,Inf\n":                             `time_us "Inf", want a number`,
		"device,type,time_us\ncpu,CONV_2D,1e300\n":                           `time_us "1e300", want a number`,
		"device,type,time_us\ncpu,CONV_2D,3 us\n":                            `time_us "3 us", want a number`,
		"device,type,time_us,energy_mj\ncpu,CONV_2D,1,-2\n":                  `energy_mj "-2", want a number`,
		"device,type,time_us,time_ms\ncpu,CONV_2D,1,2\n":                     "line 2: time_ms is a second unit of the same quantity",
		"device,type,time_us,engine_us\ncpu,CONV_2D,1,2\n":                   "line 2: the engine is held for longer than the time",
		"device,type,time_us\ncpu,CONV_2D\n":                                 "line 2: no time",
		"device,type,time_us\n,CONV_2D,1\n":                                  "line 2: no device",
		"device,type,time_us\ncpu,,1\n":                                      "line 2: it names no operation",
		"device,type,time_us\ncpu,CONV_2D,1,2\n":                             "line 2: 4 fields under 3 columns",
		"device,operation,time_us\ncpu,x,1\n":                                `line 2: operation "x", want its index`,
		"device,operation,type,time_us\ncpu,1,segment,1\n":                   "line 2: a segment has no operation",
		"device,type,time_us\ncpu,network,1\n":                               "line 2: the cost of a network without its name",
		"device,type,input,time_us\ncpu,CONV_2D,8by8,1\n":                    `line 2: input "8by8", want dimensions as 1x224x224x3`,
		`{"devices": []}`:                                                    "want a JSON array of rows; of what nnsoc partition --export writes operations.csv is a file of costs",
		`[{"device": "cpu", "type": "CONV_2D", "time_us": 1, "unit": "us"}]`: `row 1: no column "unit"`,
		`[{"device": "cpu", "type": "CONV_2D", "time_us": [1]}]`:             "row 1: time_us is neither text nor a number",
		`[{"device": "cpu", "type": "CONV_2D", "time_us": 1}`:                "EOF",
		`[{"device": "cpu", "type": "CONV_2D", "time_us": 1}] 1`:             "more than one JSON array",
		// Of a network.
		"device,type,time_us\ntpu,CONV_2D,1\n":                                 `line 2: no device "tpu"; there are cpu, gpu`,
		"device,operation,time_us\ncpu,3,1\n":                                  "line 2: operation 3; three has 3",
		"device,operation,type,time_us\ncpu,0,ADD,1\n":                         "line 2: operation 0 of three is CONV_2D of 9216 MACs, input 1x8x8x4, output 1x8x8x4, not what the row says",
		"device,operation,macs,time_us\ncpu,0,7,1\n":                           "line 2: operation 0 of three is CONV_2D of 9216 MACs",
		"device,operation,time_us\ngpu,2,1\n":                                  "line 2: gpu does not support operation 2 (AVERAGE_POOL_2D): it does not pool",
		"device,type,time_us\ncpu,ADD,1\n":                                     "no row is about three: line 2: three has no operation ADD",
		"device,type,input,output,time_us\ncpu,,1x8x8x4,,1\ncpu,,,1x8x8x4,2\n": "line 2 and line 3 are about the same operation, and neither says more of it",
		"network,device,type,time_us\nfour,cpu,CONV_2D,1\n":                    "no row is about three: line 2: it is about network four",
		"network,device,type,time_us\nthree,cpu,network,1\n":                   "no row is about three: line 2: a network as a whole, which nnsoc schedule reads",
	} {
		table, err := cost.ReadTable("phone.tsv", []byte(text))
		if err == nil {
			_, _, err = table.Costs(tableProblem(t), tableBase)
		}
		require.Check(t, err != nil && strings.HasPrefix(err.Error(), "costs: phone.tsv: ") && strings.Contains(err.Error(), want), "%q: %v, want %s", text, err, want)
	}
}

// TestTableColumns: docs/Strategies.md has each column.
func TestTableColumns(t *testing.T) {
	_, err := cost.ReadTable("t", []byte("none\n"))
	_, list, found := strings.Cut(fmt.Sprint(err), "there are ")
	require.Check(t, found, "%v", err)
	page := string(require.File(t, "../../../docs/Strategies.md"))
	_, page, _ = strings.Cut(page, "| column | what it says |")
	page, _, _ = strings.Cut(page, "\n\n")
	for _, name := range strings.Split(list, ", ") {
		require.Check(t, strings.Contains(page, "`"+name+"`"), "docs/Strategies.md does not say what column %s is", name)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte("device\ttype\ttime_us\ncpu\tCONV_2D\t5\n"))
	f.Add([]byte(`[{"device": "gpu", "operation": 0, "time_ns": 2500, "energy_uj": "3"}]`))
	p := tableProblem(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := cost.ReadTable("t", data)
		if err != nil {
			return
		}
		c, _, err := table.Costs(p, tableBase)
		if err != nil {
			return
		}
		for d := range c.Operation {
			for i, x := range append(c.Operation[d], c.Fixed[d], c.PerByte[d]) {
				require.Check(t, x.TimeFs >= 0 && x.EngineFs >= 0 && x.EnergyPJ >= 0, "device %d, operation %d: %+v", d, i, x)
			}
		}
	})
}
