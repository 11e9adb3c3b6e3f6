package phones

// Energy is what an inference took on a phone beside what it takes on a preset, in mJ. A published range has both
// ends, a single figure the same twice.
type Energy struct {
	Phone       string  `json:"phone"`
	SoC         string  `json:"soc"` // preset beside it
	Engine      string  `json:"engine"`
	Threads     int     `json:"threads,omitempty"` // of the CPU, where not the preset's
	Network     string  `json:"model"`
	LeastMJ     float64 `json:"published_least_mj"` // low end of what the source gives
	MostMJ      float64 `json:"published_most_mj"`  // high end
	SimulatedMJ float64 `json:"simulated_mj"`       // mean of a loop
	Ratio       float64 `json:"ratio"`              // simulated / nearest end of the range, 1 inside it
	Source      string  `json:"source"`
	Remark      string  `json:"remark"` // how the phone differs from the preset
}

const (
	deepEn    = "DeepEn2023, 50 variants of each network"
	platformX = "PlatformX, Monsoon traces, above idle"

	kirin  = "Kirin 990: Cortex-A76 on 7 nm as pixel4, a Mali-G76 MP16 in place of an Adreno 640"
	tensor = "Tensor G2: Cortex-X1 as sd888 has one; cores, clock and input size of the run are not published"
)

// Energies are the published energies of networks that the zoo has.
var Energies = []Energy{
	{Phone: "P40 Pro", SoC: "pixel4", Engine: "cpu", Network: "mobilenet_v1_1.0_224_float", LeastMJ: 54, MostMJ: 137, Source: deepEn, Remark: kirin},
	{Phone: "P40 Pro", SoC: "pixel4", Engine: "cpu", Network: "mobilenet_v2_1.0_224_float", LeastMJ: 31, MostMJ: 175, Source: deepEn, Remark: kirin},
	{Phone: "P40 Pro", SoC: "pixel4", Engine: "cpu", Network: "alexnet_float", LeastMJ: 37, MostMJ: 356, Source: deepEn, Remark: kirin},
	{Phone: "P40 Pro", SoC: "pixel4", Engine: "gpu", Network: "mobilenet_v1_1.0_224_float", LeastMJ: 17, MostMJ: 42, Source: deepEn, Remark: kirin},
	{Phone: "Pixel 7", SoC: "sd888", Engine: "cpu", Threads: 1, Network: "mobilenet_v2_1.0_224_float", LeastMJ: 12.6, MostMJ: 12.6, Source: platformX, Remark: tensor},
}

// Simulated puts the energy of a preset beside the published range.
func (e *Energy) Simulated(mj float64) {
	e.SimulatedMJ, e.Ratio = mj, 1
	switch {
	case mj < e.LeastMJ:
		e.Ratio = mj / e.LeastMJ
	case mj > e.MostMJ:
		e.Ratio = mj / e.MostMJ
	}
}
