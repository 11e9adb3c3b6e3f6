package dspdriver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
	"github.com/nnsoc/nnsoc/nn"
)

// elf links a plan and its inputs as a Linux program: it calls every job for
// every thread, one after another, and writes the outputs.
func (p *executable) elf(inputs [][]byte) ([]byte, error) {
	arena := make([]byte, p.arena)
	for i, x := range p.IO.Inputs {
		copy(arena[x.From:x.To], inputs[i])
	}
	var stub hexagon.Stub
	for _, j := range p.jobs {
		for i := range j.Threads {
			c := hexagon.Call{Entry: j.Entry}
			if i < len(j.Args) {
				for r, v := range j.Args[i] {
					c.Regs = append(c.Regs, hexagon.RegValue{Reg: uint8(r), Value: v})
				}
			}
			stub.Calls = append(stub.Calls, c)
		}
	}
	for _, x := range p.IO.Outputs {
		if x.To > x.From {
			stub.Dump = append(stub.Dump, hexagon.MemRange{Addr: uint32(layout.ArenaBase - layout.EndGuard + x.From), Len: uint32(x.To - x.From)})
		}
	}
	const stubBase = 0x00010000
	code, err := stub.Code(stubBase)
	if err != nil {
		return nil, err
	}
	if stubBase+len(code) > layout.CodeBase {
		return nil, fmt.Errorf("start routine of %d bytes", len(code))
	}
	image := object.Image{Entry: stubBase, Segments: []object.Segment{
		{Addr: stubBase, Data: code, Exec: true},
		{Addr: layout.ConstBase, Data: p.consts},
		{Addr: layout.ArenaBase - layout.EndGuard, Data: arena, Write: true},
	}}
	if len(p.program.Code) > 0 {
		image.Segments = append(image.Segments, object.Segment{Addr: p.program.Base, Data: p.program.Code, Exec: true})
	}
	if v := &p.dev.cfg.Spec; v.VTCMBytes > 0 {
		image.Segments = append(image.Segments, object.Segment{Addr: v.VTCMBase, Size: v.VTCMBytes, Write: true})
	}
	return image.ELF()
}

// emulate has QEMU run a plan and compares its outputs with the core's.
func (p *executable) emulate(file string, inputs [][]byte) error {
	elf, err := p.elf(inputs)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, elf, 0o755); err != nil {
		return err
	}
	defer os.Remove(file)
	theirs, err := exec.Command("qemu-hexagon", file).Output()
	if err != nil {
		return fmt.Errorf("qemu-hexagon: %w", err)
	}
	o := compile.RunOptions{}
	m, err := p.Acquire(&o)
	if err != nil {
		return err
	}
	defer p.Release(m)
	for i := range inputs {
		x := p.IO.Inputs[i]
		copy(m.Arena[x.From:x.To], inputs[i])
	}
	if _, err := p.Execute(m, &o); err != nil {
		return err
	}
	var ours []byte
	for _, x := range p.IO.Outputs { // including the unused part of an output of open shape
		ours = append(ours, m.Arena[x.From:x.To]...)
	}
	if len(ours) != len(theirs) {
		return fmt.Errorf("QEMU writes %d bytes, the core %d", len(theirs), len(ours))
	}
	for i := range ours {
		if ours[i] != theirs[i] {
			return fmt.Errorf("byte %d of %d is %#x in QEMU, %#x in the core", i, len(ours), theirs[i], ours[i])
		}
	}
	return nil
}

// TestOracleProgram runs a whole lowered network in QEMU.
func TestOracleProgram(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	m, in := smallNetwork()
	pm := require.V(qemuDevice(t).PrepareModel(m, hal.PrepareOptions{}))(t)
	p := compile.Programs(pm)[0][0].(*executable)
	require.NoError(t, p.emulate(filepath.Join(t.TempDir(), "network.elf"), [][]byte{in}))
}

// kind is what makes a case of the corpus different from others here: its
// operations, the types and ranks of what they read and write.
func kind(g *nn.Subgraph) string {
	var b strings.Builder
	for i := range g.Operations {
		o := &g.Operations[i]
		fmt.Fprint(&b, o.Type, len(o.Inputs))
		for _, l := range [][]uint32{o.Inputs[:min(2, len(o.Inputs))], o.Outputs[:min(1, len(o.Outputs))]} {
			for _, x := range l {
				fmt.Fprint(&b, " ", g.Operands[x].Type, len(g.Operands[x].Dimensions), g.Operands[x].IsConst())
			}
		}
	}
	return b.String()
}

// TestOracleOperations runs the first case of every kind in the corpus that the
// driver accepts in QEMU.
func TestOracleOperations(t *testing.T) {
	oracle.Need(t, "qemu-hexagon")
	d := qemuDevice(t)
	kinds := map[string]bool{}
	operations := map[nn.OperationType]bool{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	dir := t.TempDir()
	slots := make(chan string, runtime.GOMAXPROCS(0))
	for i := range cap(slots) {
		slots <- filepath.Join(dir, fmt.Sprintf("%d.elf", i))
	}
	programs, bytesOut := 0, 0
	one := func(c *vectors.Case) {
		p, err := d.PrepareModel(c.Model, hal.PrepareOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			return
		}
		if len(compile.Programs(p)) != 1 || len(c.Model.Referenced) > 0 { // control flow has a program for each subgraph
			return
		}
		var in [][]byte
		var dims [][]uint32
		for i := range c.Inputs {
			in, dims = append(in, c.Inputs[i].Data), append(dims, c.Inputs[i].Dimensions)
		}
		program, err := compile.ProgramFor(p, in, dims)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			return
		}
		pl := program.(*executable)
		file := <-slots
		wait.Go(func() {
			err := pl.emulate(file, in)
			slots <- file
			mu.Lock()
			defer mu.Unlock()
			programs++
			for _, x := range pl.IO.Outputs {
				bytesOut += x.To - x.From
			}
			for i := range c.Model.Main.Operations {
				operations[c.Model.Main.Operations[i].Type] = true
			}
			require.Report(t, err, c.Name)
		})
	}
	eachCase(t, func(c *vectors.Case) {
		if k := kind(&c.Model.Main); !kinds[k] && d.supports(c.Model) {
			kinds[k] = true
			one(c)
		}
	})
	wait.Wait()
	t.Logf("%d programs with %d operation types, %d bytes of output", programs, len(operations), bytesOut)
	if programs < 200 || bytesOut == 0 {
		t.Errorf("only %d programs ran", programs)
	}
}

// supports reports models that run on the device as a whole.
func (d *Device) supports(m *nn.Model) bool {
	support, err := d.SupportedOperations(m)
	for i := range support {
		if !support[i].OK {
			return false
		}
	}
	return err == nil
}
