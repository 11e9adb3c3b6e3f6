package asm

import (
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// kernel is an .amdhsa_kernel that is open.
type kernel struct {
	name  string
	d     rdna2.Descriptor
	users int // .amdhsa_user_sgpr_count, -1 when not specified
}

// newKernel has LLVM's defaults for gfx1030 in wave32.
func newKernel(name string) *kernel {
	return &kernel{name: name, users: -1, d: rdna2.Descriptor{
		Denorm16: rdna2.DenormKeep, DX10Clamp: true, IEEE: true, WGPMode: true, Ordered: true,
		WorkgroupID: [3]bool{true, false, false}, Properties: rdna2.PropWave32, VGPRs: 1,
	}}
}

// flags of a descriptor by directive, without .amdhsa_.
var kernelFlags = map[string]func(d *rdna2.Descriptor, on bool){
	"dx10_clamp":               func(d *rdna2.Descriptor, on bool) { d.DX10Clamp = on },
	"ieee_mode":                func(d *rdna2.Descriptor, on bool) { d.IEEE = on },
	"fp16_overflow":            func(d *rdna2.Descriptor, on bool) { d.FP16Ovfl = on },
	"workgroup_processor_mode": func(d *rdna2.Descriptor, on bool) { d.WGPMode = on },
	"memory_ordered":           func(d *rdna2.Descriptor, on bool) { d.Ordered = on },
	"forward_progress":         func(d *rdna2.Descriptor, on bool) { d.Progress = on },
	"enable_private_segment":   func(d *rdna2.Descriptor, on bool) { d.Scratch = on },
	"system_sgpr_private_segment_wavefront_offset": func(d *rdna2.Descriptor, on bool) { d.Scratch = on },
	"system_sgpr_workgroup_id_x":                   func(d *rdna2.Descriptor, on bool) { d.WorkgroupID[0] = on },
	"system_sgpr_workgroup_id_y":                   func(d *rdna2.Descriptor, on bool) { d.WorkgroupID[1] = on },
	"system_sgpr_workgroup_id_z":                   func(d *rdna2.Descriptor, on bool) { d.WorkgroupID[2] = on },
	"system_sgpr_workgroup_info":                   func(d *rdna2.Descriptor, on bool) { d.Info = on },
}

var kernelProperties = map[string]rdna2.Properties{
	"user_sgpr_private_segment_buffer": rdna2.PropSegmentBuffer, "user_sgpr_dispatch_ptr": rdna2.PropDispatchPtr, "user_sgpr_queue_ptr": rdna2.PropQueuePtr,
	"user_sgpr_kernarg_segment_ptr": rdna2.PropKernargPtr, "user_sgpr_dispatch_id": rdna2.PropDispatchID, "user_sgpr_flat_scratch_init": rdna2.PropFlatScratch,
	"user_sgpr_private_segment_size": rdna2.PropSegmentSize, "wavefront_size32": rdna2.PropWave32, "uses_dynamic_stack": rdna2.PropDynamicStack,
}

var kernelModes = map[string]func(d *rdna2.Descriptor) *uint8{
	"float_round_mode_32": func(d *rdna2.Descriptor) *uint8 { return &d.Round32 }, "float_round_mode_16_64": func(d *rdna2.Descriptor) *uint8 { return &d.Round16 },
	"float_denorm_mode_32": func(d *rdna2.Descriptor) *uint8 { return &d.Denorm32 }, "float_denorm_mode_16_64": func(d *rdna2.Descriptor) *uint8 { return &d.Denorm16 },
}

var kernelSizes = map[string]func(d *rdna2.Descriptor) *uint32{
	"group_segment_fixed_size": func(d *rdna2.Descriptor) *uint32 { return &d.LDSBytes }, "private_segment_fixed_size": func(d *rdna2.Descriptor) *uint32 { return &d.ScratchBytes },
	"kernarg_size": func(d *rdna2.Descriptor) *uint32 { return &d.KernargBytes },
}

// kernelDirective handles one line of an .amdhsa_kernel.
func (a *assembler) kernelDirective(word, rest string) {
	k := a.kernel
	if word == ".end_amdhsa_kernel" {
		a.kernel = nil
		a.descriptor(k)
		return
	}
	name, ok := strings.CutPrefix(word, ".amdhsa_")
	if !ok {
		fail("%s inside .amdhsa_kernel %s", word, k.name)
	}
	n := a.known(rest)
	limit := int64(1)
	set := func(int64) {}
	switch {
	case kernelFlags[name] != nil:
		set = func(n int64) { kernelFlags[name](&k.d, n != 0) }
	case kernelProperties[name] != 0:
		set = func(n int64) {
			k.d.Properties &^= kernelProperties[name]
			if n != 0 {
				k.d.Properties |= kernelProperties[name]
			}
		}
	case kernelModes[name] != nil:
		limit = 3
		set = func(n int64) { *kernelModes[name](&k.d) = uint8(n) }
	case kernelSizes[name] != nil:
		limit = 1<<32 - 1
		set = func(n int64) { *kernelSizes[name](&k.d) = uint32(n) }
	case name == "system_vgpr_workitem_id":
		limit = 2
		set = func(n int64) { k.d.WorkItemIDs = int(n) }
	case name == "user_sgpr_count":
		limit = 31
		set = func(n int64) { k.users = int(n) }
	case name == "next_free_vgpr":
		limit = 256
		set = func(n int64) { k.d.VGPRs = max(int(n), 1) }
	case name == "shared_vgpr_count":
		limit = 15
		set = func(n int64) { k.d.SharedVGPRs = int(n) }
	case name == "next_free_sgpr":
		limit = 106 // a wave has all of them
	case name == "reserve_vcc", name == "reserve_flat_scratch", name == "reserve_xnack_mask":
	case strings.HasPrefix(name, "exception_"):
		limit = 0
	default:
		fail("unknown directive %s", word)
	}
	if n < 0 || n > limit {
		fail("%s %d, want 0 to %d", word, n, limit)
	}
	set(n)
}

// descriptor emits the kernel descriptor.
func (a *assembler) descriptor(k *kernel) {
	n := 0
	for i, size := range [...]int{4, 2, 2, 2, 2, 2, 1} {
		if k.d.Properties>>i&1 != 0 {
			n += size
		}
	}
	if k.d.UserSGPRs = n; k.users >= 0 {
		if k.users < n {
			fail("kernel %s: %d user registers, the enabled ones take %d", k.name, k.users, n)
		}
		k.d.UserSGPRs = k.users
	}
	old := a.cur
	defer func() { a.cur = old }()
	a.section(".rodata", sectionKinds[".rodata"])
	s := a.here()
	s.Align = max(s.Align, 64)
	for len(s.Data)%64 != 0 {
		s.Data = append(s.Data, 0)
	}
	at := uint64(len(s.Data))
	b, err := k.d.Append(nil)
	if err != nil {
		fail("kernel %s: %s", k.name, strings.TrimPrefix(err.Error(), "rdna2: "))
	}
	a.label(k.name + ".kd")
	y := &a.unit.Symbols[a.symbol(k.name+".kd")]
	y.Bytes, y.Global = rdna2.DescriptorSize, true
	// The entry is relative to the descriptor, its field is at byte 16.
	a.unit.Relocs = append(a.unit.Relocs, codeobject.Reloc{Section: a.cur, Offset: at + 16, Type: codeobject.RelRel64, Symbol: a.symbol(k.name), Addend: 16})
	a.emit(b...)
}
