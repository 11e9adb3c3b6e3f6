// Package hvx has the semantics of the vector instructions. Operand order is that of the
// assembly text; Arg[0] is the destination.
package hvx

import (
	"sync"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Table holds the semantics of the vector instruction forms, indexed by operation.
// It is never written to.
var Table = sync.OnceValue(func() *family.Table { return families(rows) })

// rows are the forms of no family.
var rows = family.Table{

	// Add, subtract, average.
	hexagon.V6_vaddububb_sat: binary(addSat[uint8, int8]),
	hexagon.V6_vsubububb_sat: binary(subSat[uint8, int8]),

	// Min, max, compare, select.
	hexagon.V6_vmux:  vmux,
	hexagon.V6_vswap: vswap,

	// Logic and vector predicates.
	hexagon.V6_vand:           binary(and),
	hexagon.V6_vor:            binary(or),
	hexagon.V6_vxor:           binary(xor),
	hexagon.V6_vnot:           unary(not),
	hexagon.V6_vassign:        vassign,
	hexagon.V6_vcombine:       vcombine,
	hexagon.V6_pred_and:       binary(and),
	hexagon.V6_pred_and_n:     binary(andNot),
	hexagon.V6_pred_not:       unary(not),
	hexagon.V6_pred_or:        binary(or),
	hexagon.V6_pred_or_n:      binary(orNot),
	hexagon.V6_pred_xor:       binary(xor),
	hexagon.V6_pred_scalar2:   predScalar2,
	hexagon.V6_pred_scalar2v2: predScalar2v2,
	hexagon.V6_vandvrt:        vandvrt,
	hexagon.V6_vandvrt_acc:    vandvrtAcc,
	hexagon.V6_vandnqrt:       vandnqrt,
	hexagon.V6_vandnqrt_acc:   vandnqrtAcc,
	hexagon.V6_vandqrt:        vandqrt,
	hexagon.V6_vandqrt_acc:    vandqrtAcc,
	hexagon.V6_vandvnqv:       binary(notAnd),
	hexagon.V6_vandvqv:        binary(and),
	hexagon.V6_shuffeqh:       shuffeqh,
	hexagon.V6_shuffeqw:       shuffeqw,

	// Broadcast, insert, extract.
	hexagon.V6_vinsertwr: vinsertwr,
	hexagon.V6_extractw:  extractw,

	// Multiply, 16-bit.
	hexagon.V6_vmpyhsat_acc: vmpyhsatAcc,
	hexagon.V6_vmpyhsrs:     vmpyhsrs,
	hexagon.V6_vmpyhss:      vmpyhss,
	hexagon.V6_vmpyhvsrs:    binary(vmpyhvsrs),

	// Multiply, 32-bit.
	hexagon.V6_vmpyewuh:         binary(vmpyewuh),
	hexagon.V6_vmpyewuh_64:      vmpyewuh64,
	hexagon.V6_vmpyowh:          binary(vmpyowh),
	hexagon.V6_vmpyowh_rnd:      binary(vmpyowhRnd),
	hexagon.V6_vmpyowh_rnd_sacc: binary(vmpyowhRndSacc),
	hexagon.V6_vmpyowh_sacc:     binary(vmpyowhSacc),
	hexagon.V6_vmpyowh_64_acc:   vmpyowh64Acc,
	hexagon.V6_vmpyieoh:         binary(vmpyieoh),
	hexagon.V6_vmpyiewh_acc:     binary(vmpyiewhAcc),
	hexagon.V6_vmpyiewuh:        binary(vmpyiewuh),
	hexagon.V6_vmpyiewuh_acc:    binary(vmpyiewuhAcc),
	hexagon.V6_vmpyiowh:         binary(vmpyiowh),

	// Shifts, rounding, counting.
	hexagon.V6_vasrwh:     vasrwh,
	hexagon.V6_vcl0h:      vcl0h,
	hexagon.V6_vcl0w:      vcl0w,
	hexagon.V6_vnormamth:  vnormamth,
	hexagon.V6_vnormamtw:  vnormamtw,
	hexagon.V6_vpopcounth: vpopcounth,

	// Carries, counts, histograms, scatter and gather.
	hexagon.V6_vaddcarry:       vaddcarry,
	hexagon.V6_vaddcarryo:      vaddcarryo,
	hexagon.V6_vaddcarrysat:    vaddcarrysat,
	hexagon.V6_vsubcarry:       vsubcarry,
	hexagon.V6_vsubcarryo:      vsubcarryo,
	hexagon.V6_vsatdw:          binary(vsatdw),
	hexagon.V6_vaddclbh:        binary(vaddclbh),
	hexagon.V6_vaddclbw:        binary(vaddclbw),
	hexagon.V6_vrotr:           binary(vrotr),
	hexagon.V6_vasr_into:       vasrInto,
	hexagon.V6_vlut4:           vlut4,
	hexagon.V6_vmpahhsat:       vmpahhsat,
	hexagon.V6_vmpauhuhsat:     vmpauhuhsat,
	hexagon.V6_vmpsuhuhsat:     vmpsuhuhsat,
	hexagon.V6_vhist:           vhist,
	hexagon.V6_vhistq:          vhistq,
	hexagon.V6_vwhist256:       vwhist256,
	hexagon.V6_vwhist256_sat:   vwhist256Sat,
	hexagon.V6_vwhist256q:      vwhist256q,
	hexagon.V6_vwhist256q_sat:  vwhist256qSat,
	hexagon.V6_vwhist128:       vwhist128,
	hexagon.V6_vwhist128q:      vwhist128q,
	hexagon.V6_vwhist128m:      vwhist128m,
	hexagon.V6_vwhist128qm:     vwhist128qm,
	hexagon.V6_vgathermh:       gather(2, false, offsetH),
	hexagon.V6_vgathermhq:      gather(2, true, offsetH),
	hexagon.V6_vgathermhw:      gather(2, false, offsetHW),
	hexagon.V6_vgathermhwq:     gather(2, true, offsetHW),
	hexagon.V6_vgathermw:       gather(4, false, offsetW),
	hexagon.V6_vgathermwq:      gather(4, true, offsetW),
	hexagon.V6_vscattermh:      scatter(2, false, false, offsetH),
	hexagon.V6_vscattermh_add:  scatter(2, false, true, offsetH),
	hexagon.V6_vscattermhq:     scatter(2, true, false, offsetH),
	hexagon.V6_vscattermhw:     scatter(2, false, false, offsetHW),
	hexagon.V6_vscattermhw_add: scatter(2, false, true, offsetHW),
	hexagon.V6_vscattermhwq:    scatter(2, true, false, offsetHW),
	hexagon.V6_vscattermw:      scatter(4, false, false, offsetW),
	hexagon.V6_vscattermw_add:  scatter(4, false, true, offsetW),
	hexagon.V6_vscattermwq:     scatter(4, true, false, offsetW),
	hexagon.V6_vS32b_srls_ai:   scatterRelease,
	hexagon.V6_vS32b_srls_pi:   scatterRelease,
	hexagon.V6_vS32b_srls_ppu:  scatterRelease,

	// Permute.
	hexagon.V6_vunpackob:      vunpackob,
	hexagon.V6_vunpackoh:      vunpackoh,
	hexagon.V6_vdealb4w:       vdealb4w,
	hexagon.V6_vshuff:         vshuff,
	hexagon.V6_vshuffvdd:      vshuffvdd,
	hexagon.V6_vdeal:          vdeal,
	hexagon.V6_vdealvdd:       vdealvdd,
	hexagon.V6_valignb:        valignb,
	hexagon.V6_valignbi:       valignbi,
	hexagon.V6_vlalignb:       vlalignb,
	hexagon.V6_vlalignbi:      vlalignbi,
	hexagon.V6_vror:           vror,
	hexagon.V6_vdelta:         vdelta,
	hexagon.V6_vrdelta:        vrdelta,
	hexagon.V6_vlutvvb:        vlutvvb,
	hexagon.V6_vlutvvb_nm:     vlutvvbNm,
	hexagon.V6_vlutvvb_oracc:  vlutvvbOracc,
	hexagon.V6_vlutvvb_oracci: vlutvvbOracci,
	hexagon.V6_vlutvvbi:       vlutvvbi,
	hexagon.V6_vlutvwh:        vlutvwh,
	hexagon.V6_vlutvwh_nm:     vlutvwhNm,
	hexagon.V6_vlutvwh_oracc:  vlutvwhOracc,
	hexagon.V6_vlutvwh_oracci: vlutvwhOracci,
	hexagon.V6_vlutvwhi:       vlutvwhi,
}
