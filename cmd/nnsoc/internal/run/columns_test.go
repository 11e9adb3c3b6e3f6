package run

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench"
	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/bench/report/table"
	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/internal/require"
)

// checkColumns holds the columns of a table: each has a meaning and a cell, and is in text or CSV under a word that no
// other column of it has.
func checkColumns[R any](t *testing.T, columns table.Columns[R]) {
	names, keys := map[string]bool{"": true}, map[string]bool{"": true}
	for i := range columns {
		c := &columns[i]
		require.Check(t, c.Meaning != "" && c.Cell != nil && c.Name+c.Key != "", "column %d (%q, %q) lacks a meaning, a cell or a word", i, c.Name, c.Key)
		require.Check(t, c.Name == "" || !names[c.Name], "two columns %q", c.Name)
		require.Check(t, c.Key == "" || !keys[c.Key], "two keys %q", c.Key)
		names[c.Name], keys[c.Key] = true, true
	}
}

func TestColumns(t *testing.T) {
	checkColumns(t, deviceColumns)
	checkColumns(t, operationColumns)
}

// TestOneWordPerNumber: the engine's cycles are "engine cycles", those with the host's part "total cycles", in text, JSON,
// CSV and the page; the word cycles by itself is left to operations, whose rows add up to the total.
func TestOneWordPerNumber(t *testing.T) {
	e, text := runForm(t, require.V(bench.Gemm("u8", 64))(t), "npu")
	part := e["devices"].([]any)[0].(map[string]any)
	for name, o := range map[string]map[string]any{"run": e, "device": part} {
		require.Check(t, o["cycles"] == nil, "%s has cycles without saying which", name)
		engine, total := o["engine_cycles"].(float64), o["total_cycles"].(float64)
		launch := o["stall_cycles"].(map[string]any)["launch"].(float64)
		require.Check(t, engine > 0 && launch > 0 && engine+launch == total, "%s: %v cycles of the engine and %v of the host, %v in total", name, engine, launch, total)
	}
	engine := fmt.Sprintf("%.0f", part["engine_cycles"].(float64))
	var heading, row string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  device") && heading == "" {
			heading = line
		}
		if strings.HasPrefix(line, "  npu") && row == "" {
			row = line
		}
	}
	end := strings.Index(heading, "engine cycles") + len("engine cycles")
	require.Check(t, end < len(row) && strings.HasSuffix(row[:end], " "+engine), "no %s under engine cycles:\n%s%s", engine, heading, row)

	var page strings.Builder
	require.NoError(t, (&htmlreport.Page{Names: []string{"a"}, Files: []json.RawMessage{fmt.Appendf(nil, `{"schema_version":%d,"runs":[]}`, session.SchemaVersion)}}).WriteHTML(&page))
	require.Check(t, strings.Contains(page.String(), `"engine cycles"`) && strings.Contains(page.String(), "r.run.engine_cycles"), "the page names other cycles")
}

// TestOperationsInCSV: the file has the numbers of the JSON object, whose sum is the total.
func TestOperationsInCSV(t *testing.T) {
	cost := func(cycles int64) *session.OperationCost {
		return &session.OperationCost{Cost: session.Cost{Cycles: cycles, TimeUS: 1.5}}
	}
	us := 3.0
	r := &report{data: session.Report{Runs: []session.Run{{Device: "npu", LatencyUS: &us, Operations: []session.Operation{
		{Index: 0, Type: "ADD", Device: "npu", Outputs: [][]uint32{{1, 2}}, OperationCost: cost(7)},
		{Index: 1, Type: "MUL", Device: "npu"}, // without costs
		{Index: -1, Type: "LAUNCH", Device: "npu", OperationCost: cost(5)},
	}}}}}
	var b strings.Builder
	require.NoError(t, r.writeOperations(&b))
	rows := require.V(csv.NewReader(strings.NewReader(b.String())).ReadAll())(t)
	want := "[[run device index operation output macs cycles time_us energy_uj dram_bytes bound_by node tensor outside_nnapi] [npu npu 0 ADD [1 2] 0 7 1.5 0 0    ] [npu npu -1 LAUNCH  0 5 1.5 0 0    ]]"
	require.Check(t, fmt.Sprint(rows) == want, "%v\nwant %s", rows, want)
}
