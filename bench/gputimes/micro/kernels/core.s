; Microbenchmarks of how a core holds code, constants and waves, in the manner of micro.s; see core.cl for the same in
; OpenCL C. A kernel begins with its buffer in s[4:5] and the number of iterations in s6, and ends with done NAME.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.amdhsa_code_object_version 5

	.macro	kernel name
	.text
	.globl	\name
	.p2align	8
	.type	\name,@function
\name:
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_waitcnt lgkmcnt(0)
	.endm

	.macro	iterate label
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 \label
	s_endpgm
	.endm

	.macro	done name, vgprs=40, lds=0, wgp=0
.L\name\()_end:
	.size	\name, .L\name\()_end-\name
	.section	.rodata,"a",@progbits
	.p2align	6
	.amdhsa_kernel \name
		.amdhsa_workgroup_processor_mode \wgp
		.amdhsa_group_segment_fixed_size \lds
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_kernarg_size 16
		.amdhsa_next_free_vgpr \vgprs
		.amdhsa_next_free_sgpr 16
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
	.endm

; Straight code, 8 bytes per instruction: 64 of 8 that need nothing of each other are 4 KiB.
	.macro	straight
	.rept	64
	.irp	r, 8, 9, 10, 11, 12, 13, 14, 15
	v_fmaak_f32 v\r, v\r, v1, 0x3f9d70a4
	.endr
	.endr
	.endm

	kernel	code_16k
.Lcode_16k:
	.rept	4
	straight
	.endr
	iterate	.Lcode_16k
	done	code_16k

	kernel	code_64k
.Lcode_64k:
	.rept	16
	straight
	.endr
	iterate	.Lcode_64k
	done	code_64k

; Jumps to the place before, so that what is fetched ahead has been there: 64 KiB in steps of as many bytes. OpenCL C has none.
	.macro	backwards name, bytes, count
	kernel	\name
	s_branch .L\name\()_last
	.p2align	8
.L\name\()_first:
	s_sub_u32 s6, s6, 1
	s_cmp_lg_u32 s6, 0
	s_cbranch_scc1 .L\name\()_last
	s_endpgm
	.fill	\bytes/4-4, 4, 0xbf800000
	.rept	\count-2
	s_branch -\bytes/4-1
	.fill	\bytes/4-1, 4, 0xbf800000
	.endr
.L\name\()_last:
	s_branch -\bytes/4-1
	done	\name
	.endm

	backwards	jumps_32, 32, 2048
	backwards	jumps_64, 64, 1024
	backwards	jumps_256, 256, 256

; 16 reads of a wave that wait for each other in a ring: 1<<(s7&31) bytes apart, of 1<<(s7>>8) bytes.
	kernel	scalar_ring
	s_lshr_b32 s8, s7, 8
	s_lshl_b32 s7, 1, s7
	s_lshl_b32 s8, 1, s8
	s_sub_u32 s8, s8, 1
	s_mov_b32 s9, 0
.Lscalar_ring:
	.rept	16
	s_load_dword s10, s[4:5], s9
	s_add_u32 s9, s9, s7
	s_waitcnt lgkmcnt(0)
	s_add_u32 s9, s9, s10
	s_and_b32 s9, s9, s8
	.endr
	iterate	.Lscalar_ring
	done	scalar_ring

; 32 dependent multiplications of waves that have half of the registers of a SIMD, and of groups that have half of an LDS.
	.macro	chain name, vgprs=40, lds=0
	kernel	\name
.L\name:
	.rept	32
	v_mul_f32 v2, v2, v2
	.endr
	iterate	.L\name
	done	\name, \vgprs, \lds
	.endm

	chain	chain_registers, 192
	chain	chain_local, 40, 16384

; 16 reads of one lane of each wave that wait for each other.
	kernel	vector_chain
	v_and_b32 v1, 31, v0
	v_cmpx_eq_u32 v1, 0
.Lvector_chain:
	.rept	16
	global_load_dword v1, v1, s[4:5]
	s_waitcnt vmcnt(0)
	.endr
	iterate	.Lvector_chain
	done	vector_chain

; mad_f32 of micro.s in WGP mode: the waves of a group are in all compute units of a cluster.
	kernel	mad_wgp
.Lmad_wgp:
	.irp	r, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35
	v_fmac_f32 v\r, v1, v2
	.endr
	iterate	.Lmad_wgp
	done	mad_wgp, 40, 0, 1
