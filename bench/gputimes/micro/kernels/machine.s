; Microbenchmarks of a GPU of which nobody has published figures, in the manner of micro.s; see machine.cl for the same in
; OpenCL C.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.amdhsa_code_object_version 5
	.text

; 8 reads of 4 bytes of local memory, lanes 128 bytes apart: one bank of 32.
	.globl	local_stride
	.p2align	8
	.type	local_stride,@function
local_stride:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_and_b32 v1, 31, v0
	v_lshlrev_b32 v1, 7, v1
.Llocal_stride:
	ds_read_b32 v4, v1
	ds_read_b32 v5, v1
	ds_read_b32 v6, v1
	ds_read_b32 v7, v1
	ds_read_b32 v8, v1
	ds_read_b32 v9, v1
	ds_read_b32 v10, v1
	ds_read_b32 v11, v1
	s_waitcnt lgkmcnt(0)
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Llocal_stride
	s_endpgm
.Llocal_stride_end:
	.size	local_stride, .Llocal_stride_end-local_stride
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel local_stride
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 4096
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 16 atomic additions of all lanes to one address.
	.globl	atomics
	.p2align	8
	.type	atomics,@function
atomics:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v1, 0
	v_mov_b32 v2, 0
.Latomics:
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	global_atomic_add v1, v2, s[4:5]
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Latomics
	s_endpgm
.Latomics_end:
	.size	atomics, .Latomics_end-atomics
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel atomics
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 16 barriers.
	.globl	barriers
	.p2align	8
	.type	barriers,@function
barriers:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lbarriers:
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_barrier
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lbarriers
	s_endpgm
.Lbarriers_end:
	.size	barriers, .Lbarriers_end-barriers
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel barriers
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
