package sweep

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func axes(t *testing.T, list ...string) []*Axis {
	t.Helper()
	var l []*Axis
	for _, s := range list {
		a := require.V(ParseAxis(s, func(key string) bool { return key == "whole" }))(t)
		l = append(l, a)
	}
	return l
}

func TestProduct(t *testing.T) {
	p := require.V(Product([]string{"m"}, []string{"npu", "dsp"}, axes(t, "a=1,2", "b+c=x,y")))(t)
	var got []string
	for i := range p.Points {
		got = append(got, p.Points[i].String())
	}
	want := []string{
		"point 0: m on npu with a=1, b=x, c=x", "point 1: m on dsp with a=1, b=x, c=x",
		"point 2: m on npu with a=1, b=y, c=y", "point 3: m on dsp with a=1, b=y, c=y",
		"point 4: m on npu with a=2, b=x, c=x", "point 5: m on dsp with a=2, b=x, c=x",
		"point 6: m on npu with a=2, b=y, c=y", "point 7: m on dsp with a=2, b=y, c=y",
	}
	require.Equal(t, want, got, "points")
	if want := []string{"a", "b", "c"}; !slices.Equal(p.Keys, want) {
		t.Errorf("keys %v, want %v", p.Keys, want)
	}
	require.Same(t, 1, len(require.V(Product([]string{"m"}, []string{"npu"}, nil))(t).Points))
}

func TestInterval(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"a=1..2/5", []string{"1", "1.25", "1.5", "1.75", "2"}},
		{"a=3200..4266/3", []string{"3200", "3733", "4266"}},
		{"whole=1..4/3", []string{"1", "3", "4"}}, // halves go up
		{"a=-1..1/2", []string{"-1", "1"}},
		{"a=0..1/4", []string{"0", "0.333333", "0.666667", "1"}},
	} {
		require.Equal(t, c.want, axes(t, c.text)[0].Values, c.text)
	}
}

func TestRefusals(t *testing.T) {
	for _, s := range []string{
		"a", "a=", "=1", "a=1,1", "a=1,", "a=2..1", "a=1..x", "a=1..2/1", "a=1..2/x", "whole=1..2/3", "a+a=1", "a+=1", "a=1..inf/3", "a=1..2/9999999",
	} {
		if a, err := ParseAxis(s, func(key string) bool { return key == "whole" }); err == nil {
			t.Errorf("%s is %v", s, a)
		}
	}
	one := []string{"m"}
	require.ErrorContains(t, require.Err(Product(one, one, axes(t, "a=1..2"))), "is an interval", "product of an interval")
	require.ErrorContains(t, require.Err(Product(one, one, axes(t, "a=1", "b+a=2"))), "a varies twice", "a key of two axes")
	require.Fails(t, require.Err(Product(one, one, axes(t, "a=0..1/2000", "b=0..1/2000"))), "four million points")
	require.Fails(t, require.Err(Sample(one, one, nil, 10, 1)), "samples of nothing")
	require.Fails(t, require.Err(Sample(one, one, axes(t, "a=0..1"), 0, 1)), "no samples")
	for _, s := range []string{"", "1", "0/2", "3/2", "a/b", "1/0", "1/99999999"} {
		require.Fails(t, require.Err(ParseShard(s)), "shard", s)
	}
}

// TestSample: one sample in each stratum of each axis, the same ones for the same seed.
func TestSample(t *testing.T) {
	const n = 64
	list := axes(t, "a=10..20", "b=x,y,z,w", "whole=1..1000")
	sample := func(seed uint64) *Plan {
		p := require.V(Sample([]string{"m"}, []string{"d"}, list, n, seed))(t)
		return p
	}
	p := sample(7)
	if len(p.Points) != n {
		t.Fatalf("%d points", len(p.Points))
	}
	var strata [n]int
	values := map[string]int{}
	for i := range p.Points {
		c := p.Points[i].Changes
		x, err := strconv.ParseFloat(c[0].Value, 64)
		if err != nil || x < 10 || x > 20 {
			t.Fatalf("%v", c[0])
		}
		strata[min(n-1, int((x-10)/10*n))]++
		values[c[1].Value]++
		if w, err := strconv.Atoi(c[2].Value); err != nil || w < 1 || w > 1000 {
			t.Errorf("%v", c[2])
		}
	}
	for i, k := range strata {
		require.Same(t, 1, k, "samples in stratum", i)
	}
	require.Equal(t, map[string]int{"x": 16, "y": 16, "z": 16, "w": 16}, values, "values")
	require.Equal(t, p, sample(7), "the same seed differs")
	require.Check(t, !cmp.Equal(p, sample(8)), "another seed gives the same")
}

func TestRead(t *testing.T) {
	p := require.V(Read("p.csv", strings.NewReader("device,dram.mt_per_s,npu.cores\nnpu,3733,\ndsp,,1\n"), []string{"m", "n"}, nil))(t)
	want := []Point{
		{0, "m", "npu", []soc.Change{{Key: "dram.mt_per_s", Value: "3733"}}}, {1, "n", "npu", []soc.Change{{Key: "dram.mt_per_s", Value: "3733"}}},
		{2, "m", "dsp", []soc.Change{{Key: "npu.cores", Value: "1"}}}, {3, "n", "dsp", []soc.Change{{Key: "npu.cores", Value: "1"}}},
	}
	require.Equal(t, want, p.Points, "points")
	for text, want := range map[string]string{
		"":                      "p.csv: no line of column names",
		"device,x\n":            "no points",
		"device,x,x\nnpu,1,2\n": "p.csv:1: column 3",
		"x\n1\n":                "p.csv:2: no device",
		"device,x\n,1\n":        "p.csv:2: no device",
		"device,x\nnpu\n":       "wrong number of fields",
		"model,x\nm,1\n":        "p.csv:1: a column model, and models besides",
		"device,x\nnpu," + strings.Repeat("1", 5000) + "\n": "p.csv:2: x is longer",
	} {
		require.ErrorContains(t, require.Err(Read("p.csv", strings.NewReader(text), []string{"m"}, nil)), want, text)
	}
}

var description = Description{SchemaVersion: 1, SoC: "s", Keys: []string{"a"}, Count: 10, PointsHash: "p", RunHash: "r", Build: "b"}

func open(t *testing.T, dir, shard string) *Store {
	t.Helper()
	var s Shard
	if shard != "" {
		var err error
		if s, err = ParseShard(shard); err != nil {
			t.Fatal(err)
		}
	}
	st := require.V(Open(dir, &description, s))(t)
	return st
}

func row(i int) *Row {
	return &Row{Index: i, Model: "m", Device: "d", Keys: map[string]string{"a": strconv.Itoa(i)}, Status: StatusOK, Numbers: map[string]float64{"latency_us": float64(i) / 3}}
}

// TestStoreResumes: work that a killed process has not finished is forgotten, all else is there once, whichever shards
// wrote it.
func TestStoreResumes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[odd] *name?")
	s := open(t, dir, "1/2")
	for _, i := range []int{4, 0} {
		require.NoError(t, s.Add(row(i)))
	}
	require.ErrorContains(t, require.Err(Open(dir, &description, Shard{1, 2})), "another process", "two processes work on one shard")
	if _, err := s.lines.WriteString(`{"index":2,"mod`); err != nil { // killed here
		t.Fatal(err)
	}
	s.lines.Close()

	other := open(t, dir, "2/2")
	require.NoError(t, other.Add(row(1)))
	require.NoError(t, other.Close())

	for _, shard := range []string{"1/2", ""} { // continues as it was, and as one
		s := open(t, dir, shard)
		for i := range 10 {
			if got, want := s.Done(i), i == 0 || i == 1 || i == 4 || shard == "" && i == 2; got != want {
				t.Errorf("shard %q: point %d is done: %v", shard, i, got)
			}
		}
		if shard != "" {
			require.NoError(t, s.Add(row(2)))
		}
		rows := require.V(s.Collect([]string{"a"}))(t)
		require.Equal(t, []Row{*row(0), *row(1), *row(2), *row(4)}, rows, "shard", shard)
		require.NoError(t, s.Close())
	}
	for _, name := range []string{CSVFile, ParquetFile} {
		if fi, err := os.Stat(filepath.Join(dir, name)); err != nil || fi.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStoreRefuses: a folder holds one sweep, and changed lines are named.
func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, "").Close()
	for what, change := range map[string]func(*Description){
		"SoC":            func(d *Description) { d.SoC = "x" },
		"points":         func(d *Description) { d.PointsHash = "x" },
		"way of running": func(d *Description) { d.RunHash = "x" },
		"build of nnsoc": func(d *Description) { d.Build = "x" },
		"format":         func(d *Description) { d.SchemaVersion = 9 },
	} {
		d := description
		change(&d)
		require.ErrorContains(t, require.Err(Open(dir, &d, Shard{})), "another "+what, "another", what)
	}
	for text, want := range map[string]string{"{}\nnonsense\n": "rows-1-of-1.jsonl:2:", `{"index":-1}` + "\n": ":1: point -1", strings.Repeat("x", maxLine+9) + "\n": "more than"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rows-1-of-1.jsonl"), []byte(text), 0o644))
		require.ErrorContains(t, require.Err(Open(dir, &description, Shard{})), want, text)
	}
}

// TestTables: CSV and Parquet have the same cells, read by other code than wrote them.
func TestTables(t *testing.T) {
	rows := []Row{
		{Index: 0, Model: "m", Device: "npu", SoC: "s", Keys: map[string]string{"k": "1.5", "name": "x"}, Status: StatusOK, Numbers: map[string]float64{"latency_us": 1.0 / 3, "stall.issue": 7, "energy_uj": 1e-12}},
		{Index: 1, Model: "a,\"b\"\n", Device: "npu", SoC: "s", Keys: map[string]string{"name": ""}, Status: StatusError, Error: "no: way"},
		{Index: 2, Model: "m", Device: "npu", SoC: "s", Keys: map[string]string{"k": "-2e9"}, Status: StatusOK, Numbers: map[string]float64{"latency_us": 0, "counter.x": math.MaxInt32}},
	}
	keys := []string{"k", "name"}
	var c, p bytes.Buffer
	require.NoError(t, writeCSV(&c, keys, rows))
	require.NoError(t, writeParquet(&p, keys, rows))
	records := require.V(csv.NewReader(&c).ReadAll())(t)
	header := strings.Join(records[0], " ")
	require.Same(t, "index model device soc soc_hash build k name status error latency_us energy_uj counter.x stall.issue", header, "columns")
	f := require.V(parquet.OpenFile(bytes.NewReader(p.Bytes()), int64(p.Len())))(t)
	require.Same(t, int64(len(rows)), f.NumRows(), "rows")
	columns := map[string][]string{}
	r := parquet.NewReader(f)
	for range rows {
		m := map[string]any{}
		require.NoError(t, r.Read(&m))
		for _, k := range records[0] {
			text := ""
			switch x := m[k].(type) {
			case nil:
			case float64:
				text = strconv.FormatFloat(x, 'f', -1, 64)
			default:
				text = fmt.Sprint(x)
			}
			columns[k] = append(columns[k], text)
		}
	}
	for i, k := range records[0] {
		for n := range rows {
			want := records[1+n][i]
			if k == "k" && want == "-2e9" {
				want = "-2000000000"
			}
			if got := columns[k][n]; got != want {
				t.Errorf("row %d, %s: %q in Parquet, %q in CSV", n, k, got, want)
			}
		}
	}
}
