package hexagon

import "fmt"

// foreign lists encodings that the table does not hold because the machine of this package cannot run them, those of
// later revisions. They are named in errors. Facts of LLVM 19's tables.
var foreign = []struct {
	needs string
	forms []foreignForm
}{
	{"HVX V68", []foreignForm{
		{0xffe02080, 0x1f402080, "V6_v6mpyhubs10"}, {0xffe02080, 0x1f202080, "V6_v6mpyhubs10_vxx"},
		{0xffe02080, 0x1f402000, "V6_v6mpyvubs10"}, {0xffe02080, 0x1f202000, "V6_v6mpyvubs10_vxx"},
	}},
	{"HVX V68 floating point", []foreignForm{
		{0xffff20e0, 0x1e062080, "V6_vabs_hf"}, {0xffff20e0, 0x1e0620a0, "V6_vabs_sf"}, {0xffe020e0, 0x1f602060, "V6_vadd_hf"},
		{0xffe020e0, 0x1fa020e0, "V6_vadd_hf_hf"}, {0xffe020e0, 0x1f602040, "V6_vadd_qf16"},
		{0xffe020e0, 0x1f602080, "V6_vadd_qf16_mix"}, {0xffe020e0, 0x1fa02000, "V6_vadd_qf32"},
		{0xffe020e0, 0x1fa02040, "V6_vadd_qf32_mix"}, {0xffe020e0, 0x1fa02020, "V6_vadd_sf"},
		{0xffe020e0, 0x1f802080, "V6_vadd_sf_hf"}, {0xffe020e0, 0x1f8020c0, "V6_vadd_sf_sf"},
		{0xffff20e0, 0x1e062020, "V6_vassign_fp"}, {0xffff20e0, 0x1e042060, "V6_vconv_hf_qf16"},
		{0xffff20e0, 0x1e0420c0, "V6_vconv_hf_qf32"}, {0xffff20e0, 0x1e042000, "V6_vconv_sf_qf32"},
		{0xffe020e0, 0x1fc020c0, "V6_vcvt_b_hf"}, {0xffff20e0, 0x1e062000, "V6_vcvt_h_hf"},
		{0xffff20e0, 0x1e042040, "V6_vcvt_hf_b"}, {0xffff20e0, 0x1e0420e0, "V6_vcvt_hf_h"},
		{0xffe020e0, 0x1f602020, "V6_vcvt_hf_sf"}, {0xffff20e0, 0x1e042020, "V6_vcvt_hf_ub"},
		{0xffff20e0, 0x1e0420a0, "V6_vcvt_hf_uh"}, {0xffff20e0, 0x1e042080, "V6_vcvt_sf_hf"},
		{0xffe020e0, 0x1fc020a0, "V6_vcvt_ub_hf"}, {0xffff20e0, 0x1e052000, "V6_vcvt_uh_hf"},
		{0xffe020e0, 0x1fa020c0, "V6_vdmpy_sf_hf"}, {0xffe020e0, 0x1c402060, "V6_vdmpy_sf_hf_acc"},
		{0xffe020e0, 0x1c602040, "V6_vfmax_hf"}, {0xffe020e0, 0x1c602060, "V6_vfmax_sf"},
		{0xffe020e0, 0x1c602000, "V6_vfmin_hf"}, {0xffe020e0, 0x1c602020, "V6_vfmin_sf"},
		{0xffff20e0, 0x1e062040, "V6_vfneg_hf"}, {0xffff20e0, 0x1e062060, "V6_vfneg_sf"}, {0xffe020fc, 0x1c802074, "V6_vgthf"},
		{0xffe020fc, 0x1c8020cc, "V6_vgthf_and"}, {0xffe020fc, 0x1c802034, "V6_vgthf_or"},
		{0xffe020fc, 0x1c8020ec, "V6_vgthf_xor"}, {0xffe020fc, 0x1c802070, "V6_vgtsf"},
		{0xffe020fc, 0x1c8020c8, "V6_vgtsf_and"}, {0xffe020fc, 0x1c802030, "V6_vgtsf_or"},
		{0xffe020fc, 0x1c8020e8, "V6_vgtsf_xor"}, {0xffe020e0, 0x1fc02060, "V6_vmax_hf"},
		{0xffe020e0, 0x1fc02020, "V6_vmax_sf"}, {0xffe020e0, 0x1fc02080, "V6_vmin_hf"}, {0xffe020e0, 0x1fc02040, "V6_vmin_sf"},
		{0xffe020e0, 0x1f802060, "V6_vmpy_hf_hf"}, {0xffe020e0, 0x1c402040, "V6_vmpy_hf_hf_acc"},
		{0xffe020e0, 0x1fe02060, "V6_vmpy_qf16"}, {0xffe020e0, 0x1fe02080, "V6_vmpy_qf16_hf"},
		{0xffe020e0, 0x1fe020a0, "V6_vmpy_qf16_mix_hf"}, {0xffe020e0, 0x1fe02000, "V6_vmpy_qf32"},
		{0xffe020e0, 0x1fe020e0, "V6_vmpy_qf32_hf"}, {0xffe020e0, 0x1f802000, "V6_vmpy_qf32_mix_hf"},
		{0xffe020e0, 0x1fe020c0, "V6_vmpy_qf32_qf16"}, {0xffe020e0, 0x1fe02020, "V6_vmpy_qf32_sf"},
		{0xffe020e0, 0x1f802040, "V6_vmpy_sf_hf"}, {0xffe020e0, 0x1c402020, "V6_vmpy_sf_hf_acc"},
		{0xffe020e0, 0x1f802020, "V6_vmpy_sf_sf"}, {0xffe020e0, 0x1f6020c0, "V6_vsub_hf"},
		{0xffe020e0, 0x1f602000, "V6_vsub_hf_hf"}, {0xffe020e0, 0x1f6020a0, "V6_vsub_qf16"},
		{0xffe020e0, 0x1f6020e0, "V6_vsub_qf16_mix"}, {0xffe020e0, 0x1fa02060, "V6_vsub_qf32"},
		{0xffe020e0, 0x1fa020a0, "V6_vsub_qf32_mix"}, {0xffe020e0, 0x1fa02080, "V6_vsub_sf"},
		{0xffe020e0, 0x1f8020a0, "V6_vsub_sf_hf"}, {0xffe020e0, 0x1f8020e0, "V6_vsub_sf_sf"},
	}},
	{"HVX V73 floating point", []foreignForm{
		{0xffe020e0, 0x1d4020c0, "V6_vadd_sf_bf"}, {0xffe020e0, 0x1d402060, "V6_vcvt_bf_sf"},
		{0xffe020fc, 0x1c802078, "V6_vgtbf"}, {0xffe020fc, 0x1c8020d0, "V6_vgtbf_and"},
		{0xffe020fc, 0x1c802038, "V6_vgtbf_or"}, {0xffe020fc, 0x1c8020f0, "V6_vgtbf_xor"},
		{0xffe020e0, 0x1d4020e0, "V6_vmax_bf"}, {0xffe020e0, 0x1d402000, "V6_vmin_bf"},
		{0xffe020e0, 0x1d402080, "V6_vmpy_sf_bf"}, {0xffe020e0, 0x1d002000, "V6_vmpy_sf_bf_acc"},
		{0xffe020e0, 0x1d4020a0, "V6_vsub_sf_bf"},
	}},
	{"HVX V69", []foreignForm{
		{0xffe020e0, 0x1d000060, "V6_vasrvuhubrndsat"}, {0xffe020e0, 0x1d000040, "V6_vasrvuhubsat"},
		{0xffe020e0, 0x1d000020, "V6_vasrvwuhrndsat"}, {0xffe020e0, 0x1d000000, "V6_vasrvwuhsat"},
		{0xffff20e0, 0x1e0100c0, "V6_vassign_tmp"}, {0xffe020e0, 0x1ea000e0, "V6_vcombine_tmp"},
		{0xffe020e0, 0x1fc020e0, "V6_vmpyuhvs"},
	}},
	{"HVX V73", []foreignForm{
		{0xffff20e0, 0x1e052040, "V6_vconv_h_hf"}, {0xffff20e0, 0x1e052080, "V6_vconv_hf_h"},
		{0xffff20e0, 0x1e052060, "V6_vconv_sf_w"}, {0xffff20e0, 0x1e052020, "V6_vconv_w_sf"},
	}},
}

type foreignForm struct {
	mask, match uint32
	name        string
}

// unknown describes a word that no form of the table encodes.
func unknown(word uint32) string {
	if needs, f := findForeign(word); f != nil {
		return fmt.Sprintf("unsupported: %s needs %s", f.name, needs)
	}
	return "no known instruction form"
}

// findForeign is the form that a word encodes and its requirement, nil when there is none.
func findForeign(word uint32) (needs string, form *foreignForm) {
	for _, g := range foreign {
		for i := range g.forms {
			if f := &g.forms[i]; word&f.mask == f.match {
				return g.needs, f
			}
		}
	}
	return "", nil
}
