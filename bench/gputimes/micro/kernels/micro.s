; Microbenchmarks of a GPU, each a loop over a body: arguments are a buffer and the number of iterations,
; which is at least 1. What an iteration takes is the difference between two numbers of them. See micro.cl
; for the same in OpenCL C, package micro for what each is compared with.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.amdhsa_code_object_version 5
	.text

; 32 independent multiply-adds in single precision.
	.globl	mad_f32
	.p2align	8
	.type	mad_f32,@function
mad_f32:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lmad_f32:
	v_fmac_f32 v4, v1, v2
	v_fmac_f32 v5, v1, v2
	v_fmac_f32 v6, v1, v2
	v_fmac_f32 v7, v1, v2
	v_fmac_f32 v8, v1, v2
	v_fmac_f32 v9, v1, v2
	v_fmac_f32 v10, v1, v2
	v_fmac_f32 v11, v1, v2
	v_fmac_f32 v12, v1, v2
	v_fmac_f32 v13, v1, v2
	v_fmac_f32 v14, v1, v2
	v_fmac_f32 v15, v1, v2
	v_fmac_f32 v16, v1, v2
	v_fmac_f32 v17, v1, v2
	v_fmac_f32 v18, v1, v2
	v_fmac_f32 v19, v1, v2
	v_fmac_f32 v20, v1, v2
	v_fmac_f32 v21, v1, v2
	v_fmac_f32 v22, v1, v2
	v_fmac_f32 v23, v1, v2
	v_fmac_f32 v24, v1, v2
	v_fmac_f32 v25, v1, v2
	v_fmac_f32 v26, v1, v2
	v_fmac_f32 v27, v1, v2
	v_fmac_f32 v28, v1, v2
	v_fmac_f32 v29, v1, v2
	v_fmac_f32 v30, v1, v2
	v_fmac_f32 v31, v1, v2
	v_fmac_f32 v32, v1, v2
	v_fmac_f32 v33, v1, v2
	v_fmac_f32 v34, v1, v2
	v_fmac_f32 v35, v1, v2
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lmad_f32
	s_endpgm
.Lmad_f32_end:
	.size	mad_f32, .Lmad_f32_end-mad_f32
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel mad_f32
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 32 independent multiply-adds of two halves.
	.globl	mad_f16
	.p2align	8
	.type	mad_f16,@function
mad_f16:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lmad_f16:
	v_pk_fma_f16 v4, v1, v2, v4
	v_pk_fma_f16 v5, v1, v2, v5
	v_pk_fma_f16 v6, v1, v2, v6
	v_pk_fma_f16 v7, v1, v2, v7
	v_pk_fma_f16 v8, v1, v2, v8
	v_pk_fma_f16 v9, v1, v2, v9
	v_pk_fma_f16 v10, v1, v2, v10
	v_pk_fma_f16 v11, v1, v2, v11
	v_pk_fma_f16 v12, v1, v2, v12
	v_pk_fma_f16 v13, v1, v2, v13
	v_pk_fma_f16 v14, v1, v2, v14
	v_pk_fma_f16 v15, v1, v2, v15
	v_pk_fma_f16 v16, v1, v2, v16
	v_pk_fma_f16 v17, v1, v2, v17
	v_pk_fma_f16 v18, v1, v2, v18
	v_pk_fma_f16 v19, v1, v2, v19
	v_pk_fma_f16 v20, v1, v2, v20
	v_pk_fma_f16 v21, v1, v2, v21
	v_pk_fma_f16 v22, v1, v2, v22
	v_pk_fma_f16 v23, v1, v2, v23
	v_pk_fma_f16 v24, v1, v2, v24
	v_pk_fma_f16 v25, v1, v2, v25
	v_pk_fma_f16 v26, v1, v2, v26
	v_pk_fma_f16 v27, v1, v2, v27
	v_pk_fma_f16 v28, v1, v2, v28
	v_pk_fma_f16 v29, v1, v2, v29
	v_pk_fma_f16 v30, v1, v2, v30
	v_pk_fma_f16 v31, v1, v2, v31
	v_pk_fma_f16 v32, v1, v2, v32
	v_pk_fma_f16 v33, v1, v2, v33
	v_pk_fma_f16 v34, v1, v2, v34
	v_pk_fma_f16 v35, v1, v2, v35
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lmad_f16
	s_endpgm
.Lmad_f16_end:
	.size	mad_f16, .Lmad_f16_end-mad_f16
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel mad_f16
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 32 independent integer additions.
	.globl	add_i32
	.p2align	8
	.type	add_i32,@function
add_i32:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Ladd_i32:
	v_add_nc_u32 v4, v1, v2
	v_add_nc_u32 v5, v1, v2
	v_add_nc_u32 v6, v1, v2
	v_add_nc_u32 v7, v1, v2
	v_add_nc_u32 v8, v1, v2
	v_add_nc_u32 v9, v1, v2
	v_add_nc_u32 v10, v1, v2
	v_add_nc_u32 v11, v1, v2
	v_add_nc_u32 v12, v1, v2
	v_add_nc_u32 v13, v1, v2
	v_add_nc_u32 v14, v1, v2
	v_add_nc_u32 v15, v1, v2
	v_add_nc_u32 v16, v1, v2
	v_add_nc_u32 v17, v1, v2
	v_add_nc_u32 v18, v1, v2
	v_add_nc_u32 v19, v1, v2
	v_add_nc_u32 v20, v1, v2
	v_add_nc_u32 v21, v1, v2
	v_add_nc_u32 v22, v1, v2
	v_add_nc_u32 v23, v1, v2
	v_add_nc_u32 v24, v1, v2
	v_add_nc_u32 v25, v1, v2
	v_add_nc_u32 v26, v1, v2
	v_add_nc_u32 v27, v1, v2
	v_add_nc_u32 v28, v1, v2
	v_add_nc_u32 v29, v1, v2
	v_add_nc_u32 v30, v1, v2
	v_add_nc_u32 v31, v1, v2
	v_add_nc_u32 v32, v1, v2
	v_add_nc_u32 v33, v1, v2
	v_add_nc_u32 v34, v1, v2
	v_add_nc_u32 v35, v1, v2
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Ladd_i32
	s_endpgm
.Ladd_i32_end:
	.size	add_i32, .Ladd_i32_end-add_i32
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel add_i32
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 32 independent integer multiplications.
	.globl	mul_i32
	.p2align	8
	.type	mul_i32,@function
mul_i32:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lmul_i32:
	v_mul_lo_u32 v4, v1, v2
	v_mul_lo_u32 v5, v1, v2
	v_mul_lo_u32 v6, v1, v2
	v_mul_lo_u32 v7, v1, v2
	v_mul_lo_u32 v8, v1, v2
	v_mul_lo_u32 v9, v1, v2
	v_mul_lo_u32 v10, v1, v2
	v_mul_lo_u32 v11, v1, v2
	v_mul_lo_u32 v12, v1, v2
	v_mul_lo_u32 v13, v1, v2
	v_mul_lo_u32 v14, v1, v2
	v_mul_lo_u32 v15, v1, v2
	v_mul_lo_u32 v16, v1, v2
	v_mul_lo_u32 v17, v1, v2
	v_mul_lo_u32 v18, v1, v2
	v_mul_lo_u32 v19, v1, v2
	v_mul_lo_u32 v20, v1, v2
	v_mul_lo_u32 v21, v1, v2
	v_mul_lo_u32 v22, v1, v2
	v_mul_lo_u32 v23, v1, v2
	v_mul_lo_u32 v24, v1, v2
	v_mul_lo_u32 v25, v1, v2
	v_mul_lo_u32 v26, v1, v2
	v_mul_lo_u32 v27, v1, v2
	v_mul_lo_u32 v28, v1, v2
	v_mul_lo_u32 v29, v1, v2
	v_mul_lo_u32 v30, v1, v2
	v_mul_lo_u32 v31, v1, v2
	v_mul_lo_u32 v32, v1, v2
	v_mul_lo_u32 v33, v1, v2
	v_mul_lo_u32 v34, v1, v2
	v_mul_lo_u32 v35, v1, v2
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lmul_i32
	s_endpgm
.Lmul_i32_end:
	.size	mul_i32, .Lmul_i32_end-mul_i32
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel mul_i32
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 32 independent reciprocals.
	.globl	rcp_f32
	.p2align	8
	.type	rcp_f32,@function
rcp_f32:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lrcp_f32:
	v_rcp_f32 v4, v1
	v_rcp_f32 v5, v1
	v_rcp_f32 v6, v1
	v_rcp_f32 v7, v1
	v_rcp_f32 v8, v1
	v_rcp_f32 v9, v1
	v_rcp_f32 v10, v1
	v_rcp_f32 v11, v1
	v_rcp_f32 v12, v1
	v_rcp_f32 v13, v1
	v_rcp_f32 v14, v1
	v_rcp_f32 v15, v1
	v_rcp_f32 v16, v1
	v_rcp_f32 v17, v1
	v_rcp_f32 v18, v1
	v_rcp_f32 v19, v1
	v_rcp_f32 v20, v1
	v_rcp_f32 v21, v1
	v_rcp_f32 v22, v1
	v_rcp_f32 v23, v1
	v_rcp_f32 v24, v1
	v_rcp_f32 v25, v1
	v_rcp_f32 v26, v1
	v_rcp_f32 v27, v1
	v_rcp_f32 v28, v1
	v_rcp_f32 v29, v1
	v_rcp_f32 v30, v1
	v_rcp_f32 v31, v1
	v_rcp_f32 v32, v1
	v_rcp_f32 v33, v1
	v_rcp_f32 v34, v1
	v_rcp_f32 v35, v1
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lrcp_f32
	s_endpgm
.Lrcp_f32_end:
	.size	rcp_f32, .Lrcp_f32_end-rcp_f32
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel rcp_f32
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 32 multiplications that wait for each other.
	.globl	chain_f32
	.p2align	8
	.type	chain_f32,@function
chain_f32:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
.Lchain_f32:
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	v_mul_f32 v1, v1, v1
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lchain_f32
	s_endpgm
.Lchain_f32_end:
	.size	chain_f32, .Lchain_f32_end-chain_f32
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel chain_f32
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 8
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 8 reads of 16 bytes of local memory, lanes beside each other.
	.globl	local_read
	.p2align	8
	.type	local_read,@function
local_read:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_lshlrev_b32 v1, 4, v0
.Llocal:
	ds_read_b128 v[4:7], v1
	ds_read_b128 v[8:11], v1
	ds_read_b128 v[12:15], v1
	ds_read_b128 v[16:19], v1
	ds_read_b128 v[20:23], v1
	ds_read_b128 v[24:27], v1
	ds_read_b128 v[28:31], v1
	ds_read_b128 v[32:35], v1
	s_waitcnt lgkmcnt(0)
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Llocal
	s_endpgm
.Llocal_end:
	.size	local_read, .Llocal_end-local_read
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel local_read
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 16384
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 16 reads of one address by all lanes.
	.globl	broadcast
	.p2align	8
	.type	broadcast,@function
broadcast:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v1, 0
.Lbroadcast:
	global_load_dword v4, v1, s[4:5]
	global_load_dword v5, v1, s[4:5]
	global_load_dword v6, v1, s[4:5]
	global_load_dword v7, v1, s[4:5]
	global_load_dword v8, v1, s[4:5]
	global_load_dword v9, v1, s[4:5]
	global_load_dword v10, v1, s[4:5]
	global_load_dword v11, v1, s[4:5]
	global_load_dword v12, v1, s[4:5]
	global_load_dword v13, v1, s[4:5]
	global_load_dword v14, v1, s[4:5]
	global_load_dword v15, v1, s[4:5]
	global_load_dword v16, v1, s[4:5]
	global_load_dword v17, v1, s[4:5]
	global_load_dword v18, v1, s[4:5]
	global_load_dword v19, v1, s[4:5]
	s_waitcnt vmcnt(0)
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lbroadcast
	s_endpgm
.Lbroadcast_end:
	.size	broadcast, .Lbroadcast_end-broadcast
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel broadcast
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 8 reads of 16 bytes, lanes beside each other, of 32 KB that all groups share.
	.globl	read_l2
	.p2align	8
	.type	read_l2,@function
read_l2:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dword s6, s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_lshlrev_b32 v1, 4, v0
	v_add_nc_u32 v2, 0x1000, v1
	s_add_u32 s8, s4, 0x2000
	s_addc_u32 s9, s5, 0
	s_add_u32 s10, s4, 0x4000
	s_addc_u32 s11, s5, 0
	s_add_u32 s12, s4, 0x6000
	s_addc_u32 s13, s5, 0
.Lread_l2:
	global_load_dwordx4 v[4:7], v1, s[4:5]
	global_load_dwordx4 v[8:11], v2, s[4:5]
	global_load_dwordx4 v[12:15], v1, s[8:9]
	global_load_dwordx4 v[16:19], v2, s[8:9]
	global_load_dwordx4 v[20:23], v1, s[10:11]
	global_load_dwordx4 v[24:27], v2, s[10:11]
	global_load_dwordx4 v[28:31], v1, s[12:13]
	global_load_dwordx4 v[32:35], v2, s[12:13]
	s_waitcnt vmcnt(0)
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lread_l2
	s_endpgm
.Lread_l2_end:
	.size	read_l2, .Lread_l2_end-read_l2
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel read_l2
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text

; 8 reads of 16 bytes: a work-group reads 1 MiB from start to end, of a range that all read again; the range is a
; power of two, less 1.
	.globl	read_range
	.p2align	8
	.type	read_range,@function
read_range:
	s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_load_dwordx2 s[6:7], s[0:1], 0x8
	s_waitcnt lgkmcnt(0)
	v_lshlrev_b32 v1, 4, v0
	s_mov_b32 s8, s7
	s_lshl_b32 s7, s2, 20
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	s_movk_i32 s7, 0x4000
.Lread_range:
	global_load_dwordx4 v[4:7], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[8:11], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[12:15], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[16:19], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[20:23], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[24:27], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[28:31], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	global_load_dwordx4 v[32:35], v1, s[4:5]
	v_add_nc_u32 v1, s7, v1
	v_and_b32 v1, s8, v1
	s_waitcnt vmcnt(0)
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .Lread_range
	s_endpgm
.Lread_range_end:
	.size	read_range, .Lread_range_end-read_range
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel read_range
		.amdhsa_workgroup_processor_mode 0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr 40
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.text
