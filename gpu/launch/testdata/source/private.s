; Private memory in the three ways that compilers reach it, a call, relative
; moves, parts of registers and a table: out[i] holds the sum of what each way
; reads back.
	.set	stack, 32		; bytes per lane of the kernel's frame
	.set	wave_shift, 5
	.text
	.globl	private
	.p2align	8
	.type	private,@function
private:
	s_mov_b32 s32, stack << wave_shift
	s_add_u32 s0, s0, s11			; the wave's scratch
	s_addc_u32 s1, s1, 0
	s_add_u32 s8, s8, s11
	s_addc_u32 s9, s9, 0
	s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s8
	s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s9
	s_load_dwordx2 s[12:13], s[6:7], null
	; Written through the buffer, read through a generic pointer.
	v_add_nc_u32_e32 v1, 100, v0
	buffer_store_dword v1, off, s[0:3], 0 offset:4
	s_mov_b64 s[14:15], src_private_base
	v_mov_b32_e32 v2, 4
	v_mov_b32_e32 v3, s15
	s_waitcnt vmcnt(0)
	s_waitcnt_vscnt null, 0x0
	flat_load_dword v4, v[2:3]
	s_waitcnt vmcnt(0) lgkmcnt(0)
	; Bytes at the lane's own offset.
	v_and_b32_e32 v5, 7, v0
	buffer_store_byte v0, v5, s[0:3], 0 offen offset:8
	s_waitcnt_vscnt null, 0x0
	buffer_load_ubyte v6, v5, s[0:3], 0 offen offset:8
	; LDS through a generic pointer.
	s_mov_b64 s[14:15], src_shared_base
	v_lshlrev_b32_e32 v2, 2, v0
	v_mov_b32_e32 v3, s15
	flat_store_dword v[2:3], v1
	s_waitcnt vmcnt(0) lgkmcnt(0)
	s_waitcnt_vscnt null, 0x0
	ds_read_b32 v7, v2
	; v[8 + 2] = v0 by its number in M0.
	s_mov_b32 m0, 2
	v_movreld_b32_e32 v8, v0
	v_movrels_b32_e32 v11, v8
	; The second byte of v1 and the sign-extended low byte of it.
	v_mov_b32_e32 v1, 0x1280
	v_add_nc_u32_sdwa v12, v1, sext(v1) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:BYTE_0
	s_waitcnt lgkmcnt(0)
	; double(v4) + a table word, in a function that keeps v4 on its stack.
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, double@rel32@lo+4
	s_addc_u32 s5, s5, double@rel32@hi+12
	s_swappc_b64 s[30:31], s[4:5]
	s_waitcnt vmcnt(0)
	v_add3_u32 v4, v4, v6, v7
	v_add3_u32 v4, v4, v11, v12
	global_store_dword v2, v4, s[12:13]
	s_endpgm

	.p2align	2
	.type	double,@function
double:
	buffer_store_dword v4, off, s[0:3], s32 offset:4
	s_getpc_b64 s[4:5]
	s_add_u32 s4, s4, table@rel32@lo+4
	s_addc_u32 s5, s5, table@rel32@hi+12
	s_load_dword s4, s[4:5], 0x4
	s_waitcnt_vscnt null, 0x0
	buffer_load_dword v13, off, s[0:3], s32 offset:4
	s_waitcnt vmcnt(0) lgkmcnt(0)
	v_add3_u32 v4, v4, v13, s4
	s_setpc_b64 s[30:31]

	.section	.rodata,"a",@progbits
table:
	.long	1, 1000
	.amdhsa_kernel private
		.amdhsa_group_segment_fixed_size 128
		.amdhsa_private_segment_fixed_size 64
		.amdhsa_kernarg_size 8
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 1
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_flat_scratch_init 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_private_segment_wavefront_offset 1
		.amdhsa_next_free_vgpr 16
		.amdhsa_next_free_sgpr 34
		.amdhsa_float_denorm_mode_32 3
	.end_amdhsa_kernel
