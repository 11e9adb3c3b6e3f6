package soc

import "cmp"

// Config is one SoC. A device whose section is absent is not offered.
//
// The tag "range" is the closed interval of valid values; the keys of a section are all required unless tagged
// optional.
type Config struct {
	SoC          Identity     `toml:"soc"`
	DRAM         DRAM         `toml:"dram"`
	Interconnect Interconnect `toml:"interconnect"`
	SystemCache  *SystemCache `toml:"system_cache" soc:"optional"`
	Host         Host         `toml:"host"`
	CPU          *CPU         `toml:"cpu" soc:"optional"`
	GPU          *GPU         `toml:"gpu" soc:"optional"`
	DSP          *DSP         `toml:"dsp" soc:"optional"`
	NPU          *NPU         `toml:"npu" soc:"optional"`
	Thermal      *Thermal     `toml:"thermal" soc:"optional"`
}

// Identity names the SoC.
type Identity struct {
	Name        string `toml:"name"`
	Description string `toml:"description"`
}

// OPP is one operating point.
type OPP struct {
	MHz float64 `toml:"mhz" range:"10..6000"`
	V   float64 `toml:"v" range:"0.3..2"`
	// DDRMHz is the clock of the DRAM that an engine votes for at this point: transfers
	// per second over transfers per clock. Without it the DRAM runs at mt_per_s.
	DDRMHz float64 `toml:"ddr_mhz" range:"100..4000" soc:"optional"`
}

// Clock is a clock domain: its points, the highest of them by ExecutionPreference, and
// the governor that moves it below; without one it is at the preference's point.
type Clock struct {
	OPPs         []OPP   `toml:"opps" len:"1..64"` // rising
	RampUs       float64 `toml:"ramp_us" range:"0..100000"`
	IdleAfterUs  float64 `toml:"idle_after_us" range:"0..1e9"` // idle span after which the domain sleeps
	IdleExitUs   float64 `toml:"idle_exit_us" range:"0..100000"`
	LowPowerMHz  float64 `toml:"low_power_mhz" range:"10..6000"` // each one of opps
	SustainedMHz float64 `toml:"sustained_mhz" range:"10..6000"`
	FastMHz      float64 `toml:"fast_mhz" range:"10..6000"`
	// SlumberUs is the idle span after which the clock starts again at its lowest point.
	SlumberUs float64   `toml:"slumber_us" range:"1..1e9" soc:"optional"`
	Governor  *Governor `toml:"governor" soc:"optional"`
}

// Energy is pJ per event at VRef, by the event's name, and static power. The
// table has exactly the names of the section's event list.
type Energy struct {
	VRef     float64            `toml:"v_ref" range:"0.3..2"`
	StaticMW float64            `toml:"static_mw" range:"0..100000"`
	PJ       map[string]float64 `toml:"pj"`
}

// Cache is one set-associative cache.
type Cache struct {
	KiB           float64 `toml:"kib" range:"0.25..65536"`
	LineBytes     int     `toml:"line_bytes" range:"16..4096"`
	Ways          int     `toml:"ways" range:"1..16"`
	HitCycles     int     `toml:"hit_cycles" range:"0..10000"`
	BytesPerCycle int     `toml:"bytes_per_cycle" range:"1..4096"`
	MSHRs         int     `toml:"mshrs" range:"1..1024"` // lines in flight
}

// Bytes is the capacity.
func (c Cache) Bytes() int { return int(c.KiB * 1024) }

// Interconnect is the fabric between the devices and DRAM; each device has its
// own port.
type Interconnect struct {
	MHz           float64 `toml:"mhz" range:"10..6000"`
	BytesPerCycle int     `toml:"bytes_per_cycle" range:"1..4096"`
	LatencyCycles int     `toml:"latency_cycles" range:"0..10000"` // one way
	Outstanding   int     `toml:"outstanding" range:"0..4096"`     // per port, 0 = no limit
}

// TFLite and ONNXRuntime are the libraries of a CPU.
const (
	TFLite      = "tflite"
	ONNXRuntime = "onnxruntime"
)

// CPU is the reference: the timing of a cluster set, not an instruction set.
type CPU struct {
	Name     string    `toml:"name"`
	Clusters []Cluster `toml:"cluster" len:"1..8"`
	// Affinity names the clusters that the threads of an inference run on, the first one's cores first; the default is
	// all, as they are listed.
	Affinity []string `toml:"affinity" soc:"optional"`
	// Threads of an inference.
	Threads int `toml:"threads" range:"1..64"`
	// ThreadDispatchCycles of the first thread are spent on each other one of an operation.
	ThreadDispatchCycles float64 `toml:"thread_dispatch_cycles" range:"0..1e6" soc:"optional"`
	// SpinUs is how long a thread that waits for another spins before it sleeps in the first idle state of [host],
	// SpinShare the power of its core meanwhile as a share of busy power.
	SpinUs    float64 `toml:"spin_us" range:"0..1e6" soc:"optional"`
	SpinShare float64 `toml:"spin_share" range:"0..1" soc:"optional"`
	L3        Cache   `toml:"l3"`
	// Library is the runtime whose way to compute an operation counts: "tflite" (the default) or "onnxruntime".
	Library string `toml:"library" soc:"optional"`
	// Kernels is the efficiency of a library's kernels on each cluster without a section of its own.
	Kernels CPUKernels `toml:"kernels"`
	// DRAMGBPerS is the best memory bandwidth of one core.
	DRAMGBPerS float64 `toml:"dram_gb_per_s" range:"0.1..1000"`
	Energy     Energy  `toml:"energy"` // cpuEvents
}

// Cluster is a group of equal cores on one clock.
type Cluster struct {
	Name  string `toml:"name"`
	Cores int    `toml:"cores" range:"1..64"`
	Clock Clock  `toml:"clock"`
	L1D   Cache  `toml:"l1d"`
	L2    Cache  `toml:"l2"`
	// Peak multiply-accumulates per cycle of one core.
	MACF32 float64 `toml:"mac_f32_per_cycle" range:"0.1..1024"`
	MACF16 float64 `toml:"mac_f16_per_cycle" range:"0.1..1024"`
	MACI8  float64 `toml:"mac_i8_per_cycle" range:"0.1..1024"`
	// SIMDBytesPerCycle is the L1 bandwidth of elementwise work, loads and stores.
	SIMDBytesPerCycle float64 `toml:"simd_bytes_per_cycle" range:"1..1024"`
	// Power of a busy core = PowerUW * f[MHz] * V^2 (uW/MHz/V^2).
	PowerUW float64     `toml:"power_uw_per_mhz_v2" range:"1..10000"`
	Kernels *CPUKernels `toml:"kernels" soc:"optional"`
}

// CPUKernels is the efficiency of a library's kernels on a core: shares of the peak of
// multiply-accumulates by operation and type, and rates of other work.
type CPUKernels struct {
	ConvF32      float64 `toml:"conv_f32" range:"0.001..1"` // CONV_2D, TRANSPOSE_CONV_2D
	ConvF16      float64 `toml:"conv_f16" range:"0.001..1"`
	ConvI8       float64 `toml:"conv_i8" range:"0.001..1"`
	DepthwiseF32 float64 `toml:"depthwise_f32" range:"0.001..1"`
	DepthwiseF16 float64 `toml:"depthwise_f16" range:"0.001..1"`
	DepthwiseI8  float64 `toml:"depthwise_i8" range:"0.001..1"`
	DenseF32     float64 `toml:"dense_f32" range:"0.001..1"` // matrix products: FULLY_CONNECTED, recurrent cells
	DenseF16     float64 `toml:"dense_f16" range:"0.001..1"`
	DenseI8      float64 `toml:"dense_i8" range:"0.001..1"`
	Elementwise  float64 `toml:"elementwise" range:"0.001..1"` // of SIMDBytesPerCycle
	// GroupedCycles are spent on a multiply-accumulate of GROUPED_CONV_2D, in loops without vectors.
	GroupedCycles float64 `toml:"grouped_cycles" range:"0.01..1000"`
	// PatchBytesPerCycle are laid out of the windows of a convolution.
	PatchBytesPerCycle float64 `toml:"patch_bytes_per_cycle" range:"0.01..1024"`
	// ScalarCycles are spent on an element that is handled by itself.
	ScalarCycles float64 `toml:"scalar_cycles" range:"0.1..1000"`
	// OperationCycles are spent between operations, in the interpreter.
	OperationCycles float64 `toml:"operation_cycles" range:"0..1e8"`
}

// GPU runs RDNA2 code. The hit_cycles of its caches count from the issue of the
// instruction to the data in the register, the levels above included.
type GPU struct {
	Name             string `toml:"name"`
	Clock            Clock  `toml:"clock"`
	Clusters         int    `toml:"clusters" range:"1..64"`              // WGPs, or SPs of an Adreno
	CUsPerCluster    int    `toml:"cus_per_cluster" range:"1..16"`       //
	SIMDsPerCU       int    `toml:"simds_per_cu" range:"1..16"`          //
	Lanes            int    `toml:"lanes" range:"32..64"`                // lanes one SIMD executes per cycle
	WavesPerSIMD     int    `toml:"waves_per_simd" range:"1..32"`        //
	PartitionSIMDs   int    `toml:"partition_simds" range:"0..16"`       // share a scheduler in the hardware; 0: all of a CU
	PartitionLanes   int    `toml:"partition_lanes" range:"0..4096"`     // of a wave there: waves that make one stay in a partition
	VGPRRows         int    `toml:"vgpr_rows" range:"256..4096"`         // register file of one SIMD, rows of 32 lanes x 4 bytes; a wave names 256
	VGPRGranule      int    `toml:"vgpr_granule" range:"1..64"`          // registers of a wave32
	MaxWorkgroup     int    `toml:"max_workgroup" range:"64..4096"`      // lanes
	WorkgroupsMax    int    `toml:"workgroups_max" range:"1..64"`        // resident per CU
	LDSKiB           int    `toml:"lds_kib" range:"1..1024"`             // of one LDS
	LDSBanks         int    `toml:"lds_banks" range:"1..64"`             // 4 bytes each per cycle
	LDSPerCluster    bool   `toml:"lds_per_cluster"`                     // else one per CU
	LDSCycles        int    `toml:"lds_cycles" range:"0..10000"`         // issue to data, no conflict
	LDSBytesPerCycle int    `toml:"lds_bytes_per_cycle" range:"1..4096"` // of one LDS, at most the bandwidth of its banks
	SALUCycles       int    `toml:"salu_cycles" range:"0..1000"`         //
	BranchCycles     int    `toml:"branch_cycles" range:"0..1000"`       // taken branch to the wave's next issue
	BarrierCycles    int    `toml:"barrier_cycles" range:"0..10000"`     // last arrival to next issue
	DispatchCycles   int    `toml:"dispatch_cycles" range:"0..1000000"`
	WaveStartCycles  int    `toml:"wave_start_cycles" range:"0..10000"` // between two wave starts on one CU
	MaxOutstanding   int    `toml:"max_outstanding" range:"1..63"`      // of one wait counter
	ICachePrefetch   int    `toml:"icache_prefetch" range:"0..64"`      // lines fetched ahead of a miss
	AddressLanes     int    `toml:"address_lanes" range:"1..64"`        // lanes of a vector load or store that a CU accepts per cycle
	BroadcastLanes   int    `toml:"broadcast_lanes" range:"1..64"`      // the same of quads of lanes with one address

	Driver GPUDriver `toml:"driver"`
	VALU   VALU      `toml:"valu"`
	L0     Cache     `toml:"l0"`                 // vector data, per CU
	Scalar Cache     `toml:"scalar"`             // constants, per cluster
	ICache Cache     `toml:"icache"`             // per cluster
	GL1    *Cache    `toml:"gl1" soc:"optional"` // shared by all clusters
	L2     Cache     `toml:"l2"`                 //
	// MemoryNs is the latency that the device's path to DRAM adds to a read, both ways.
	MemoryNs float64 `toml:"memory_ns" range:"0..10000"`
	Path     Path    `toml:"path"`
	// SystemCache is the allocation of the engine in the system-level cache.
	SystemCache *Allocation `toml:"system_cache" soc:"optional"`
	Energy      Energy      `toml:"energy"` // gpuEvents
}

// GPUDriver is the choices of the phone's GPU software that are no property of the hardware.
type GPUDriver struct {
	// Texels selects the convolutions of a library whose tensors are textures, for floats.
	Texels bool `toml:"texels"`
	// Overlap launches operations beside each other that need nothing of each other.
	Overlap bool `toml:"overlap"`
}

// VALU is result latency and unit occupancy of a wave32 by instruction class,
// in cycles: [result, issue].
type VALU struct {
	Simple  [2]int `toml:"simple" range:"0..1000"`  // 32-bit floats, moves, logic, shifts
	Int     [2]int `toml:"int" range:"0..1000"`     // 32-bit add, min, max, compare
	Dot     [2]int `toml:"dot" range:"0..1000"`     // dot products of halves or bytes
	IntMul  [2]int `toml:"int_mul" range:"0..1000"` // 32-bit multiply, 64-bit multiply-add
	Int64   [2]int `toml:"int64" range:"0..1000"`   // 64-bit shift and compare
	Special [2]int `toml:"special" range:"0..1000"` // exp log rcp rsq sqrt sin cos
	F64     [2]int `toml:"f64" range:"0..1000"`     //
	F16Rate int    `toml:"f16_rate" range:"1..4"`   // packed halves per lane and cycle
}

// DSP runs Hexagon code.
type DSP struct {
	Name             string `toml:"name"`
	Clock            Clock  `toml:"clock"`
	Version          int    `toml:"version" range:"60..79" soc:"optional"` // of the instruction set, 66 where absent
	Threads          int    `toml:"threads" range:"1..16"`                 // hardware threads
	Contexts         int    `toml:"contexts" range:"1..16"`                // HVX contexts
	IssueInterval    int    `toml:"issue_interval" range:"1..8"`           // core cycles between two packets of a thread
	IssueWidth       int    `toml:"issue_width" range:"1..16"`             // packets per core cycle over all threads
	AloneInterval    int    `toml:"alone_interval" range:"1..8"`           // the same for independent packets, but for two of vectors, where no more than issue_width threads run
	L1I              Cache  `toml:"l1i"`
	L1D              Cache  `toml:"l1d"` // scalar only
	L2               Cache  `toml:"l2"`  // first level of HVX
	VTCMKiB          int    `toml:"vtcm_kib" range:"0..65536"`
	VTCMCycles       int    `toml:"vtcm_cycles" range:"0..1000"`
	VectorLoadCycles int    `toml:"vector_load_cycles" range:"0..1000"`  // load latency the vector pipeline hides
	VectorQueue      int    `toml:"vector_queue" range:"0..63"`          // slots that a thread runs ahead of its vector pipeline
	StoreLoadPackets int    `toml:"store_load_packets" range:"0..1000"`  // from a vector store to a load of the same line without a stall
	ExtractCycles    int    `toml:"extract_cycles" range:"0..64"`        // vextract to its result, on top of a scalar load's
	BranchSlots      int    `toml:"branch_slots" range:"0..100"`         // lost by a jump whose target only its instruction tells
	MispredictSlots  int    `toml:"mispredict_slots" range:"0..100"`     // lost by a jump predicted wrong
	BTBEntries       int    `toml:"btb_entries" range:"1..65536"`        // targets held, a power of two
	JobStartCycles   int    `toml:"job_start_cycles" range:"0..1000000"` // the threads begin their first job
	BarrierCycles    int    `toml:"barrier_cycles" range:"0..1000000"`   // from the end of a job to the start of the next
	DMA              *DMA   `toml:"dma" soc:"optional"`                  // user DMA, absent before V68
	// MemoryNs is the latency that the device's path to DRAM adds to a read, both ways.
	MemoryNs float64 `toml:"memory_ns" range:"0..10000"`
	Path     Path    `toml:"path"`
	// SystemCache is the allocation of the engine in the system-level cache.
	SystemCache *Allocation `toml:"system_cache" soc:"optional"`
	Energy      Energy      `toml:"energy"` // dspEvents
}

// ISAVersion is the version of the instruction set.
func (d *DSP) ISAVersion() int { return cmp.Or(d.Version, 66) }

// DMA is the copy engine of one hardware thread.
type DMA struct {
	BurstBytes  int `toml:"burst_bytes" range:"16..4096"` // a power of two
	Outstanding int `toml:"outstanding" range:"1..256"`   // bursts in flight
	StartCycles int `toml:"start_cycles" range:"0..10000"`
	IssueCycles int `toml:"issue_cycles" range:"0..1000"` // between two bursts
	Queue       int `toml:"queue" range:"1..64"`          // descriptors in work
}

// NPU runs Ethos-U register commands.
type NPU struct {
	Name string `toml:"name"`
	// Product is whose register set and limits command streams use: ethos-u55 or
	// ethos-u65.
	Product string `toml:"product"`
	Clock   Clock  `toml:"clock"`
	Cores   int    `toml:"cores" range:"1..2"` // 2: odd and even output channels
	// Ublock is height, width and depth of the outputs computed together by one
	// core; IFMDepth the input channels each of them sums per cycle.
	Ublock   [3]int `toml:"ublock" range:"1..256"`
	IFMDepth int    `toml:"ifm_depth" range:"1..256"`
	// UblockStream is the output depth by which weight streams are ordered.
	UblockStream int `toml:"ublock_stream" range:"4..8"`
	// PackTaps makes the array weight-stationary: its IFMDepth rows hold any mix of kernel taps and input channels,
	// and each pixel of Ublock has such an array, all with the same weights.
	PackTaps        bool `toml:"pack_taps"`
	WeightsPerCycle int  `toml:"weights_per_cycle" range:"1..65536"`               // decoder, per core
	DepthwiseTaps   int  `toml:"depthwise_taps" range:"1..256" soc:"optional"`     // kernel taps of a channel summed in 4 cycles, without pack_taps
	PipelineDelay   int  `toml:"pipeline_delay" range:"0..1000" soc:"optional"`    // between dependent steps, without pack_taps
	PipelineDelay40 int  `toml:"pipeline_delay_40" range:"0..1000" soc:"optional"` // with 40-bit accumulators
	ShramKiB        int  `toml:"shram_kib" range:"4..16384"`                       // per core
	ShramBankKiB    int  `toml:"shram_bank_kib" range:"1..1024"`
	// OutputCycles per element by kind: 32-bit binary, 32-bit unary, MUL to 32
	// bits, MUL or 40-bit accumulators, simple ADD, ADD and SUB, max pool, other.
	OutputCycles [8]float64 `toml:"output_cycles" range:"0.0001..100"`
	TableCycles  float64    `toml:"table_cycles" range:"0.0001..100"` // per element through a lookup table
	DMAChannels  int        `toml:"dma_channels" range:"1..15"`       // copies outstanding
	// WeightReads is the transactions in flight of the weight stream of one core; 0: no limit but the memory's.
	WeightReads   int `toml:"weight_reads_in_flight" range:"0..1024" soc:"optional"`
	Kernels       int `toml:"kernels" range:"1..3"`             // kernels outstanding
	StartCycles   int `toml:"start_cycles" range:"0..10000000"` // doorbell to first command
	CommandCycles int `toml:"command_cycles" range:"0..1000"`
	DMASetup      int `toml:"dma_setup_cycles" range:"0..100000"`
	// OperationCycles is from the end of an operation's kernels to the first block of the next operation's.
	OperationCycles int      `toml:"operation_cycles" range:"0..10000000" soc:"optional"`
	Memories        []Memory `toml:"memory" len:"1..8"`
	// Regions names the memory behind each of the eight base pointers.
	Regions [8]string `toml:"regions"`
	// KeepsParameters lets constants stay, from one execution to the next of the same program, in memory on
	// chip that its activations leave free.
	KeepsParameters bool `toml:"keeps_parameters" soc:"optional"`
	// AccessPerMAC is SHRAM bytes the array reads per multiply-accumulate.
	AccessPerMAC float64 `toml:"access_per_mac" range:"0..16"`
	// MemoryNs is added to a read of the SoC's DRAM by the device's path, both ways;
	// only where a memory is that DRAM.
	MemoryNs float64 `toml:"memory_ns" range:"0..10000" soc:"optional"`
	Path     Path    `toml:"path"`
	// SystemCache is the allocation of the engine in the system-level cache.
	SystemCache *Allocation `toml:"system_cache" soc:"optional"`
	Energy      Energy      `toml:"energy"` // npuEvents
}

// Memory is one memory behind an NPU's ports. An off-chip memory named "dram" is the [dram] of the SoC: rate, write
// latency and energy are from there and from the interconnect. A memory that only holds region 0 (constants) is not
// written and has no write keys.
type Memory struct {
	Name          string  `toml:"name"`
	KiB           int     `toml:"kib" range:"1..16777216" soc:"optional"` // on chip only
	BytesPerCycle float64 `toml:"bytes_per_cycle" range:"0.01..65536" soc:"optional"`
	BurstBytes    int     `toml:"burst_bytes" range:"8..4096"`
	ReadCycles    int     `toml:"read_cycles" range:"0..100000"`
	WriteCycles   int     `toml:"write_cycles" range:"0..100000" soc:"optional"`
	Reads         int     `toml:"reads_in_flight" range:"0..64" soc:"optional"`  // transactions of 8 beats, 0 = no limit
	Writes        int     `toml:"writes_in_flight" range:"0..64" soc:"optional"` // the same
	Duplex        bool    `toml:"duplex" soc:"optional"`                         // bytes_per_cycle of reads, and as many of writes
	OffChip       bool    `toml:"off_chip"`
	ReadPJ        float64 `toml:"read_pj" range:"0..10000" soc:"optional"` // per byte
	WritePJ       float64 `toml:"write_pj" range:"0..10000" soc:"optional"`
}

// IsDRAM reports whether the memory is the DRAM of the SoC.
func (m *Memory) IsDRAM() bool { return m.OffChip && m.Name == "dram" }
