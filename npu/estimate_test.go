package npu

import (
	"encoding/csv"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// velaQueue is, for each operation of Vela's own table of a stream in their order, the
// offsets of its commands, from the debug file that Vela writes beside a network.
func velaQueue(t *testing.T, path string) (offsets [][]int) {
	data := require.V(os.ReadFile(path))(t)
	var debug struct {
		Tables []struct {
			Name string `xml:"name,attr"`
			Text string `xml:",chardata"`
		} `xml:"table"`
	}
	require.NoError(t, xml.Unmarshal(data, &debug))
	for _, table := range debug.Tables {
		if table.Name != "queue" {
			continue
		}
		rows := require.V(csv.NewReader(strings.NewReader(table.Text)).ReadAll())(t)
		last := ""
		for _, row := range rows[1:] {
			at := require.V(strconv.Atoi(row[0]))(t)
			if row[2] != last {
				offsets = append(offsets, nil)
				last = row[2]
			}
			k := len(offsets) - 1
			offsets[k] = append(offsets[k], at)
		}
	}
	return offsets
}

// TestVelaEstimate: Operations estimates as Vela does, operation by operation, where Vela has
// not cut one into several commands.
func TestVelaEstimate(t *testing.T) {
	root := sharedDir(t)
	tables, err := filepath.Glob(filepath.Join(root, "ethosu", "networks", "*", "*", "*_per-layer.csv"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("no tables: %v", err)
	}
	whole := 0
	for _, path := range tables {
		machine := filepath.Base(filepath.Dir(path))
		net := strings.TrimSuffix(filepath.Base(path), "_per-layer.csv")
		c := mustCore(t, machine)
		k := require.V(loadVela(t, velaPath(root, net, machine)).Load())(t)
		list := require.V(c.Operations(&k.Program, k.Regions()))(t)
		f := require.V(os.Open(path))(t)
		rows, err := csv.NewReader(f).ReadAll()
		f.Close()
		require.NoError(t, err)
		queue := velaQueue(t, filepath.Join(filepath.Dir(path), net+"_debug.xml"))
		column := slices.Index(rows[0], "NPU")
		if len(queue) != len(rows)-1 {
			t.Errorf("%s %s: %d operations of the stream, %d rows", net, machine, len(queue), len(rows)-1)
			continue
		}
		for i, row := range rows[1:] {
			want := require.V(strconv.ParseFloat(row[column], 64))(t)
			var kernels []Operation
			for _, at := range queue[i] {
				for _, x := range list {
					// Vela notes where the command ends.
					if 4*x.Word+4 == at && x.Code != ethosu.OpDMAStart {
						kernels = append(kernels, x)
					}
				}
			}
			if len(kernels) != 1 {
				continue // cut into slices of its depth
			}
			whole++
			if got := kernels[0].Estimate + kernels[0].Exposed; got != int64(want) {
				t.Errorf("%s %s: operation %d, %s: %d cycles, Vela estimates %.0f", net, machine, i, row[1], got, want)
			}
		}
	}
	if whole < 900 {
		t.Errorf("only %d operations compared", whole)
	}
}

// TestVelaCopyFeeds: a copy is for the convolution whose weights begin in it, a table for an operation that has one.
func TestVelaCopyFeeds(t *testing.T) {
	weights, table := velaCopy{region: 2, base: 64, bytes: 32}, velaCopy{region: 2, base: 64, bytes: 32, table: true}
	for _, c := range []struct {
		kind         state.Kind
		region, base int
		want         bool
	}{
		{state.Conv, 2, 64, true}, {state.Depthwise, 2, 95, true}, {state.Conv, 2, 96, false}, {state.Conv, 2, 63, false}, {state.Conv, 1, 64, false},
		{state.Pool, 2, 64, false}, {state.Elementwise, 2, 64, false},
	} {
		o := state.Op{Kind: c.kind, WeightRegion: c.region}
		o.Weights[0].Base = c.base
		if got := weights.feeds(&o); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if table.feeds(&o) {
			t.Errorf("%+v has no table", c)
		}
		if o.Output.Table = make([]byte, 1); !table.feeds(&o) {
			t.Errorf("%+v has a table", c)
		}
	}
}
