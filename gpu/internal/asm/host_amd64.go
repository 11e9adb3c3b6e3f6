//go:build !purego

package asm

//go:generate go run ../asmgen -out zrow_amd64.s -stubs zrow_amd64.go -pkg asm

import "golang.org/x/sys/cpu"

// Spreads are the routines whose first operand points to one scalar.
var Spreads = []Routine{
	{"v_add_nc_u32", rowAddUSAVX512, rowAddUSAVX2},
	{"v_and_b32", rowAndSAVX512, rowAndSAVX2},
	{"v_lshlrev_b32", rowLshlSAVX512, rowLshlSAVX2},
	{"v_add_f32", rowAddFSAVX512, rowAddFSAVX2},
	{"v_mul_f32", rowMulFSAVX512, rowMulFSAVX2},
	{"v_max_f32", rowMaxFSAVX512, rowMaxFSAVX2},
	{"v_fma_f32", rowFmaFSAVX512, rowFmaFSAVX2},
	{"v_fmac_f32", rowFmaFSAVX512, rowFmaFSAVX2},
	{"v_dot4_i32_i8", rowDot4ISAVX512, rowDot4ISAVX2},
	{"v_dot4c_i32_i8", rowDot4ISAVX512, rowDot4ISAVX2},
	{"v_dot2_f32_f16", rowDot2FSAVX512, rowDot2FSAVX2},
	{"v_dot2c_f32_f16", rowDot2FSAVX512, rowDot2FSAVX2},
	{"v_pk_mul_f16", rowPkMulSAVX512, rowPkMulSAVX2},
	{"v_pk_fma_f16", rowPkFmaSAVX512, rowPkFmaSAVX2},
	{"v_pk_fmac_f16", rowPkFmaSAVX512, rowPkFmaSAVX2},
}

// Batches are the routines for operations that follow each other.
var Batches = []BatchRoutine{
	{"v_fma_f32", false, batchFmaFAVX512, batchFmaFAVX2},
	{"v_fma_f32", true, batchFmaFSAVX512, batchFmaFSAVX2},
	{"v_fmac_f32", false, batchFmaFAVX512, batchFmaFAVX2},
	{"v_fmac_f32", true, batchFmaFSAVX512, batchFmaFSAVX2},
	{"v_dot2_f32_f16", false, batchDot2FAVX512, batchDot2FAVX2},
	{"v_dot2_f32_f16", true, batchDot2FSAVX512, batchDot2FSAVX2},
	{"v_dot2c_f32_f16", false, batchDot2FAVX512, batchDot2FAVX2},
	{"v_dot2c_f32_f16", true, batchDot2FSAVX512, batchDot2FSAVX2},
}

// Which instructions the host has.
var HasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
var HasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasF16C

// Rows lists the routines on rows: every routine must agree with the lane function of its mnemonic.
var Rows = []Routine{
	{"v_mov_b32", rowMovAVX512, rowMovAVX2},
	{"v_not_b32", rowNotAVX512, rowNotAVX2},
	{"v_and_b32", rowAndAVX512, rowAndAVX2},
	{"v_or_b32", rowOrAVX512, rowOrAVX2},
	{"v_xor_b32", rowXorAVX512, rowXorAVX2},
	{"v_or3_b32", rowOr3AVX512, rowOr3AVX2},
	{"v_and_or_b32", rowAndOrAVX512, rowAndOrAVX2},
	{"v_lshlrev_b32", rowLshlAVX512, rowLshlAVX2},
	{"v_lshrrev_b32", rowLshrAVX512, rowLshrAVX2},
	{"v_ashrrev_i32", rowAshrAVX512, rowAshrAVX2},
	{"v_lshl_or_b32", rowLshlOrAVX512, rowLshlOrAVX2},
	{"v_lshl_add_u32", rowLshlAddAVX512, rowLshlAddAVX2},
	{"v_add_lshl_u32", rowAddLshlAVX512, rowAddLshlAVX2},
	{"v_add_nc_u32", rowAddUAVX512, rowAddUAVX2},
	{"v_add_nc_i32", rowAddUAVX512, rowAddUAVX2},
	{"v_sub_nc_u32", rowSubUAVX512, rowSubUAVX2},
	{"v_sub_nc_i32", rowSubUAVX512, rowSubUAVX2},
	{"v_subrev_nc_u32", rowSubrevUAVX512, rowSubrevUAVX2},
	{"v_add3_u32", rowAdd3AVX512, rowAdd3AVX2},
	{"v_max_i32", rowMaxIAVX512, rowMaxIAVX2},
	{"v_min_i32", rowMinIAVX512, rowMinIAVX2},
	{"v_max_u32", rowMaxUAVX512, rowMaxUAVX2},
	{"v_min_u32", rowMinUAVX512, rowMinUAVX2},
	{"v_med3_i32", rowMed3IAVX512, rowMed3IAVX2},
	{"v_mul_lo_u32", rowMulLoAVX512, rowMulLoAVX2},
	{"v_mul_u32_u24", rowMulU24AVX512, rowMulU24AVX2},
	{"v_mad_u32_u24", rowMadU24AVX512, rowMadU24AVX2},
	{"v_dot4_i32_i8", rowDot4IAVX512, rowDot4IAVX2},
	{"v_dot4c_i32_i8", rowDot4IAVX512, rowDot4IAVX2},
	{"v_add_f32", rowAddFAVX512, rowAddFAVX2},
	{"v_sub_f32", rowSubFAVX512, rowSubFAVX2},
	{"v_subrev_f32", rowSubrevFAVX512, rowSubrevFAVX2},
	{"v_mul_f32", rowMulFAVX512, rowMulFAVX2},
	{"v_fma_f32", rowFmaFAVX512, rowFmaFAVX2},
	{"v_fmac_f32", rowFmaFAVX512, rowFmaFAVX2},
	{"v_fmamk_f32", rowFmaFAVX512, rowFmaFAVX2},
	{"v_fmaak_f32", rowFmaFAVX512, rowFmaFAVX2},
	{"v_max_f32", rowMaxFAVX512, rowMaxFAVX2},
	{"v_min_f32", rowMinFAVX512, rowMinFAVX2},
	{"v_med3_f32", rowMed3FAVX512, rowMed3FAVX2},
	{"v_cvt_f32_i32", rowCvtFIAVX512, rowCvtFIAVX2},
	{"v_cvt_f32_ubyte0", rowCvtFB0AVX512, rowCvtFB0AVX2},
	{"v_cvt_f32_ubyte1", rowCvtFB1AVX512, rowCvtFB1AVX2},
	{"v_cvt_f32_ubyte2", rowCvtFB2AVX512, rowCvtFB2AVX2},
	{"v_cvt_f32_ubyte3", rowCvtFB3AVX512, rowCvtFB3AVX2},
	{"v_cvt_f32_f16", rowCvtFHAVX512, rowCvtFHAVX2},
	{"v_pk_add_f16", rowPkAddAVX512, rowPkAddAVX2},
	{"v_pk_mul_f16", rowPkMulAVX512, rowPkMulAVX2},
	{"v_pk_max_f16", rowPkMaxAVX512, rowPkMaxAVX2},
	{"v_pk_min_f16", rowPkMinAVX512, rowPkMinAVX2},
	{"v_pk_fma_f16", rowPkFmaAVX512, rowPkFmaAVX2},
	{"v_pk_fmac_f16", rowPkFmaAVX512, rowPkFmaAVX2},
	{"v_dot2_f32_f16", rowDot2FAVX512, rowDot2FAVX2},
	{"v_dot2c_f32_f16", rowDot2FAVX512, rowDot2FAVX2},
}

// rawCompare returns the lanes with a < b, a == b and, of floats, unordered ones.
type rawCompare func(a, b *[64]uint32, n int) (lt, eq, un uint64)

// Compare is a compare of 32-bit operands that selects the relations in
// set, nil when the host has no fast one.
func Compare(typ string, set int) func(a, b *[64]uint32, n int) uint64 {
	var raw rawCompare
	switch {
	case HasAVX512:
		raw = map[string]rawCompare{"i32": cmpIAVX512, "u32": cmpUAVX512, "f32": cmpFAVX512}[typ]
	case HasAVX2:
		raw = map[string]rawCompare{"i32": cmpIAVX2, "u32": cmpUAVX2, "f32": cmpFAVX2}[typ]
	}
	if raw == nil {
		return nil
	}
	pick := func(r int) uint64 {
		if set&r != 0 {
			return ^uint64(0)
		}
		return 0
	}
	less, equal, greater, unordered := pick(Less), pick(Equal), pick(Greater), pick(Unordered)
	return func(a, b *[64]uint32, n int) uint64 {
		lt, eq, un := raw(a, b, n)
		return lt&less | eq&equal | un&unordered | ^(lt|eq|un)&greater
	}
}

// Splat fills the lanes of a row with a scalar.
func Splat(t *[64]uint32, v uint32, n int) {
	switch {
	case HasAVX512:
		splatAVX512(t, v, n)
	case HasAVX2:
		splatAVX2(t, v, n)
	default:
		SplatLanes(t, v, n)
	}
}

// Select copies each of n lanes, 32 or 64, from b where its bit is set, else from a. d may be one of both.
func Select(d, a, b *[64]uint32, from uint64, n int) {
	switch {
	case HasAVX512:
		selectAVX512(d, a, b, from, n)
	case HasAVX2:
		selectAVX2(d, a, b, from, n)
	default:
		SelectLanes(d, a, b, from, n)
	}
}

// Quad is Select from the lanes of a that QuadLanes says.
func Quad(d, a, b *[64]uint32, from uint64, ctrl uint32, n int) {
	switch {
	case HasAVX512:
		quadAVX512(d, a, b, from, ctrl, n)
	case HasAVX2:
		quadAVX2(d, a, b, from, ctrl, n)
	default:
		QuadLanes(d, a, b, from, ctrl, n)
	}
}

// Regular reports whether each of n values, 32 or 64, is step above the one before.
func Regular(a *[64]uint32, step uint32, n int) bool {
	if !HasAVX2 {
		return RegularLanes(a, step, n)
	}
	return regularAVX2(a, step, n)
}

// Deinterleave fills four consecutive rows of n lanes, 32 or 64, with words: four of lane 0, then those of lane 1.
func Deinterleave(d []uint32, b []byte, n int) {
	if !HasAVX2 {
		DeinterleaveLanes(d, b, n)
		return
	}
	_, _ = d[4*n-1], b[16*n-1]
	dealAVX2(&d[0], &b[0], n)
}

// Gather fills consecutive rows of n lanes, 32 or 64, with words: those of lane l begin at b[offsets[l]-less]. No
// offset is below less, and every lane's words are in b.
func Gather(d []uint32, b []byte, offsets *[64]uint32, less uint32, words, n int) {
	_ = d[words*n-1]
	switch {
	case words == 4 && HasAVX2:
		gather4AVX2(&d[0], &b[0], offsets, less, n)
	case words == 1 && HasAVX2:
		gatherAVX2(&d[0], &b[0], offsets, less, n)
	default:
		GatherLanes(d, b, offsets, less, words, n)
	}
}

// Addresses adds the offset of each of n lanes, 32 or 64, to a base, and returns the lowest and the highest offset.
func Addresses(addr *[64]uint64, offsets *[64]uint32, base uint64, n int) (low, high uint32) {
	if !HasAVX2 {
		return AddressLanes(addr, offsets, base, n)
	}
	return addressesAVX2(addr, offsets, base, n)
}

// Neighbours compares the address of each of n lanes, 32 or 64, with that of the lane before; see NeighbourLanes.
func Neighbours(addr *[64]uint64, size int, shift uint, n int) (other, same uint64) {
	if !HasAVX2 {
		return NeighbourLanes(addr, size, shift, n)
	}
	return neighboursAVX2(addr, uint64(size-1), uint64(shift), n)
}

// MatchOffsets reports whether the addresses of n lanes, 32 or 64, relative to that of the first, equal offsets.
func MatchOffsets(addr, offsets *[64]uint64, n int) bool {
	if !HasAVX2 {
		return MatchOffsetsLanes(addr, offsets, n)
	}
	return apartAVX2(addr, offsets, n)
}
