package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
)

// families adds the forms of families to the rows of the table.
func families(r family.Table) *family.Table {
	for _, hint := range []string{"", "_nt"} {
		for _, use := range []string{"", "_cur", "_tmp"} {
			modes(&r, "V6_vL32b"+hint+use, 1, true, aligned, vld)
		}
		for _, value := range []string{"", "_new"} {
			modes(&r, "V6_vS32b"+hint+value, 0, false, aligned, vst)
		}
		modes(&r, "V6_vS32b"+hint+"_qpred", 1, false, aligned, vstq(0))
		modes(&r, "V6_vS32b"+hint+"_nqpred", 1, false, aligned, vstq(0xff))
	}
	modes(&r, "V6_vL32Ub", 1, true, ^uint32(0), vld)
	modes(&r, "V6_vS32Ub", 0, false, ^uint32(0), vst)

	lanewise[int8](&r, "b")
	lanewise[uint8](&r, "ub")
	lanewise[int16](&r, "h")
	lanewise[uint16](&r, "uh")
	lanewise[int32](&r, "w")
	lanewise[uint32](&r, "uw")

	narrows[int8, int16](&r, "hb")
	narrows[uint8, int16](&r, "hub")
	narrows[uint8, uint16](&r, "uhub")
	narrows[int16, int32](&r, "wh")
	narrows[uint16, int32](&r, "wuh")
	narrows[uint16, uint32](&r, "uwuh")

	extends[int16, int8](&r, "sb", "b")
	extends[uint16, uint8](&r, "zb", "ub")
	extends[int32, int16](&r, "sh", "h")
	extends[uint32, uint16](&r, "zh", "uh")

	permutes[uint8](&r, "b")
	permutes[uint16](&r, "h")
	permutes[uint32](&r, "w")

	products(&r)
	shifts(&r)
	return &r
}

// lanewise are the operations on lanes of one type: name is the letters of it in a tag. Saturation, averages and
// halves of a difference are exact before they are narrowed.
func lanewise[T number](r *family.Table, name string) {
	r.Put("V6_vadd"+name, binary(add[T]))
	r.Put("V6_vsub"+name, binary(sub[T]))
	r.Put("V6_vadd"+name+"_dv", both(binary(add[T])))
	r.Put("V6_vsub"+name+"_dv", both(binary(sub[T])))
	r.Put("V6_vadd"+name+"sat", binary(addSat[T, T]))
	r.Put("V6_vsub"+name+"sat", binary(subSat[T, T]))
	r.Put("V6_vadd"+name+"sat_dv", both(binary(addSat[T, T])))
	r.Put("V6_vsub"+name+"sat_dv", both(binary(subSat[T, T])))
	r.Put("V6_vadd"+name+"q", addQ[T](0, false))
	r.Put("V6_vadd"+name+"nq", addQ[T](0xff, false))
	r.Put("V6_vsub"+name+"q", addQ[T](0, true))
	r.Put("V6_vsub"+name+"nq", addQ[T](0xff, true))
	r.Put("V6_vmax"+name, binary(vmax[T]))
	r.Put("V6_vmin"+name, binary(vmin[T]))
	r.Put("V6_vavg"+name, binary(avg[T]))
	r.Put("V6_vavg"+name+"rnd", binary(avgRnd[T]))
	r.Put("V6_vnavg"+name, binary(navg[T]))
	r.Put("V6_vabs"+name, unary(vabs[T]))
	r.Put("V6_vabs"+name+"_sat", unary(vabsSat[T]))
	r.Put("V6_vabsdiff"+name, binary(absDiff[T]))
	for tag, op := range map[string]qop{"": qset, "_and": qand, "_or": qor, "_xor": qxor} {
		r.Put("V6_veq"+name+tag, compare(eq[T], op))
		r.Put("V6_vgt"+name+tag, compare(gt[T], op))
	}
	r.Put("V6_lvsplat"+name, fill[T])
	r.Put("V6_vprefixq"+name, prefix[T])
}

// narrows make lanes of half the width and saturate them: shifted by a register, rounded to their upper half, as
// they are, and packed instead of interleaved.
func narrows[D, S number](r *family.Table, name string) {
	r.Put("V6_vasr"+name+"sat", asrNarrow[D, S](false))
	r.Put("V6_vasr"+name+"rndsat", asrNarrow[D, S](true))
	r.Put("V6_vround"+name, narrowBy[D, S](bitsOf[D](), true))
	r.Put("V6_vsat"+name, narrowBy[D, S](0, false))
	r.Put("V6_vpack"+name+"_sat", packSat[D, S])
}

// extends double the width of lanes: even and odd ones apart, or the lower and the upper half of the vector.
func extends[D, S number](r *family.Table, split, unpack string) {
	r.Put("V6_v"+split, splitLanes[D, S])
	r.Put("V6_vunpack"+unpack, unpackLanes[D, S])
}

// permutes move lanes without a change.
func permutes[T number](r *family.Table, name string) {
	r.Put("V6_vpacke"+name, pick[T](0))
	r.Put("V6_vpacko"+name, pick[T](1))
	r.Put("V6_vshuffe"+name, weave[T](0)) // of bytes; the tag of halves has one f
	r.Put("V6_vshuffo"+name, weave[T](1))
	r.Put("V6_vshufe"+name, weave[T](0))
	r.Put("V6_vshufo"+name, weave[T](1))
	r.Put("V6_vshufoe"+name, weaveBoth[T])
	r.Put("V6_vshuff"+name, shuffle[T])
	r.Put("V6_vdeal"+name, deal[T])
}

// products are multiplies and sums of products, alone and added to their destination.
func products(r *family.Table) {
	into(r, "V6_vrmpybus", rmpyVR(simd.B))
	into(r, "V6_vrmpyub", rmpyVR(simd.UB))
	into(r, "V6_vrmpybusv", rmpyVV[uint8, int8])
	into(r, "V6_vrmpybv", rmpyVV[int8, int8])
	into(r, "V6_vrmpyubv", rmpyVV[uint8, uint8])
	into(r, "V6_vrmpybusi", rmpyi(simd.B))
	into(r, "V6_vrmpyubi", rmpyi(simd.UB))
	zwindow(r)
	into(r, "V6_vrmpybub_rtt", rmpyRtt[int8])
	into(r, "V6_vrmpyub_rtt", rmpyRtt[uint8])

	into(r, "V6_vmpybus", mulVR[int16, uint8, int8])
	into(r, "V6_vmpyub", mulVR[int16, uint8, uint8])
	into(r, "V6_vmpybusv", mulVV[int16, uint8, int8])
	into(r, "V6_vmpybv", mulVV[int16, int8, int8])
	into(r, "V6_vmpyubv", mulVV[int16, uint8, uint8])
	into(r, "V6_vmpyh", mulVR[int32, int16, int16])
	into(r, "V6_vmpyuh", mulVR[int32, uint16, uint16])
	into(r, "V6_vmpyhv", mulVV[int32, int16, int16])
	into(r, "V6_vmpyuhv", mulVV[int32, uint16, uint16])
	into(r, "V6_vmpyhus", mulVV[int32, int16, uint16])
	into(r, "V6_vmpyuhe", vmpyuhe)
	into(r, "V6_vmpyih", mulLow[int16])
	into(r, "V6_vmpyihb", mulLowR[int16](simd.B))
	into(r, "V6_vmpyiwb", mulLowR[int32](simd.B))
	into(r, "V6_vmpyiwub", mulLowR[int32](simd.UB))
	into(r, "V6_vmpyiwh", mulLowR[int32](simd.H))

	into(r, "V6_vdmpybus", dmpyVR[int16, uint8])
	into(r, "V6_vdmpyhb", dmpyVR[int32, int16])
	into(r, "V6_vdmpybus_dv", dmpyDV[int16, uint8])
	into(r, "V6_vdmpyhb_dv", dmpyDV[int32, int16])
	into(r, "V6_vdmpyhsat", dmpyhSat(simd.H))
	into(r, "V6_vdmpyhsusat", dmpyhSat(simd.UH))
	into(r, "V6_vdmpyhisat", dmpyhiSat(simd.H))
	into(r, "V6_vdmpyhsuisat", dmpyhiSat(simd.UH))
	into(r, "V6_vdmpyhvsat", vdmpyhvsat)

	into(r, "V6_vmpabus", mpaVR[int16, uint8](simd.B))
	into(r, "V6_vmpabuu", mpaVR[int16, uint8](simd.UB))
	into(r, "V6_vmpahb", mpaVR[int32, int16](simd.B))
	into(r, "V6_vmpauhb", mpaVR[int32, uint16](simd.B))
	r.Put("V6_vmpabusv", mpaVV[int8])
	r.Put("V6_vmpabuuv", mpaVV[uint8])
	into(r, "V6_vtmpyb", tmpy[int16, int8])
	into(r, "V6_vtmpybus", tmpy[int16, uint8])
	into(r, "V6_vtmpyhb", tmpy[int32, int16])

	into(r, "V6_vaddubh", widenAdd[int16, uint8](1))
	into(r, "V6_vaddhw", widenAdd[int32, int16](1))
	into(r, "V6_vadduhw", widenAdd[int32, uint16](1))
	into(r, "V6_vsububh", widenAdd[int16, uint8](-1))
	into(r, "V6_vsubhw", widenAdd[int32, int16](-1))
	into(r, "V6_vsubuhw", widenAdd[int32, uint16](-1))
	into(r, "V6_vdsaduh", dsaduh)
	into(r, "V6_vrsadubi", rsadubi)
}

// shifts are by a register, and by vectors both ways.
func shifts(r *family.Table) {
	into(r, "V6_vaslh", aslR[int16])
	into(r, "V6_vaslw", aslR[int32])
	into(r, "V6_vasrh", asrR[int16])
	into(r, "V6_vasrw", asrR[int32])
	into(r, "V6_vlsrb", asrR[uint8])
	into(r, "V6_vlsrh", asrR[uint16])
	into(r, "V6_vlsrw", asrR[uint32])
	r.Put("V6_vaslhv", binary(aslV[int16]))
	r.Put("V6_vaslwv", binary(aslV[int32]))
	r.Put("V6_vasrhv", binary(asrV[int16]))
	r.Put("V6_vasrwv", binary(asrV[int32]))
	r.Put("V6_vlsrhv", binary(asrV[uint16]))
	r.Put("V6_vlsrwv", binary(asrV[uint32]))
}
