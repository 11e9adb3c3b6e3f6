package asm

// respelling is a shape of LLVM's aliases that stands for an instruction with other operands.
type respelling struct {
	to   string // shape of the instruction
	swap bool   // the last two operands change places
	less int64  // subtracted from the last number
	zero string // shape where the last number is 0; it is left out
	pair int    // an operand that names its pair: its odd register becomes :hi after to, the even one :lo
}

var respellings = map[string]respelling{
	"D=vaddb(D,D)":               {to: "D=vaddub(D,D)"},
	"D=vsubb(D,D)":               {to: "D=vsubub(D,D)"},
	"P=cmp.lt(R,R)":              {to: "P=cmp.gt(R,R)", swap: true},
	"P=cmp.ltu(R,R)":             {to: "P=cmp.gtu(R,R)", swap: true},
	"P=cmp.ge(R,#)":              {to: "P=cmp.gt(R,#)", less: 1},
	"P=cmp.geu(R,#)":             {to: "P=cmp.gtu(R,#)", less: 1, zero: "P=cmp.eq(R,R)"},
	"R=tableidxb(R,#,#)":         {to: "R=tableidxb(R,#,#):raw"},
	"R=tableidxh(R,#,#)":         {to: "R=tableidxh(R,#,#):raw", less: 1},
	"R=tableidxw(R,#,#)":         {to: "R=tableidxw(R,#,#):raw", less: 2},
	"R=tableidxd(R,#,#)":         {to: "R=tableidxd(R,#,#):raw", less: 3},
	"R=vasrhub(D,#):rnd:sat":     {to: "R=vasrhub(D,#):raw", less: 1, zero: "R=vsathub(D)"},
	"D=vasrh(D,#):rnd":           {to: "D=vasrh(D,#):raw", less: 1, zero: "D=D"},
	"D=asrrnd(D,#)":              {to: "D=asr(D,#):rnd", less: 1, zero: "D=D"},
	"R=vrcmpys(D,R):<<1:rnd:sat": {to: "R=vrcmpys(D,D):<<1:rnd:sat:raw", pair: 2},
	"D=vrcmpys(D,R):<<1:sat":     {to: "D=vrcmpys(D,D):<<1:sat:raw", pair: 2},
	"D+=vrcmpys(D,R):<<1:sat":    {to: "D+=vrcmpys(D,D):<<1:sat:raw", pair: 2},
	"P=boundscheck(R,D)":         {to: "P=boundscheck(D,D):raw", pair: 1},
	"D=add(R,D)":                 {to: "D=add(D,D):raw", pair: 1},
	"vtrans2x2(V,V,R)":           {to: "vshuff(V,V,R)"},
	"R.w=vextract(V,R)":          {to: "R=vextract(V,R)"},
}

// respelled rewrites the shape and the operands of an alias.
func (a *assembler) respelled(s string, ops []operand) (string, []operand) {
	r, ok := respellings[s]
	if !ok {
		return s, ops
	}
	ops = append([]operand(nil), ops...)
	last := &ops[len(ops)-1]
	if r.less > 0 || r.zero != "" {
		if last.val.open() {
			fail(last.at, "number expected, not a symbol")
		}
		if last.val.add == 0 && r.zero != "" {
			if ops = ops[:len(ops)-1]; r.zero == "P=cmp.eq(R,R)" {
				ops = append(ops, ops[1])
			}
			return r.zero, ops
		}
		last.val.add -= r.less
	}
	if r.swap {
		k := len(ops) - 2
		ops[k], ops[k+1] = ops[k+1], ops[k]
	}
	if r.pair > 0 {
		o := &ops[r.pair]
		r.to += map[uint8]string{0: ":lo", 1: ":hi"}[o.reg&1]
		o.letter, o.reg = 'D', o.reg&^1
	}
	return r.to, ops
}
