package session

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// hopeBranches are the operations of inception_v3_float, first and last, that HOPE's plan has on the GPU: of branches with an operation that
// its authors list and that the plan does not have on the CPU. They are branch 2 of nearly all blocks.
var hopeBranches = [][2]int{{19, 21}, {28, 30}, {34, 34}, {44, 48}, {56, 60}, {68, 72}, {80, 84}, {90, 93}, {97, 98}, {103, 105}, {110, 111}, {116, 118}}

// hopePlan is HOPE's plan, devices CPU and GPU.
func hopePlan(p *partition.Problem) partition.Plan {
	device := make([]int, len(p.Graph.Operations))
	for _, b := range hopeBranches {
		for i := b[0]; i <= b[1]; i++ {
			device[i] = 1
		}
	}
	return partition.Plan{Device: device, Part: partition.Overlapping(p.Graph, device)}
}

// hopeKey identifies an operation by its shape, as rows of one shape have one time.
func hopeKey(m *nn.Model, i int) string {
	o := &m.Main.Operations[i]
	dims := func(k int) []uint32 { return m.Main.Operands[o.Inputs[k]].Dimensions }
	out := m.Main.Operands[o.Outputs[0]].Dimensions
	if len(out) != 4 {
		return o.Type.String()
	}
	side := dims(0)[1]
	switch o.Type {
	case nn.OpConv2D:
		f := dims(1)
		return fmt.Sprintf("conv %d %d %d %dx%d %d", side, f[3], f[0], f[1], f[2], (2*side+out[1])/(2*out[1]))
	case nn.OpConcatenation:
		return fmt.Sprintf("concat %d %d", side, out[3])
	}
	return fmt.Sprintf("%s %d %d", o.Type, side, out[3])
}

// key is hopeKey of a row.
func (r *hopeRow) key() string {
	switch r.kind {
	case "conv":
		return fmt.Sprintf("conv %d %s %d %dx%d %d", r.side, r.in, r.out, r.height, r.width, r.stride)
	case "concat":
		return fmt.Sprintf("concat %d %d", r.side, r.out)
	case "max_pool":
		return fmt.Sprintf("%s %d %d", nn.OpMaxPool2D, r.side, r.out)
	}
	return fmt.Sprintf("%s %d %d", nn.OpAveragePool2D, r.side, r.out)
}

// hopeProblem is Inception v3 on HOPE's CPU, two threads, and GPU, with the times that its authors measured for single operations and
// copies. An operation of a shape without a row takes the time of the rows of its kind per multiply-accumulate, a pooling or a
// concatenation their mean. known is the share of the multiply-accumulates that have rows.
func hopeProblem(t *testing.T, rows []hopeRow) (p *partition.Problem, known float64) {
	t.Helper()
	m := zoo.MustBuild("inception_v3_float")
	p = &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main)}
	n := len(p.Graph.Operations)
	byKey := map[string][]*hopeRow{}
	for i := range rows {
		byKey[rows[i].key()] = append(byKey[rows[i].key()], &rows[i])
	}
	mean := func(list []*hopeRow) (cpu, gpu float64) {
		for _, r := range list {
			cpu, gpu = cpu+r.cpu2/float64(len(list)), gpu+r.gpu/float64(len(list))
		}
		return cpu, gpu
	}
	var us [2][]float64
	var kinds [2][3]float64 // by convolution or not: CPU, GPU, multiply-accumulates or number
	weight := func(i int) (kind int, w float64) {
		if macs := p.Graph.Operations[i].MACs; macs > 0 {
			return 0, float64(macs)
		}
		return 1, 1
	}
	have, all := 0.0, 0.0
	for i := range n {
		list := byKey[hopeKey(m, i)]
		cpu, gpu := mean(list)
		us[0], us[1] = append(us[0], cpu), append(us[1], gpu)
		kind, w := weight(i)
		all += float64(p.Graph.Operations[i].MACs)
		if list != nil {
			have += float64(p.Graph.Operations[i].MACs)
			kinds[kind] = [3]float64{kinds[kind][0] + cpu, kinds[kind][1] + gpu, kinds[kind][2] + w}
		}
	}
	for d, name := range []string{"cpu", "gpu"} {
		support, costs := make([]hal.Support, n), make([]partition.Cost, n)
		for i := range n {
			kind, w := weight(i)
			if us[d][i] == 0 {
				us[d][i] = kinds[kind][d] / kinds[kind][2] * w
			}
			support[i].OK, costs[i] = true, partition.Cost{TimeFs: us[d][i] * 1e9, EngineFs: us[d][i] * 1e9}
		}
		p.Devices = append(p.Devices, partition.Device{Name: name, Support: support})
		p.Costs.Operation = append(p.Costs.Operation, costs)
	}
	copies := hopeTransfers(t)
	p.Costs.Fixed = []partition.Cost{{}, {TimeFs: (copies[0] + copies[1]) * 1e9}}
	p.Costs.PerByte = make([]partition.Cost, 2)
	return p, have / all
}

// hopeTransfers are the medians of the copies to the GPU and back, us, of tensors with a height and a width.
func hopeTransfers(t *testing.T) (median [2]float64) {
	t.Helper()
	var times [2][]float64
	for _, line := range strings.Split(strings.TrimSpace(string(require.File(t, "testdata/hope_transfers.tsv"))), "\n") {
		f := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || f[0] == "shape" || strings.HasPrefix(f[0], "1,1001") {
			continue
		}
		for k := range times {
			times[k] = append(times[k], require.V(strconv.ParseFloat(f[1+k], 64))(t))
		}
	}
	for k := range times {
		slices.Sort(times[k])
		median[k] = times[k][len(times[k])/2]
	}
	return median
}

// hopeTable is HOPE's operations and copies as a file for --costs: operations by their shapes.
func hopeTable(t *testing.T, rows []hopeRow) []byte {
	t.Helper()
	var b strings.Builder
	b.WriteString("device\ttype\tinput\tfilter\toutput\ttime_us\tenergy_uj\n")
	for i := range rows {
		r := &rows[i]
		side := func(window int) int {
			if r.padding == "valid" {
				return (r.side-window)/r.stride + 1
			}
			return (r.side + r.stride - 1) / r.stride
		}
		shapes := fmt.Sprintf("CONCATENATION\t\t\t1x%dx%dx%d", r.side, r.side, r.out)
		switch output := fmt.Sprintf("1x%dx%dx%d", side(r.height), side(r.width), r.out); r.kind {
		case "conv":
			shapes = fmt.Sprintf("CONV_2D\t1x%dx%dx%s\t%dx%dx%dx%s\t%s", r.side, r.side, r.in, r.out, r.height, r.width, r.in, output)
		case "max_pool":
			shapes = fmt.Sprintf("MAX_POOL_2D\t1x%dx%dx%d\t\t%s", r.side, r.side, r.out, output)
		case "avg_pool":
			shapes = fmt.Sprintf("AVERAGE_POOL_2D\t1x%dx%dx%d\t\t%s", r.side, r.side, r.out, output)
		}
		fmt.Fprintf(&b, "cpu\t%s\t%g\t0\ngpu\t%s\t%g\t0\n", shapes, r.cpu2, shapes, r.gpu)
	}
	copies := hopeTransfers(t)
	fmt.Fprintf(&b, "cpu\tsegment\t\t\t\t0\t0\ncpu\tkilobyte\t\t\t\t0\t0\ngpu\tsegment\t\t\t\t%g\t0\ngpu\tkilobyte\t\t\t\t0\t0\n", copies[0]+copies[1])
	return []byte(b.String())
}

// TestHOPETable: HOPE's times as a file of costs are what its plan is replayed by. Operations without a row take the times of the problem
// in place of simulated ones.
func TestHOPETable(t *testing.T) {
	rows := hopeRows(t)
	p, _ := hopeProblem(t, rows)
	table := require.V(cost.ReadTable("hope.tsv", hopeTable(t, rows)))(t)
	q := *p
	c, cover, err := table.Costs(p, func() (partition.Costs, error) { return p.Costs, nil })
	require.NoError(t, err)
	q.Costs = c
	for d := range cover {
		require.Check(t, cover[d].Times > 80 && cover[d].Times < len(p.Graph.Operations) && cover[d].Segment, "%+v", cover[d])
		for i := range c.Operation[d] {
			want, got := p.Costs.Operation[d][i].TimeFs, c.Operation[d][i].TimeFs
			require.Check(t, math.Abs(got-want) <= 1e-9*want, "device %d, operation %d: %v fs, want %v", d, i, got, want)
		}
	}
	want, got := require.V(p.Evaluate(hopePlan(p)))(t).LatencyFs, require.V(q.Evaluate(hopePlan(p)))(t).LatencyFs
	require.Check(t, math.Abs(got-want) <= 1e-9*want, "HOPE's plan takes %v fs by the file, want %v", got, want)
}

// TestHOPEPlan replays HOPE's plan of Inception v3 by its own times: what it wins beside the best single device, with operations as long as
// alone and as long as in the plan, and that strategy branches finds as good a plan by these times.
func TestHOPEPlan(t *testing.T) {
	rows := hopeRows(t)
	p, known := hopeProblem(t, rows)
	latency := func(plan partition.Plan) float64 { return require.V(p.Evaluate(plan))(t).LatencyFs / 1e12 }
	single := func(d int) float64 { return latency(require.V(partition.Single(d).Plan(p))(t)) }
	cpu, gpu, hope := single(0), single(1), latency(hopePlan(p))
	found := require.V(partition.Branches{}.Plan(p))(t)
	own := latency(found)
	alone, inPlan := 0.0, 0.0
	for i := range rows {
		alone, inPlan = alone+rows[i].alone, inPlan+rows[i].inPlan
	}
	whole := latency(partition.Plan{Device: hopePlan(p).Device})
	for i := range p.Costs.Operation[0] {
		p.Costs.Operation[0][i].TimeFs *= inPlan / alone
	}
	slowed := latency(hopePlan(p))
	best := min(cpu, gpu)
	row := func(name string, ms float64) string { return fmt.Sprintf("| %s | %.1f | %.2f |", name, ms, best/ms) }
	t.Logf("rows for %.0f %% of the multiply-accumulates, operations of the plan's CPU take %.2f times as long in it", 100*known, inPlan/alone)
	doctable.Check(t, "../../docs/Strategies.md", "| Inception v3, plan by HOPE's times | ms | beside the best single device |", []string{
		row("CPU, two threads", cpu), row("GPU", gpu), row("HOPE's plan, a join and the branches behind it one step", whole), row("HOPE's plan, branches overlap", hope),
		row("the same, operations on the CPU as long as in its plan", slowed), row("`branches`", own),
	})
	require.Check(t, own <= hope*1.001, "branches plans %.1f ms, HOPE %.1f", own, hope)
	require.Check(t, hope < best && known > 0.6, "HOPE's plan takes %.1f ms, a single device %.1f; rows for %.2f of the work", hope, best, known)
}
