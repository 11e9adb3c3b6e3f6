package phones

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestPublic: every public row names a phone with a preset and a network of the zoo, unless it is counted as left out.
func TestPublic(t *testing.T) {
	tables := require.V(Public())(t)
	phones, engines := map[string]int{}, map[string]int{}
	for _, r := range tables.Rows {
		phones[r.Phone]++
		engines[r.Engine]++
		if !(r.PublishedMS > 0) || r.Class == "" || r.Source == "" || !slices.Contains([]string{Fit, Check}, r.Role) || r.SoC == "" && !(r.SimulatedMS > 0) {
			t.Errorf("%+v", r)
		}
	}
	for _, phone := range []string{"Pixel 4", "Mi 9", "Pixel 3", "Pixel 3 XL", "RB5", "RB3 Gen 2", "Exynos 2200", "Galaxy S10", "Mi 8 SE"} {
		require.Check(t, phones[phone] > 0, "no row of %s", phone)
	}
	for _, engine := range []string{"cpu", "gpu", "dsp", "npu"} {
		require.Check(t, engines[engine] > 0, "no row of %s", engine)
	}
	for _, s := range tables.LeftOut {
		if s.Reason != "the zoo has no xlsr_x3" {
			t.Errorf("left out: %+v", s)
		}
	}
}

// TestReasons: the first reason of the engine, phone, network and direction counts, beyond the bar alone, and rows that were
// priced here have theirs.
func TestReasons(t *testing.T) {
	row := func(engine, phone, network string, ratio float64) string {
		r := Row{Engine: engine, Phone: phone, Network: network, PublishedMS: 1}
		r.Simulated(ratio)
		return r.Reason
	}
	require.Check(t, row("dsp", "Pixel 3", "inception_v3_quant", 0.37) != "", "no reason of Inception v3 on the Hexagon of a Pixel 3")
	for _, without := range []string{row("dsp", "Pixel 3", "inception_v3_quant", 0.7), row("dsp", "Pixel 3", "inception_v3_quant", 1.7), row("dsp", "Pixel 3", "mobilenet", 0.3),
		row("cpu", "Pixel 3", "inception_v3_quant", 0.86)} {
		require.Check(t, without == "", "a reason of another row: %s", without)
	}
	for _, r := range require.V(Public())(t).Rows {
		require.Check(t, !r.Misses() || r.SimulatedMS == 0 || r.Reason != "", "%s on %s of %s: %.2f without a reason", r.Network, r.Engine, r.Phone, r.Ratio)
	}
}

// TestRead: a row of each layout, what is left out and why, and the later of two releases.
func TestRead(t *testing.T) {
	dir := fstest.MapFS{
		"a.tsv": {Data: []byte("# facts\nnetwork\truntime\tprimary\tlayers_npu\tlayers_gpu\tlayers_cpu\truns\tmedian_ms\tlast\n" +
			"ResNet18\ttflite\tNPU\t39\t0\t0\t6\t7.05\t2024-07-03\nResNet18\ttflite\tNPU\t41\t0\t0\t36\t7.31\t2025-12-15\n" +
			"ResNet18\tonnx\tCPU\t0\t0\t87\t3\t28.93\t2025-10-13\nResNet18\tonnx\tCPU\t0\t0\t42\t2\t9.93\t2026-01-12\n" +
			"ResNet18\ttflite\tGPU\t0\t41\t0\t1\t12.79\t2026-01-12\nResNeXt50\ttflite\tGPU\t14\t57\t11\t36\t74.52\t2025-12-15\nNoNet\ttflite\tNPU\t1\t0\t0\t1\t1\t2025-12-15\n")},
		"b.tsv": {Data: []byte("model\tcomponent\tprecision\tdevice\truntime\tms\tunit\tnpu\tgpu\tcpu\n" +
			"squeezenet1_1\tSqueezeNet\tw8a8\tDragonwing RB3 Gen 2 Vision Kit\tonnx\t3.777\tCPU\t\t\t49\n" +
			"squeezenet1_1\tSqueezeNet\tw8a8\tSamsung Galaxy S24\ttflite\t0.2\tNPU\t43\t\t\n" +
			"squeezenet1_1\tSqueezeNet\tw8a16\tSamsung Galaxy S24\ttflite\t0.2\tNPU\t43\t\t\nsqueezenet1_1\tSqueezeNet\tw8a8\tSamsung Galaxy S24\tqnn_dlc\t0.2\tNPU\t43\t\t\n")},
		"c.tsv": {Data: []byte("network\tmmac\tend_to_end_ms\tkernels_ms\nmobilenet_wd4\t41\t1.733\t0.7543\n")},
		"d.tsv": {Data: []byte("round\torg\tsystem\ttest\tp50_ms\nv2.0\tSamsung\texynos2200\tLU_gpu_float32\t48.966\nv4.0\tSamsung\texynos2400\tobject_detection\t0.448\n")},
		"e.tsv": {Data: []byte("phone\tengine\tnetwork\tmodel\tarithmetic\tmeasure\trole\tms\tsource\nPixel 3\tdsp\tinception_v3\tquant\ti8\tlatency\tcheck\t74\tmine\n")},
		"f.tsv": {Data: []byte("network\tphone\toperation\tshare_%d\nx\ty\tz\t1\nx\ty\tz\t2\n")},
	}
	var tables Tables
	require.NoError(t, tables.Read(dir))
	var got []string
	for _, r := range tables.Rows {
		got = append(got, strings.Join([]string{r.Phone, r.SoC, r.Engine, r.Network, r.Runs(), r.Arithmetic, r.Measure, r.Role}, " "))
	}
	require.Equal(t, []string{
		"RB5 rb5 dsp resnet_18_quant resnet_18_quant i8 latency held",
		"RB5 rb5 cpu resnet_18_quant resnet_18_quant i8 latency held",
		"RB5 rb5 gpu resnet_18_quant resnet_18_float f16 latency held",
		"RB3 Gen 2 rb3gen2 cpu squeezenet_1_1_quant squeezenet_1_1_quant i8 latency held",
		"Pixel 4 pixel4 gpu mobilenet_v1_0.25_224_float mobilenet_v1_0.25_224_float f16 latency held",
		"Pixel 4 pixel4 gpu mobilenet_v1_0.25_224_float mobilenet_v1_0.25_224_float f16 kernels held",
		"Exynos 2200 xclipse920 gpu mobilebert_float mobilebert_float f32 latency held",
		"Pixel 3 pixel3 dsp inception_v3_quant inception_v3_quant i8 latency check",
	}, got)
	require.Same(t, 7.31, tables.Rows[0].PublishedMS, "the later run")
	reasons := map[string]int{}
	for _, s := range tables.LeftOut {
		reasons[s.Reason] = s.Rows
	}
	for _, want := range []string{"divided between engines", "the zoo has no NoNet", "a later run", "another form", "no preset of Samsung Galaxy S24", "NNAPI has no precision w8a16", "the runtime qnn_dlc",
		"MLPerf does not say", "no table of whole networks: columns network, phone, operation, share_%d"} {
		n := 0
		for reason, rows := range reasons {
			if strings.Contains(reason, want) {
				n += rows
			}
		}
		require.Check(t, n == 1 || n == 2 && strings.HasPrefix(want, "no table"), "%q is the reason of %d rows: %v", want, n, reasons)
	}
}

// TestRefused: a table that cannot be read is named with its row and column.
func TestRefused(t *testing.T) {
	const head = "phone\tengine\tnetwork\tmodel\tarithmetic\tmeasure\trole\tms\tsource\n"
	for text, want := range map[string]string{
		"": "no header",
		head + "Pixel 4\tgpu\tresnet_18\tfloat\tf32\tlatency\tcheck\tx\ts\n":   `x.tsv, row 1: ms is "x"`,
		head + "Pixel 4\tgpu\tresnet_18\tfloat\tf32\tlatency\tcheck\tNaN\ts\n": `x.tsv, row 1: ms is "NaN"`,
		head + "Pixel 4\tgpu\tresnet_18\tfloat\tf32\tlatency\tcheck\t-1\ts\n":  `x.tsv, row 1: ms is "-1"`,
		head + "Pixel 4\ttpu\tresnet_18\tfloat\tf32\tlatency\tcheck\t1\ts\n":   `engine is "tpu", not one of cpu, gpu, dsp, npu`,
		head + "Pixel 4\tgpu\tresnet_18\tfloat\tf32\tlatency\tmine\t1\ts\n":    `role is "mine"`,
		head + "Pixel 4\tgpu\n": "wrong number of fields",
	} {
		var tables Tables
		require.ErrorContains(t, tables.Read(fstest.MapFS{"x.tsv": {Data: []byte(text)}}), want, text)
	}
	require.ErrorContains(t, (&Tables{}).Read(os.DirFS(t.TempDir())), "no *.tsv")
}

// FuzzRead: any table is read, or refused with its name.
func FuzzRead(f *testing.F) {
	f.Add(published)
	f.Add([]byte("round\tsystem\ttest\tp50_ms\nv\texynos2200\tLU_gpu_float32\t1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var tables Tables
		if err := tables.Read(fstest.MapFS{"x.tsv": {Data: data}}); err != nil {
			require.ErrorContains(t, err, "x.tsv")
			return
		}
		for _, r := range tables.Rows {
			if !(r.PublishedMS > 0) || math.IsInf(r.PublishedMS, 0) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// TestSummary: sums and the order of engines of made-up rows.
func TestSummary(t *testing.T) {
	row := func(engine, network, role string, published, ours float64) Row {
		r := Row{Phone: "p", Engine: engine, Network: network, Class: "plain", Measure: Latency, Role: role, PublishedMS: published}
		r.Simulated(ours)
		return r
	}
	rows := []Row{row("cpu", "a", Check, 10, 10.5), row("cpu", "b", Fit, 10, 8.5), row("cpu", "c", Check, 10, 20), row("gpu", "a", Check, 5, 6), row("dsp", "a", Check, 20, 10)}
	groups := Groups(rows)
	g := groups[0]
	if g.Engine != "cpu" || g.Of() != "all" || g.Rows != 3 || !(math.Abs(g.Median-1.05) <= 1e-12) || !(math.Abs(g.Within10-1./3) <= 1e-9) || !(math.Abs(g.Within20-2./3) <= 1e-9) || g.Worst != 2 {
		t.Errorf("%+v", g)
	}
	require.Same(t, 5+4+4, len(groups), "all, roles, phone and class of the CPU, and of two others")
	pairs := Pairs(rows)
	require.Same(t, 3, len(pairs))
	o := OrderOf(pairs)
	// The CPU is published as twice as slow as the GPU (ours 1.75) and twice as fast as the DSP (ours slower): wrong.
	if o.Pairs != 3 || !(math.Abs(o.Right-2./3) <= 1e-9) || !(math.Abs(o.Speedup["gpu"]-10.5/6/2) <= 1e-12) || !(math.Abs(o.Speedup["dsp"]-1.05/0.5) <= 1e-12) {
		t.Errorf("%+v of %+v", o, pairs)
	}
}

// TestEnergyRatio: 1 inside the published range, otherwise relative to its nearest end.
func TestEnergyRatio(t *testing.T) {
	for mj, want := range map[float64]float64{20: 0.5, 40: 1, 60: 1, 80: 1, 160: 2} {
		e := Energy{LeastMJ: 40, MostMJ: 80}
		e.Simulated(mj)
		require.Check(t, e.Ratio == want && e.SimulatedMJ == mj, "%v mJ: %+v, want a ratio of %v", mj, e, want)
	}
	for _, e := range Energies {
		require.Check(t, 0 < e.LeastMJ && e.LeastMJ <= e.MostMJ && e.Source != "" && e.Remark != "", "%+v", e)
	}
}
