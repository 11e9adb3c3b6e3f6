package session

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// hopeRow is an operation that HOPE's authors timed, and its times there.
type hopeRow struct {
	name, kind, in, padding          string
	side, out, height, width, stride int
	cpu2, cpu4, gpu                  float64
	alone, inPlan                    float64 // on the CPU of HOPE's plan; 0: it is not there
}

// hopeRows reads testdata/hope_inception_v3.tsv.
func hopeRows(t *testing.T) (rows []hopeRow) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(string(require.File(t, "testdata/hope_inception_v3.tsv"))), "\n") {
		f := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || f[0] == "operation" {
			continue
		}
		n := func(i int) int { return require.V(strconv.Atoi(f[i]))(t) }
		us := func(i int) float64 { return require.V(strconv.ParseFloat(f[i], 64))(t) }
		r := hopeRow{f[0], f[1], f[3], f[8], n(2), n(4), n(5), n(6), n(7), us(9), us(10), us(11), 0, 0}
		if f[12] != "" {
			r.alone, r.inPlan = us(12), us(13)
		}
		rows = append(rows, r)
	}
	return rows
}

// class names the table's row of an operation.
func (r *hopeRow) class() string {
	if r.kind != "conv" {
		return strings.ReplaceAll(r.kind, "_", " ")
	}
	return fmt.Sprintf("convolution %dx%d", min(r.height, r.width), max(r.height, r.width))
}

// network is the operation alone.
func (r *hopeRow) network(t *testing.T) *Network {
	t.Helper()
	b := builder.New(builder.Config{Format: builder.Float32})
	var in []builder.Tensor
	for i, c := range strings.Split(r.in, "+") {
		in = append(in, b.Values(fmt.Sprint("input", i), 1, uint32(r.side), uint32(r.side), uint32(require.V(strconv.Atoi(c))(t))))
	}
	valid, window := r.padding == "valid", builder.Pool{Window: uint32(r.height), Width: uint32(r.width), Stride: uint32(r.stride), Valid: r.padding == "valid"}
	var y builder.Tensor
	switch r.kind {
	case "conv":
		y = b.Conv(in[0], builder.Conv{Out: uint32(r.out), Kernel: uint32(r.height), Width: uint32(r.width), Stride: uint32(r.stride), Valid: valid, Act: builder.ReLU})
	case "max_pool":
		y = b.MaxPool(in[0], window)
	case "avg_pool":
		y = b.AveragePool(in[0], window)
	case "concat":
		y = b.Concat(in...)
	default:
		t.Fatalf("%s: kind %s", r.name, r.kind)
	}
	b.Output(y, "output")
	return require.V(NewNetwork(require.V(b.Model(r.name))(t), nil))(t)
}

// hopeClass is what the rows of one class add up to.
type hopeClass struct {
	rows, agree, marginal int
	published, simulated  [2]float64 // us on the CPU and the GPU
}

// hopeTimes are the times of an operation on the CPU and on the GPU, in us.
type hopeTimes struct{ published, simulated [2]float64 }

// add counts an operation. base is what the GPU needs for the smallest one.
func (c *hopeClass) add(x *hopeTimes, base *hopeTimes) {
	first := func(us, base [2]float64) bool { return us[0] < us[1]-base[1] }
	c.rows++
	if first(x.published, [2]float64{}) == first(x.simulated, [2]float64{}) {
		c.agree++
	}
	if first(x.published, base.published) == first(x.simulated, base.simulated) {
		c.marginal++
	}
	for d := range c.published {
		c.published[d] += x.published[d]
		c.simulated[d] += x.simulated[d]
	}
}

// TestHOPEOrder writes the table of which of CPU and GPU ends an operation first, on HOPE's phone and here: alone, and without what the GPU
// needs for the smallest operation, which a plan pays once for all operations in a row.
func TestHOPEOrder(t *testing.T) {
	require.AllTests(t)
	config := require.V(soc.Load("pixel4"))(t)
	phone := require.V(Open(config, Options{Preference: hal.FastSingleAnswer, Costs: t.TempDir()}))(t)
	planner := NewPlanner(phone, nnrt.CompileOptions{}, PlanPace())
	var list []hopeTimes
	rows := hopeRows(t)
	base := hopeTimes{[2]float64{0, math.Inf(1)}, [2]float64{0, math.Inf(1)}}
	for i := range rows {
		r := &rows[i]
		p := require.V(planner.Problem(r.network(t), CostsMeasured))(t)
		require.Same(t, "gpu", p.Devices[1].Name, "second device")
		x := hopeTimes{published: [2]float64{r.cpu4, r.gpu}}
		for d := range x.simulated {
			plan := require.V(partition.Single(d).Plan(p))(t)
			x.simulated[d] = require.V(p.Evaluate(p.Canonical(plan)))(t).LatencyFs / 1e9
		}
		base.published[1], base.simulated[1] = min(base.published[1], x.published[1]), min(base.simulated[1], x.simulated[1])
		list = append(list, x)
		t.Logf("%s: %+v", r.name, x)
	}
	classes, all := map[string]*hopeClass{}, &hopeClass{}
	for i := range rows {
		name := rows[i].class()
		if classes[name] == nil {
			classes[name] = &hopeClass{}
		}
		classes[name].add(&list[i], &base)
		all.add(&list[i], &base)
	}
	var table []string
	row := func(name string, c *hopeClass) {
		table = append(table, fmt.Sprintf("| %s | %d | %d | %d | %.2f | %.2f |", name, c.rows, c.agree, c.marginal, c.simulated[0]/c.published[0], c.simulated[1]/c.published[1]))
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		row(name, classes[name])
	}
	row("all", all)
	doctable.Check(t, "../../docs/Strategies.md", "| operations | number | same device first | without the call | CPU, here over published | GPU |", table)
	require.Check(t, all.marginal*10 >= all.rows*8, "without the call the same device is first for %d of %d operations", all.marginal, all.rows)
}
