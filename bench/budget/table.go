package budget

// line is a row of the budget and the engines that a SoC must have for it.
type line struct {
	Row
	needs []string
}

func row(work string, goal float64, source string, needs []string, yardsticks ...string) line {
	return line{Row{Work: work, Goal: goal, Source: source, Yardstick: yardsticks}, needs}
}

var (
	onDSP = []string{"dsp"}
	onNPU = []string{"npu", "cpu"}
	onGPU = []string{"gpu", "cpu"}
	all   = []string{"dsp", "npu", "gpu", "cpu"}
)

// table is the speed budget. A name of a work is looked up in works.
var table = []line{
	row("dsp: u8 GEMM 512^3, program", 1.0/5, "a fifth of qemu-hexagon's time, which does not count cycles", onDSP, "qemu-hexagon: u8 GEMM 512^3, program"),
	row("dsp: scalar programs", 1, "as long as qemu-hexagon", onDSP, "qemu-hexagon: scalar programs"),
	row("dsp: vectors stored in L2", 1.0/20, "a twentieth of qemu-hexagon's time", onDSP, "qemu-hexagon: vectors stored in L2"),
	row("dsp: vectors copied in L2, unaligned", 1.0/20, "a twentieth of qemu-hexagon's time", onDSP, "qemu-hexagon: vectors copied in L2, unaligned"),
	row("dsp: vectors stored beyond L2", 1.0/20, "a twentieth of qemu-hexagon's time", onDSP, "qemu-hexagon: vectors stored beyond L2"),
	row("dsp: vectors copied beyond L2", 1.0/20, "a twentieth of qemu-hexagon's time", onDSP, "qemu-hexagon: vectors copied beyond L2"),
	row("dsp: vectors stored beyond L2", 8, "13 million per second where 64 MiB are copied in 2.5 ms (D-276)", onDSP, "copy of 64 MiB"),
	row("dsp: vectors copied beyond L2", 8, "13 million per second where 64 MiB are copied in 2.5 ms (D-276)", onDSP, "copy of 64 MiB"),
	row("dsp: MobileNet v1 quant", 6, "six times the reference", []string{"dsp", "cpu"}, "cpu: MobileNet v1 quant"),
	row("npu: MobileNet v1 quant", 1.5, "one and a half times the reference", onNPU, "cpu: MobileNet v1 quant"),
	row("gpu: MobileNet v1 float", 40, "forty times the reference", onGPU, "cpu: MobileNet v1 float"),
	row("gpu: MobileNet v1 float functional", 1.0/3, "a third of a cycle-mode execution", onGPU, "gpu: MobileNet v1 float"),
	row("gpu: f32 GEMM 256^3", 3.5, "200 times MGPUSim's 2.0 million lane instructions per second (D-1240)", onGPU, "portable Go: 2^24 products"),
	row("cpu: MobileNet v1 quant", 0.06, "for twice XNNPACK (D-1240)", []string{"cpu"}, "portable Go: MobileNet v1's products"),
	row("cpu: MobileNet v1 float", 0.12, "for four times XNNPACK (D-1240)", []string{"cpu"}, "portable Go: MobileNet v1's products"),
	row("dsp: MobileNet v1 quant prepared", 1, "no more than an execution", onDSP, "dsp: MobileNet v1 quant"),
	row("npu: MobileNet v1 quant prepared", 1, "no more than an execution", onNPU, "npu: MobileNet v1 quant"),
	row("npu: MobileNet v1 quant prepared", 3, "three times the reference", onNPU, "cpu: MobileNet v1 quant"),
	row("gpu: MobileNet v1 float prepared", 1, "no more than an execution", onGPU, "gpu: MobileNet v1 float"),
	row("dsp: point of a sweep", 45, "0.5 s where the reference takes 11 ms (D-1240)", []string{"dsp", "cpu"}, "cpu: MobileNet v1 quant"),
	row("npu: point of a sweep", 27, "0.3 s where the reference takes 11 ms (D-1240)", onNPU, "cpu: MobileNet v1 quant"),
	row("nnsoc run --device dsp", 2.5, "two and a half executions", onDSP, "dsp: MobileNet v1 quant"),
	row("nnsoc run --device npu", 2.5, "two and a half executions", onNPU, "npu: MobileNet v1 quant"),
	row("nnsoc run --device gpu, float", 2.5, "two and a half executions", onGPU, "gpu: MobileNet v1 float"),
	row("nnsoc run --device gpu --sampled, float", 0.2, "a fifth of the same in full", onGPU, "nnsoc run --device gpu, float"),
	row("nnsoc run --device auto, float", 3, "three executions on each device", all, "cpu: MobileNet v1 float", "dsp: MobileNet v1 float", "gpu: MobileNet v1 float", "npu: MobileNet v1 float"),
}
