package dspdriver

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// List implements engine.Program: the launches in order, then each kernel, packet by packet. The cycle
// of a packet is an estimate for one thread with every access served at once: packets issue at the
// machine's interval and wait for operands.
func (p *executable) List(out io.Writer) error {
	if err := p.decode(); err != nil {
		return err
	}
	fmt.Fprintf(out, "; %s: %d bytes of code at 0x%x, %d of constants at 0x%x, %d of activations at 0x%x\n",
		p.dev.cfg.Spec.Name, len(p.program.Code), p.program.Base, len(p.consts), layout.ConstBase, p.arena, layout.ArenaBase)
	for i := range p.jobs {
		j := &p.jobs[i]
		fmt.Fprintf(out, "; job %d: operation %d %s, %s: %s at 0x%x, %d threads, estimated %d slots, %d cycles\n",
			i, j.Region, p.Graph.NameOf(j.Region), j.Name, j.kernel.Name, j.Entry, j.Threads, j.slots, j.cycles)
		for t, a := range j.Args {
			fmt.Fprintf(out, ";   thread %d:", t)
			for r, x := range a {
				fmt.Fprintf(out, " r%d=0x%x", r, x)
			}
			fmt.Fprintln(out)
		}
	}
	for _, k := range p.all {
		p.listKernel(out, k)
	}
	return nil
}

func (p *executable) listKernel(out io.Writer, k *hvx.Linked) {
	var names, ids []string
	for _, i := range k.Sources {
		names = append(names, fmt.Sprintf("%d %s", i, p.Graph.NameOf(i)))
		ids = append(ids, fmt.Sprint(i))
	}
	fmt.Fprintf(out, "\n; kernel %s for operation %s\n; address    packet / operation @ cycle\n", k.Name, strings.Join(names, ", "))
	source := strings.Join(ids, ",")
	if len(ids) > 4 {
		source = strings.Join(ids[:4], ",") + ",.."
	}
	var e estimate
	for i := range k.Packets {
		pk := &k.Packets[i]
		at := e.issue(pk, p.dev.cfg.Spec.IssueInterval)
		fmt.Fprintf(out, "%08x  %s ; %s @%d\n", pk.Addr, pk.Asm(), source, at)
	}
}

// estimate follows straight-line code and keeps when registers are ready.
type estimate struct {
	cycle int
	ready [4][32]int   // by kind: scalar, vector, predicate, vector predicate
	cyc   [4][32]uint8 // pipeline cycle at which the value is made
}

// issue is the cycle at which a packet issues.
func (e *estimate) issue(p *hexagon.Packet, interval int) int {
	at := e.cycle
	e.each(p, func(o *hexagon.OperandSpec, file, reg int) {
		if o.Role&hexagon.Use == 0 || e.cyc[file][reg] == 0 {
			return
		}
		n := hvx.SlotsBetween(e.cyc[file][reg], o.UseCycle, file == hvx.FileV || file == hvx.FileQ, interval)
		at = max(at, e.ready[file][reg]+n*interval)
	})
	e.each(p, func(o *hexagon.OperandSpec, file, reg int) {
		if o.Role&hexagon.Def != 0 {
			e.ready[file][reg], e.cyc[file][reg] = at, o.DefCycle
		}
	})
	e.cycle = at + interval
	return at
}

var kindFiles = [...]struct{ file, width int }{
	hexagon.KindR: {hvx.FileR, 1}, hexagon.KindRR: {hvx.FileR, 2}, hexagon.KindV: {hvx.FileV, 1}, hexagon.KindVV: {hvx.FileV, 2}, hexagon.KindVVVV: {hvx.FileV, 4},
	hexagon.KindP: {hvx.FileP, 1}, hexagon.KindQ: {hvx.FileQ, 1},
}

func (e *estimate) each(p *hexagon.Packet, f func(o *hexagon.OperandSpec, file, reg int)) {
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		form := in.Op.Form()
		for k := range form.Operands {
			o := &form.Operands[k]
			if int(o.Kind) >= len(kindFiles) || kindFiles[o.Kind].width == 0 {
				continue
			}
			kf := kindFiles[o.Kind]
			for w := range kf.width {
				f(o, kf.file, int(in.R[o.Index])+w)
			}
		}
	}
}
