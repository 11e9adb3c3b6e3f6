package npudriver

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/idle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim/coretest"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// keeping is a device that keeps parameters in so many bytes on chip.
func keeping(t *testing.T, onChip int) *Device {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	return newDevice(t, "pixel4", Config{OnChipBytes: onChip, KeepsParameters: true, Share: func(dram mem.Level) []mem.Level { return npu.ShareFromSoC(c, dram) }})
}

// network is a network of the zoo on a device, with its inputs and the reference's outputs.
type network struct {
	*executable
	inputs, want [][]byte
}

func lowered(t *testing.T, d *Device, name string) *network {
	t.Helper()
	m := zoo.MustBuild(name)
	x := require.V(d.middleEnd.Lower(canonical(t, d, m), hal.PrepareOptions{}))(t)
	n := &network{executable: x.(*executable)}
	for i, in := range m.Main.Inputs {
		n.inputs = append(n.inputs, tensor.Synthetic(&m.Main.Operands[in], uint32(i)))
	}
	n.want = drivertest.Reference(t, m, n.inputs)
	return n
}

// cycles runs a network at a place, checks the outputs against the reference's and returns its cycles.
func (n *network) cycles(t *testing.T, at base.Place) int64 {
	t.Helper()
	r := require.V(n.Run(n.inputs, compile.RunOptions{Place: at}))(t)
	defer r.Release()
	for i := range n.want {
		if got, _ := r.Output(i); !bytes.Equal(got, n.want[i]) {
			t.Fatalf("output %d differs", i)
		}
	}
	return r.Stats().Cycles
}

// TestParametersStay: an execution that follows one of the same program on an engine finds its parameters on chip, though
// the engine has slept and the host has let go of its memory; one behind another program, or on no engine, loads
// them.
func TestParametersStay(t *testing.T) {
	d := keeping(t, 8<<20)
	a, b := lowered(t, d, "mobilenet_v1_0.25_128_quant"), lowered(t, d, "mlperf_tiny_kws_quant")
	if a.prog.Enter == 0 || b.prog.Enter == 0 {
		t.Fatal("no parameters are kept")
	}
	synctest.Test(t, func(t *testing.T) {
		var caches base.Caches
		engine := base.Place{Memory: &coretest.Flat{}, Caches: &caches}
		first := a.cycles(t, engine)
		kept := a.cycles(t, engine)
		bytes := float64(len(a.prog.Consts))
		if load := bytes / 128; float64(first-kept) < load { // both ends move no more than 128 bytes per cycle
			t.Errorf("%d cycles with the load of %.0f bytes, %d without", first, bytes, kept)
		}
		if program, fingerprint := caches.State(); program == nil || fingerprint == 0 {
			t.Error("nothing says that parameters are kept")
		}
		if n := a.cycles(t, engine); n != kept {
			t.Errorf("%d cycles, then %d", kept, n)
		}
		caches.Reset()
		if n := a.cycles(t, engine); n != kept {
			t.Errorf("%d cycles behind sleep, %d before", n, kept)
		}
		time.Sleep(2 * idle.Time)
		synctest.Wait()
		if n := a.cycles(t, engine); n != kept {
			t.Errorf("%d cycles when the host has let go, %d before", n, kept)
		}
		b.cycles(t, engine)
		if n := a.cycles(t, engine); n != first {
			t.Errorf("%d cycles behind another program, %d at first", n, first)
		}
		for range 2 {
			if n := a.cycles(t, base.Place{}); n < first-first/10 {
				t.Errorf("%d cycles on no engine, %d at first", n, first)
			}
		}
	})
}

// TestParametersFit: as many parameters stay as fit beside the activations.
func TestParametersFit(t *testing.T) {
	for _, c := range []struct {
		kib       int
		some, all bool
	}{{64, false, false}, {400, true, false}, {1024, true, true}} {
		n := lowered(t, keeping(t, c.kib<<10), "mobilenet_v1_0.25_128_quant")
		n.cycles(t, base.Place{})
		size := n.prog.Sizes[layout.RegionArena]
		if (n.prog.Enter > 0) != c.some || size > c.kib<<10 {
			t.Errorf("%d KiB: parameters of %d words of commands, %d bytes in use", c.kib, n.prog.Enter, size)
		}
		engine := base.Place{Memory: &coretest.Flat{}, Caches: &base.Caches{}}
		n.cycles(t, engine)
		r := require.V(n.Run(n.inputs, compile.RunOptions{Place: engine}))(t)
		weights := int64(n.prog.EncodedWeights)
		read, s := int64(0), r.Stats()
		for i := range s.Operations {
			read += s.Operations[i].DRAMBytes
		}
		if (read < weights/2) != c.all {
			t.Errorf("%d KiB: %d bytes of DRAM of an execution, weights have %d", c.kib, read, weights)
		}
		r.Release()
	}
}
