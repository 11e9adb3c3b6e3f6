package base

import (
	"os"
	"time"

	"github.com/nnsoc/nnsoc/hal"
)

// compiling is the cost of a driver's compiler on the CPU of the phone (assumed, D-982).
type compiling struct {
	call      time.Duration // a prepareModel of nothing
	operation time.Duration // of the canonical graph: passes, choice of kernels, code
	constant  float64       // ns per byte of constants: packing
	program   float64       // ns per byte of the program: placement, copying to the device
}

// compilers says how long compiling takes by kind of device: a GPU's compiles kernels, an NPU's encodes
// weights, a DSP's packs them, the CPU's library packs some.
var compilers = map[hal.DeviceType]compiling{
	hal.DeviceCPU:         {call: 200 * time.Microsecond, operation: 5 * time.Microsecond, constant: 0.5},
	hal.DeviceGPU:         {call: 5 * time.Millisecond, operation: 2 * time.Millisecond, constant: 1, program: 0.5},
	hal.DeviceAccelerator: {call: 5 * time.Millisecond, operation: 500 * time.Microsecond, constant: 5, program: 0.5},
	hal.DeviceOther:       {call: 5 * time.Millisecond, operation: 300 * time.Microsecond, constant: 2, program: 0.5},
}

// Files of a compilation cache: a GB/s to write, two to read and check (assumed, D-982).
const (
	saveNsPerByte = 1.0
	loadNsPerByte = 0.5
)

// compileFs is the time of compiling a model.
func (d *Device) compileFs(p *prepared) int64 {
	c := compilers[d.cfg.Type]
	operations, program := len(p.model.Main.Operations), 0
	if s, ok := p.program.(Sized); ok {
		operations, program = s.Size()
	}
	constants := 0
	for g := range p.original.Subgraphs() {
		for i := range g.Operands {
			constants += len(g.Operands[i].Data)
		}
	}
	const fsPerNs = 1e6
	fixed := c.call + time.Duration(operations)*c.operation
	return int64(fixed)*fsPerNs + int64((c.constant*float64(constants)+c.program*float64(program))*fsPerNs)
}

// cacheFs is the time of reading or writing the files of a cache, by their size.
func cacheFs(c *hal.Cache, nsPerByte float64) int64 {
	bytes := int64(0)
	for _, list := range [][]hal.CacheHandle{c.Model, c.Data} {
		for _, h := range list {
			for _, f := range h {
				bytes += size(f)
			}
		}
	}
	return int64(nsPerByte * 1e6 * float64(bytes))
}

// size is the size of a file; 0 when it is unknown.
func size(f hal.CacheFile) (bytes int64) {
	if x, ok := f.(interface{ Stat() (os.FileInfo, error) }); ok {
		if info, err := x.Stat(); err == nil {
			bytes = info.Size()
		}
	}
	return bytes
}

// prepareUntil lets the time of preparing pass on the machine's clock, at most until the
// deadline, at which the driver gives up.
func (d *Device) prepareUntil(p *prepared, fs int64, deadline *hal.TimePoint) error {
	start := d.clock.NowFs()
	end := start + fs
	if deadline != nil && hal.TimePoint((end+999_999)/1e6) > *deadline {
		d.clock.AdvanceTo(int64(*deadline) * 1e6)
		return hal.Errorf(hal.MissedDeadlineTransient, "%s driver: preparing the model would end at %v, after its deadline %v",
			d.cfg.Name, instant(hal.TimePoint(end/1e6)), instant(*deadline))
	}
	d.clock.AdvanceTo(end)
	p.preparedFs = fs
	return nil
}

// PreparedFs implements hal.Preparing.
func (p *prepared) PreparedFs() int64 { return p.preparedFs }
