package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/internal/try"
)

var roles = map[string]string{
	"vdst": "RoleVDst", "sdst": "RoleSDst", "src0": "RoleSrc0", "src1": "RoleSrc1", "src2": "RoleSrc2",
	"ssrc": "RoleSSrc", "addr": "RoleAddr", "data0": "RoleData0", "data1": "RoleData1", "vaddr": "RoleVAddr",
	"vdata": "RoleVData", "saddr": "RoleSAddr", "srsrc": "RoleSRsrc", "bufoff": "RoleBufOffset", "sbase": "RoleSBase", "soffset": "RoleSOffset",
	"offset": "RoleOffset", "offset0": "RoleOffset0", "offset1": "RoleOffset1", "simm16": "RoleSImm16", "imm": "RoleImm",
}

var sourceClasses = map[string]string{"src": "ClassSrc", "csrc": "ClassCSrc", "ssrc": "ClassSSrc", "sconst": "ClassSConst", "sdwa": "ClassSDWA"}

// kinds: name and 32-bit registers.
var kinds = map[string]struct {
	name string
	regs int
}{
	"b16": {"B16", 1}, "b32": {"B32", 1}, "b64": {"B64", 2}, "f16": {"F16", 1}, "f32": {"F32", 1}, "f64": {"F64", 2},
	"v2b16": {"V2B16", 1}, "v2f16": {"V2F16", 1},
}

var immediates = map[string]string{
	"i12": "ImmI12", "i21": "ImmI21", "u11": "ImmU11", "u12": "ImmU12", "u20": "ImmU20", "u8": "ImmU8", "u16": "ImmU16", "h16": "ImmHex", "d16": "ImmDec", "label": "ImmLabel",
	"hwreg": "ImmHwreg", "waitcnt": "ImmWaitcnt", "swizzle": "ImmSwizzle", "opt": "ImmOptional",
}

var flagNames = map[string]string{
	"tied": "FlagTied", "old": "FlagOld", "abs": "FlagAbs", "clamp": "FlagClamp", "omod": "FlagOMod",
	"opsel": "FlagOpSel", "opselhi": "FlagOpSelHi", "neglohi": "FlagNegLoHi", "negabs": "FlagNegAbs",
	"sext": "FlagSext", "offen": "FlagOffEn", "idxen": "FlagIdxEn",
}

var scheds = map[string]string{
	"salu": "SchedSALU", "move": "SchedMove", "int": "SchedInt", "int_mul": "SchedIntMul", "int64": "SchedInt64",
	"f32": "SchedF32", "fma32": "SchedFMA32", "f16": "SchedF16", "dot": "SchedDot", "trans": "SchedTrans", "f64": "SchedF64",
	"smem": "SchedSMEM", "lds": "SchedLDS", "load": "SchedLoad", "store": "SchedStore",
	"atomic": "SchedAtomic", "branch": "SchedBranch", "barrier": "SchedBarrier", "wait": "SchedWait", "control": "SchedControl",
}

var counters = map[string]string{"vm": "CntVM", "vs": "CntVS", "lgkm": "CntLGKM"}

// formatBytes is the size without a literal.
var formatBytes = map[string]int{
	"SOP2": 4, "SOPK": 4, "SOP1": 4, "SOPC": 4, "SOPP": 4, "SMEM": 8, "VOP2": 4, "VOP2K": 8, "VOP1": 4, "VOPC": 4,
	"VOP3": 8, "VOP3P": 8, "DPP1": 8, "DPP2": 8, "DPP8_1": 8, "DPP8_2": 8,
	"SDWA1": 8, "SDWA2": 8, "SDWAC": 8, "DS": 8, "FLAT": 8, "GLOBAL": 8, "SCRATCH": 8, "MUBUF": 8,
}

// formatOpcodes is one more than the largest opcode of a format.
var formatOpcodes = map[string]uint64{
	"SOP2": 96, "SOPK": 32, "SOP1": 128, "SOPC": 128, "SOPP": 128, "SMEM": 256, "VOP2": 62, "VOP2K": 62, "VOP1": 256,
	"VOPC": 256, "VOP3": 1024, "VOP3P": 128, "DPP1": 256, "DPP2": 62,
	"DPP8_1": 256, "DPP8_2": 62, "SDWA1": 256, "SDWA2": 62, "SDWAC": 256, "DS": 256, "FLAT": 128, "GLOBAL": 128, "SCRATCH": 128, "MUBUF": 128,
}

var formatOrder = []string{"SOP2", "SOPK", "SOP1", "SOPC", "SOPP", "SMEM", "VOP2", "VOP2K", "VOP1", "VOPC", "VOP3", "VOP3P",
	"DPP1", "DPP2", "DPP8_1", "DPP8_2", "SDWA1", "SDWA2", "SDWAC", "DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF"}

// operandLit is the Go literal of an operand.
func operandLit(o operand) (string, error) {
	role, ok := roles[o.role]
	if !ok {
		return "", fmt.Errorf("unknown role %q", o.role)
	}
	lit := func(class, kind string, regs int) (string, error) {
		return fmt.Sprintf("{%s, %s, %s, %d}", role, class, kind, regs), nil
	}
	if im, ok := immediates[o.class]; ok {
		return lit("ClassImm", im, 0)
	}
	if o.role == "imm" {
		return lit("ClassImm", kinds[o.class].name, 0)
	}
	switch o.class {
	case "mask":
		return lit("ClassMask", "B32", 0)
	case "vsrc":
		return lit("ClassVSrc", "B32", 1)
	}
	if cls, kind, ok := strings.Cut(o.class, "."); ok {
		c, k := sourceClasses[cls], kinds[kind]
		if c != "" && k.name != "" {
			return lit(c, k.name, k.regs)
		}
	} else if n, err := strconv.Atoi(o.class[1:]); err == nil && n >= 1 && n <= 16 {
		switch o.class[0] {
		case 'v':
			return lit("ClassVGPR", "B32", n)
		case 's':
			return lit("ClassSGPR", "B32", n)
		}
	}
	return "", fmt.Errorf("unknown operand class %q", o.class)
}

// names joins the mapped constants with |; 0 for none.
func names(keys []string, table map[string]string) (string, error) {
	var out []string
	for _, k := range keys {
		n, ok := table[k]
		if !ok {
			return "", fmt.Errorf("unknown flag %q", k)
		}
		if !slices.Contains(out, n) { // read and written
			out = append(out, n)
		}
	}
	if out == nil {
		return "0", nil
	}
	return strings.Join(out, " | "), nil
}

var implicits = map[string]string{"EXEC": "ImplEXEC", "VCC": "ImplVCC", "SCC": "ImplSCC", "MODE": "ImplMODE", "M0": "ImplM0"}

// emit is zops.go.
func emit(secs []section) ([]byte, error) {
	var ops, mns, mtab, ftab bytes.Buffer
	index := map[string][]int{}
	for _, f := range formatOrder {
		index[f] = make([]int, formatOpcodes[f])
	}
	seen := map[string]bool{}
	last := map[string]int{} // format/opcode of the previous variants, to keep them adjacent
	var texts []form
	nop := 1
	for _, s := range secs {
		for _, m := range s.mnemonics {
			sched, ok := scheds[m.sched]
			if !ok {
				return nil, fmt.Errorf("%s: unknown class %q", m.name, m.sched)
			}
			mn := "M_" + strings.ToUpper(m.name)
			fmt.Fprintf(&mns, "%s\n", mn)
			fmt.Fprintf(&mtab, "{%q, %q},\n", m.name, m.meaning)
			for _, f := range m.forms {
				if seen[f.name] {
					return nil, fmt.Errorf("%s: defined twice", f.name)
				}
				seen[f.name] = true
				max, ok := formatOpcodes[f.format]
				if !ok || f.opcode >= max {
					return nil, fmt.Errorf("%s: no opcode %#x in format %q", f.name, f.opcode, f.format)
				}
				key := fmt.Sprintf("%s/%d", f.format, f.opcode)
				if at := index[f.format][f.opcode]; at == 0 {
					index[f.format][f.opcode] = nop
				} else if last[key] != nop-1 {
					return nil, fmt.Errorf("%s: opcode taken by another mnemonic", f.name)
				}
				last[key] = nop
				if err := emitForm(&ftab, f, mn, sched); err != nil {
					return nil, fmt.Errorf("%s: %w", f.name, err)
				}
				fmt.Fprintf(&ops, "%s\n", f.name)
				texts = append(texts, f)
				nop++
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("// Code generated by gen from ops.txt. DO NOT EDIT.\n\npackage rdna2\n\n")
	b.WriteString("// Instruction forms.\nconst (\n_ Op = iota\n")
	b.Write(ops.Bytes())
	b.WriteString("NumOps\n)\n\n// Mnemonics.\nconst (\n_ Mnemonic = iota\n")
	b.Write(mns.Bytes())
	b.WriteString("NumMnemonics\n)\n\nvar mnemonics = [NumMnemonics]mnemonicInfo{\n{\"none\", \"\"},\n")
	b.Write(mtab.Bytes())
	b.WriteString("}\n\nvar forms = [NumOps]Form{\n{Name: \"none\", Text: \"none\"},\n")
	b.Write(ftab.Bytes())
	b.WriteString("}\n\n")
	b.WriteString("// byText are the forms in the order of their text.\nvar byText = [...]Op{\n")
	sort.SliceStable(texts, func(i, j int) bool { return texts[i].text < texts[j].text })
	for _, t := range texts {
		fmt.Fprintf(&b, "%s,\n", t.name)
	}
	b.WriteString("}\n\n")
	for _, f := range formatOrder {
		fmt.Fprintf(&b, "var index%s = [...]Op{", f)
		for i, op := range index[f] {
			if i%24 == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%d,", op)
		}
		b.WriteString("\n}\n\n")
	}
	return format.Source(b.Bytes())
}

func emitForm(b *bytes.Buffer, f form, mn, sched string) (err error) {
	defer try.Catch(&err)
	flags := try.V(names(f.flags, flagNames))
	cnt := try.V(names(f.counts, counters))
	vector := f.format[0] != 'S' || f.format[:2] == "SD" || f.format == "SCRATCH"
	uses := f.uses
	if vector {
		uses = append([]string{"EXEC"}, uses...)
	}
	us := try.V(names(uses, implicits))
	ds := try.V(names(f.defs, implicits))
	neg := 0
	for _, c := range f.neg {
		neg |= 1 << (c - '0')
	}
	size := formatBytes[f.format]
	var lits []string
	for _, o := range f.operands {
		l := try.V(operandLit(o))
		if f.format == "SOPK" && o.role == "imm" {
			size = 8
		}
		lits = append(lits, l)
	}
	fmt.Fprintf(b, "{%s, %s, %q, %q, %s, %s, %#x, %d, %d, %s, %s, %s, %s, %d, [MaxOperands]Operand{%s}},\n",
		f.name, mn, f.name, f.text, f.format, sched, f.opcode, size, neg, flags, cnt, us, ds, len(lits), strings.Join(lits, ", "))
	return nil
}
