package hvx

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Loop0 runs body count times as hardware loop 0; count must be at least 1.
func (b *Builder) Loop0(count any, body func()) { b.loop(0, count, body) }

// Loop1 is the outer hardware loop; its body may contain a loop0.
func (b *Builder) Loop1(count any, body func()) { b.loop(1, count, body) }

var loopOps = [2][2]hexagon.Op{{hexagon.J2_loop0i, hexagon.J2_loop0r}, {hexagon.J2_loop1i, hexagon.J2_loop1r}}

func (b *Builder) loop(n int, count any, body func()) {
	known, _ := count.(int)
	if known > 1023 {
		count = b.Imm(known)
	}
	head := b.Func.Label(fmt.Sprintf("loop%d", n))
	switch c := count.(type) {
	case int:
		if c == 1 {
			body()
			return
		}
		b.Op(loopOps[n][0], head, c)
	case codegen.Reg:
		b.Op(loopOps[n][1], head, c)
	}
	b.within(b.countOf(count), false, func() {
		b.Func.Bind(head)
		body()
		b.Func.EndLoop(n, head, known)
	})
}

// countOf is the value of a loop's count.
func (b *Builder) countOf(count any) *Value {
	switch c := count.(type) {
	case int:
		return &Value{Op: ValueConst, N: int32(c)}
	case codegen.Reg:
		return b.value(c)
	}
	return nil
}

// Repeat runs body while the counter, which counts down, lasts. It must be at
// least 1 on entry; body may contain both hardware loops.
func (b *Builder) Repeat(counter codegen.Reg, body func()) {
	head := b.Func.Label("repeat")
	b.within(b.value(counter), true, func() {
		b.Func.Bind(head)
		body()
		p := b.P("more")
		b.Bump(counter, -1)
		b.Op(hexagon.C2_cmpgti, p, counter, 0)
		b.Op(hexagon.J2_jumptpt, p, head)
	})
}

// SkipIfZero runs body unless r is 0.
func (b *Builder) SkipIfZero(r codegen.Reg, body func()) {
	over := b.Func.Label("skip")
	p := b.P("empty")
	b.Op(hexagon.C2_cmpeqi, p, r, 0)
	b.Op(hexagon.J2_jumpt, p, over)
	some := &Value{Op: ValueConst, N: 1}
	if v := b.value(r); v != nil {
		some = &Value{Op: ValueNonzero, Of: [2]*Value{v}}
	}
	b.within(some, false, body)
	b.Func.Bind(over)
}

// SkipIfEqual runs body unless x is y, which is likely.
func (b *Builder) SkipIfEqual(x, y codegen.Reg, body func()) {
	over := b.Func.Label("skip")
	p := b.P("equal")
	b.Op(hexagon.C2_cmpeq, p, x, y)
	b.Op(hexagon.J2_jumptpt, p, over)
	b.within(&Value{Op: ValueConst}, false, func() { b.Func.Unlikely(body) })
	b.Func.Bind(over)
}

// Move copies src to a register that lives on.
func (b *Builder) Move(dst, src codegen.Reg) { b.Op(hexagon.A2_tfr, dst, src) }

// If runs body if p, unless runs it if not.
func (b *Builder) If(p codegen.Reg, body func())     { b.jumpOver(hexagon.J2_jumpf, p, body) }
func (b *Builder) Unless(p codegen.Reg, body func()) { b.jumpOver(hexagon.J2_jumpt, p, body) }

func (b *Builder) jumpOver(jump hexagon.Op, p codegen.Reg, body func()) {
	over := b.Func.Label("over")
	b.Op(jump, p, over)
	body()
	b.Func.Bind(over)
}

// While runs body as long as the test at its beginning is true. next skips the
// rest of an iteration.
func (b *Builder) While(cond func() codegen.Reg, body func(next codegen.Label), step func()) {
	b.while(nil, cond, body, step)
}

// while is While for a count that may be known.
func (b *Builder) while(count *Value, cond func() codegen.Reg, body func(next codegen.Label), step func()) {
	head, next, out := b.Func.Label("while"), b.Func.Label("next"), b.Func.Label("done")
	b.within(count, true, func() {
		b.Func.Bind(head)
		b.Op(hexagon.J2_jumpf, cond(), out)
		body(next)
		b.Func.Bind(next)
		step()
		b.Op(hexagon.J2_jump, head)
	})
	b.Func.Bind(out)
}

// ForEach runs body for i up to n, which may be 0 times.
func (b *Builder) ForEach(i, n codegen.Reg, body func(next codegen.Label)) {
	var count *Value
	if from, to := b.value(i), b.value(n); from != nil && to != nil {
		count = &Value{Op: ValueDifference, Of: [2]*Value{to, from}}
	}
	b.while(count, func() codegen.Reg { return b.Compare(hexagon.C2_cmpgt, n, i) }, body, func() { b.Bump(i, 1) })
}

// For is each from 0 to a constant.
func (b *Builder) For(n int, body func(i codegen.Reg)) {
	i := b.CopyOf(b.Imm(0))
	b.ForEach(i, b.Imm(n), func(codegen.Label) { body(i) })
}
