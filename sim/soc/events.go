package soc

// The events that the energy tables of each section must name, all of them
// and no other. An energy is pJ at the section's v_ref.
var (
	dramEvents = []string{
		"dram_activate", "dram_read_burst", "dram_write_burst", "dram_refresh",
	}
	systemCacheEvents = []string{
		"byte", // read from or written to the arrays, tags included
	}
	cpuEvents = []string{
		"cache_byte", // L2 and L3 traffic
	}
	gpuEvents = []string{
		"instruction", // fetch, decode, schedule and operand routing of one wave instruction
		// one active lane of an instruction, register file included
		"lane_move", "lane_int", "lane_int_mul", "lane_int64", "lane_f32", "lane_fma32", "lane_f16",
		"lane_dot", "lane_special", "lane_f64", "lane_vmem", "lane_lds",
		"lds_byte", "l0_byte", "l2_byte", "scalar_byte",
	}
	gl1Event  = "gl1_byte" // of a GPU with [gpu.gl1] only
	dspEvents = []string{
		"packet",                                   // fetch, decode, issue
		"scalar",                                   // one scalar instruction
		"vector_alu", "vector_multiply", "permute", // one 128-byte operation
		"vector_load", "vector_store", // register file side
		"l1", "l2", "vtcm", // one access: scalar word, line, vector
	}
	npuEvents = []string{
		"mac",         // one 8-bit multiply-accumulate
		"output",      // one element through the output unit
		"elementwise", // one element of an elementwise operation, on top
		"shram_byte",
		"weight_byte", // one byte of encoded weights through the decoder
		"command",
	}
)
