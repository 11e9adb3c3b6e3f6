package devices_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Memory of the kernels.
const (
	gpuData      = 1 << 24
	gpuDataBytes = 8 << 20
)

// gpuProgram is a kernel on a grid of one dimension.
type gpuProgram struct {
	name            string
	grid, workgroup int
	vgprs, lds      int
	wave            int // 0: 32
	text            string
	// args are two words behind the address of the data: s6, s7 once loaded.
	args [2]uint32
}

// gpuLoop reads lines twice: s6 of them, s7 bytes apart.
const gpuLoop = `
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	v_lshlrev_b32 v3, 2, v0
	s_mov_b32 s9, 2
	s_waitcnt lgkmcnt(0)
pass:
	s_mov_b32 s8, s6
	s_mov_b32 s10, s4
	s_mov_b32 s11, s5
	v_mov_b32 v1, v3
line:
	%s
	v_add_nc_u32 v1, s7, v1
	s_add_u32 s10, s10, s7
	s_addc_u32 s11, s11, 0
	s_sub_u32 s8, s8, 1
	s_cmp_lg_u32 s8, 0
	s_cbranch_scc1 line
	s_sub_u32 s9, s9, 1
	s_cmp_lg_u32 s9, 0
	s_cbranch_scc1 pass
	s_waitcnt vmcnt(0)
	s_endpgm`

// gpuPrograms make the numbers of a GPU visible. Sizes come from the preset, so
// that every kernel just fits what it is about.
func gpuPrograms(c *soc.Config) []gpuProgram {
	g := c.GPU
	const load, waited = "global_load_dword v2, v1, s[4:5]", "global_load_dword v2, v1, s[4:5]\n\ts_waitcnt vmcnt(0)"
	const scalar = "s_load_dword s12, s[10:11], 0x0\n\ts_waitcnt lgkmcnt(0)"
	list := []gpuProgram{
		{name: "arithmetic", grid: 16 << 10, workgroup: g.MaxWorkgroup, vgprs: 16, lds: 16 << 10, text: `
	v_lshlrev_b32 v1, 5, v0
	v_and_b32 v1, 0xfff, v1
	ds_write_b32 v1, v0
	s_waitcnt lgkmcnt(0)
	s_barrier
	ds_read_b32 v2, v1
	s_waitcnt lgkmcnt(0)
	v_mul_lo_u32 v3, v2, v0
	v_mul_lo_u32 v3, v3, v0
	v_lshlrev_b64 v[4:5], v3, v[2:3]
	v_lshlrev_b64 v[4:5], v3, v[4:5]
	v_fma_f64 v[6:7], v[4:5], v[4:5], v[4:5]
	v_fma_f64 v[6:7], v[6:7], v[4:5], v[4:5]
	v_rcp_f32 v8, v3
	v_rcp_f32 v8, v8
	v_pk_fma_f16 v9, v8, v8, v8
	v_pk_fma_f16 v9, v9, v8, v8
	v_add_f32 v10, v8, v8
	v_fma_f32 v10, v10, v8, v8
	v_dot4_i32_i8 v11, v10, v9, v9
	v_add_nc_u32 v11, v11, v11
	v_mov_b32 v12, v11
	s_add_u32 s4, s4, s4
	s_add_u32 s4, s4, s4
	s_branch end
end:
	s_endpgm`},
		{name: "occupancy", grid: 16 << 10, workgroup: 64, vgprs: 8, text: "\tv_rcp_f32 v2, v0\n" + strings.Repeat("\tv_rcp_f32 v2, v2\n", 20) + "\ts_endpgm"},
		{name: "registers", grid: 8 << 10, workgroup: 32, vgprs: 60, text: "\tv_rcp_f32 v2, v0\n" + strings.Repeat("\tv_rcp_f32 v2, v2\n", 20) + "\ts_endpgm"},
		{name: "more registers", grid: 16 << 10, workgroup: 64, vgprs: 100, args: [2]uint32{4, 4096}, text: fmt.Sprintf(gpuLoop, waited)},
		{name: "wave of 64", grid: 128, workgroup: 64, vgprs: 8, wave: 64, text: "\tv_add_f32 v2, v0, v0\n\tv_add_f32 v3, v0, v0\n\ts_endpgm"},
		{name: "LDS", grid: 8 << 10, workgroup: 64, vgprs: 8, lds: g.LDSKiB << 8, text: "\tv_rcp_f32 v2, v0\n" + strings.Repeat("\tv_rcp_f32 v2, v2\n", 20) + "\ts_endpgm"},
		{name: "LDS rate", grid: 4 << 10, workgroup: 64, vgprs: 8, lds: 4 << 10, text: "\tv_lshlrev_b32 v1, 2, v0\n" + strings.Repeat("\tds_read_b32 v2, v1\n", 20) + "\ts_waitcnt lgkmcnt(0)\n\ts_endpgm"},
		{name: "outstanding", grid: 32, workgroup: 32, vgprs: 8, args: [2]uint32{100, 128}, text: fmt.Sprintf(gpuLoop, load)},
		{name: "misses", grid: 8 << 10, workgroup: 256, vgprs: 8, args: [2]uint32{8, 0x1080}, text: fmt.Sprintf(gpuLoop, load)},
		{name: "rows", grid: 2 << 10, workgroup: 128, vgprs: 8, args: [2]uint32{8, 128}, text: fmt.Sprintf(gpuLoop, load)},
		{name: "scalar misses", grid: 2 << 10, workgroup: 32, vgprs: 8, args: [2]uint32{40, 64},
			text: fmt.Sprintf(gpuLoop, "s_load_dword s12, s[10:11], 0x0\n\ts_load_dwordx16 s[16:31], s[10:11], 0x1000\n\ts_load_dwordx16 s[32:47], s[10:11], 0x2000\n\ts_waitcnt lgkmcnt(0)")},
		{name: "code", grid: 4 << 10, workgroup: 64, vgprs: 8, text: strings.Repeat("\ts_nop 0\n", 200) + "\ts_endpgm"},
		{name: "code size", grid: 32, workgroup: 32, vgprs: 8, args: [2]uint32{1, 0}, text: fmt.Sprintf(gpuLoop, strings.Repeat("s_nop 0\n", g.ICache.Bytes()/4-200))},
	}
	blocks := ""
	for i := range g.ICache.Ways {
		blocks += fmt.Sprintf("\ts_branch block%d\n\t.skip %d\nblock%d:\n", i, 2*g.ICache.Bytes()/g.ICache.Ways-4, i)
	}
	list = append(list, gpuProgram{name: "code set", grid: 32, workgroup: 32, vgprs: 8, args: [2]uint32{1, 0}, text: fmt.Sprintf(gpuLoop, blocks)})
	sets := func(name, access string, x *soc.Cache) {
		if x == nil {
			return
		}
		list = append(list,
			gpuProgram{name: name + " set", grid: 1, workgroup: 1, vgprs: 8, args: [2]uint32{uint32(x.Ways), uint32(2 * x.Bytes() / x.Ways)}, text: fmt.Sprintf(gpuLoop, access)},
			gpuProgram{name: name + " size", grid: 1, workgroup: 1, vgprs: 8, args: [2]uint32{uint32(x.Bytes() / x.LineBytes), uint32(x.LineBytes)}, text: fmt.Sprintf(gpuLoop, access)})
	}
	sets("scalar", scalar, &g.Scalar)
	sets("l0", waited, &g.L0)
	sets("gl1", waited, g.GL1)
	sets("l2", waited, &g.L2)
	// Every level in front keeps fewer of these lines than L2: they share its sets.
	half := g.L2.Bytes() / g.L2.Ways / 2
	list = append(list, gpuProgram{name: "two L2 sets", grid: 1, workgroup: 1, vgprs: 8, args: [2]uint32{uint32(g.L2.Ways), uint32(4 * half)},
		text: fmt.Sprintf(gpuLoop, fmt.Sprintf("%s\n\tv_add_nc_u32 v4, %#x, v1\n\tglobal_load_dword v5, v4, s[4:5]\n\ts_waitcnt vmcnt(0)", waited, half))})
	return list
}

// gpuAssembled keeps what has been assembled, by text.
var gpuAssembled = map[string][]byte{}

// assembleGPU assembles lines; "name:" is a label for branches.
func assembleGPU(text string, wave64 bool) ([]byte, error) {
	if code, ok := gpuAssembled[text]; ok {
		return code, nil
	}
	labels := map[string]int{}
	var code []byte
	for range 2 { // the second time with the labels known
		code = nil
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if label, ok := strings.CutSuffix(line, ":"); ok {
				labels[label] = len(code)
				continue
			}
			if line == "" {
				continue
			}
			op, label, _ := strings.Cut(line, " ")
			if op == ".skip" {
				n, err := strconv.Atoi(label)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", line, err)
				}
				code = append(code, make([]byte, n)...) // never executed
				continue
			}
			branch := strings.HasPrefix(op, "s_branch") || strings.HasPrefix(op, "s_cbranch")
			if branch {
				line = op + " 0"
			}
			in, err := rdna2.Assemble(line, wave64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
			if branch {
				in.Simm16 = uint16(int16((labels[label] - len(code) - 4) / 4))
			}
			if code, err = in.Encode(code); err != nil {
				return nil, fmt.Errorf("%s: %w", line, err)
			}
		}
	}
	gpuAssembled[text] = code
	return code, nil
}

// run adds the report of the kernel, as "nnsoc gpu exec" gives it, to h.
func (p *gpuProgram) run(h io.Writer, c *soc.Config, pref hal.Preference) error {
	s, err := gpu.FromSoC(c, sim.Preference(pref))
	if err != nil {
		return err
	}
	dram, _, err := c.NewPath("gpu", c.GPU.MemoryNs)
	if err != nil {
		return err
	}
	core, err := gpu.New(s)
	if err != nil {
		return err
	}
	code, err := assembleGPU(p.text, p.wave == 64)
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	space := &mem.Space{}
	if err := space.Map(mem.Segment{Name: "data", Base: gpuData, Data: make([]byte, gpuDataBytes)}); err != nil {
		return err
	}
	args := binary.LittleEndian.AppendUint64(nil, gpuData)
	args = binary.LittleEndian.AppendUint32(args, p.args[0])
	args = binary.LittleEndian.AppendUint32(args, p.args[1])
	k := &gpu.Kernel{Name: p.name, Code: code, WaveSize: max(32, p.wave), VGPRs: p.vgprs, LDSBytes: p.lds}
	r, err := core.Run(space, []gpu.Dispatch{{Kernel: k, Kernarg: args, Grid: [3]int{p.grid}, Workgroup: [3]int{p.workgroup}}}, gpu.Options{Memory: dram, MaxInstructions: 1 << 22})
	if err != nil {
		return refusal{fmt.Errorf("%s: %w", p.name, err)}
	}
	fmt.Fprintf(h, "%+v", r)
	return nil
}
