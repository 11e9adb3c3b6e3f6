package systolic

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// wavefront counts the cycles of one fold by following every operand: unit (r, c) works on
// beat t in cycle t + r + c, behind the load of the tile, row by row.
func wavefront(rows, columns, beats, load int) int {
	last := 0
	for r := range rows {
		for c := range columns {
			for t := range beats {
				last = max(last, load+t+r+c)
			}
		}
	}
	return last + 1
}

func TestOneFold(t *testing.T) {
	for _, rows := range []int{1, 2, 5} {
		for _, columns := range []int{1, 3, 4} {
			for _, stream := range []int{1, 2, 9} {
				for _, c := range []struct {
					flow    Dataflow
					m, k, n int
					load    int
				}{
					{OutputStationary, rows, stream, columns, 0},
					{WeightStationary, stream, rows, columns, rows},
					{InputStationary, columns, rows, stream, rows},
				} {
					a := Array{rows, columns, c.flow, OverlapNone}
					r := require.V(a.Run(c.m, c.k, c.n, 1))(t)
					if want := wavefront(rows, columns, stream, c.load); r.Folds != 1 || r.Cycles != int64(want) {
						t.Errorf("%v: %d folds, %d cycles, want 1 and %d", a, r.Folds, r.Cycles, want)
					}
				}
			}
		}
	}
}

// TestFolds: every fold costs as much as a full one, and the parts add up.
func TestFolds(t *testing.T) {
	for _, flow := range []Dataflow{OutputStationary, WeightStationary, InputStationary} {
		for _, overlap := range []Overlap{OverlapNone, OverlapPreload} {
			a := Array{8, 4, flow, overlap}
			one := require.V(a.Run(8, 8, 4, 1))(t)
			for _, c := range []struct{ m, k, n, count int }{{17, 33, 9, 1}, {1, 1, 1, 1}, {64, 64, 64, 3}, {3, 100, 2, 2}} {
				r := require.V(a.Run(c.m, c.k, c.n, c.count))(t)
				if r.Load+r.Stream+r.Wait+r.Skew != r.Cycles {
					t.Errorf("%v %v: the parts of %+v do not add up", a, c, r)
				}
				if r.MACs != int64(c.m*c.k*c.n*c.count) || !(r.Utilization > 0 && r.Utilization <= 1) {
					t.Errorf("%v %v: %+v", a, c, r)
				}
				none := a
				none.Overlap = OverlapNone
				if slow, err := none.Run(c.m, c.k, c.n, c.count); err != nil || r.Folds > 1 && r.Cycles > slow.Cycles {
					t.Errorf("%v %v: %d cycles, %d without overlap (%v)", a, c, r.Cycles, slow.Cycles, err)
				}
			}
			if one.Folds < 1 {
				t.Errorf("%v: %+v", a, one)
			}
		}
	}
	a := Array{16, 16, OutputStationary, OverlapNone}
	if r, err := a.Run(17, 10, 33, 1); err != nil || r.Folds != 2*3 || r.Cycles != 6*(10+16+16-2) {
		t.Errorf("%+v, %v: want 6 folds of 40 cycles", r, err)
	}
}

// TestShortStreams: where tiles are loaded beside a stream, a stream that is shorter than its array waits for the rows,
// and the last one is of four beats at least. An array of 8 rows and 4 columns fills and drains in 10.
func TestShortStreams(t *testing.T) {
	for _, c := range []struct {
		flow                               Dataflow
		m, k, n                            int
		folds, load, stream, wait, overall int64
	}{
		{WeightStationary, 2, 8, 4, 1, 15, 2, 2, 29},
		{WeightStationary, 2, 16, 8, 4, 15, 8, 3*6 + 2, 53},
		{WeightStationary, 9, 16, 8, 4, 15, 36, 0, 61},
		{OutputStationary, 8, 3, 4, 1, 0, 3, 1, 14},
		{OutputStationary, 16, 3, 4, 2, 0, 6, 5 + 1, 22},
		{OutputStationary, 8, 4, 4, 1, 0, 4, 0, 14},
		{InputStationary, 4, 8, 1, 1, 15, 1, 3, 29},
	} {
		a := Array{8, 4, c.flow, OverlapPreload}
		r, err := a.Run(c.m, c.k, c.n, 1)
		if err != nil || r.Folds != c.folds || r.Load != c.load || r.Stream != c.stream || r.Wait != c.wait || r.Skew != 10 || r.Cycles != c.overall {
			t.Errorf("%+v: %+v, %v", c, r, err)
		}
		a.Overlap = OverlapNone
		if c.load > 0 {
			c.load = 8
		}
		if r, err := a.Run(c.m, c.k, c.n, 1); err != nil || r.Cycles != c.folds*(c.load+10)+c.stream || r.Wait != 0 || r.Load != c.folds*c.load || r.Skew != c.folds*10 {
			t.Errorf("%+v without overlap: %+v, %v", c, r, err)
		}
	}
}

// TestPreload holds a large product to ONNXim's cycles of it, within 0.1 %.
func TestPreload(t *testing.T) {
	const onnxim = 4195037
	for _, flow := range []Dataflow{OutputStationary, WeightStationary, InputStationary} {
		a := Array{16, 16, flow, OverlapPreload}
		r, err := a.Run(1024, 1024, 1024, 1)
		if err != nil || !(math.Abs(float64(r.Cycles)/onnxim-1) <= 1e-3) {
			t.Errorf("%s: %d cycles, want %d within 0.1 %% (%v)", flow, r.Cycles, onnxim, err)
		}
	}
}

func TestRefused(t *testing.T) {
	good := Array{16, 16, WeightStationary, OverlapNone}
	for _, a := range []Array{{0, 16, "ws", "none"}, {16, 1 << 20, "ws", "none"}, {16, 16, "rs", "none"}, {16, 16, "ws", "all"}} {
		require.Fails(t, require.Err(a.Run(1, 1, 1, 1)), a, "is taken")
	}
	for _, c := range [][4]int{{0, 1, 1, 1}, {1, -1, 1, 1}, {1, 1, 1, 0}, {1 << 31, 1, 1, 1}, {1 << 30, 1 << 30, 1 << 30, 1}, {1 << 30, 1 << 30, 16, 1 << 30}} {
		if r, err := good.Run(c[0], c[1], c[2], c[3]); err == nil {
			t.Errorf("%v is taken: %+v", c, r)
		}
	}
}

// TestScaleSim demands SCALE-Sim's cycles of 27 layers on two arrays in three dataflows.
func TestScaleSim(t *testing.T) {
	dir := os.Getenv("NNSOC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "npu", "scalesim_mobilenet.csv"))
	if err != nil {
		t.Skip("skipped: needs shared data")
	}
	defer f.Close()
	rows := require.V(csv.NewReader(f).ReadAll())(t)
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for _, row := range rows[1:] {
		number := func(name string) int {
			n := require.V(strconv.Atoi(row[column[name]]))(t)
			return n
		}
		side := number("array")
		a := Array{side, side, Dataflow(row[column["dataflow"]]), OverlapNone}
		r := require.V(a.Run(number("M_ofmap_px"), number("K_window"), number("N_filters"), 1))(t)
		if r.Cycles != int64(number("lines")) || r.Cycles-1 != int64(number("total_cycles_calc_mode")) || r.MACs != int64(number("macs")) {
			t.Errorf("%v: %d cycles, %d products", row, r.Cycles, r.MACs)
		}
	}
	if len(rows) != 1+27*2*3 {
		t.Errorf("%d rows", len(rows)-1)
	}
}
