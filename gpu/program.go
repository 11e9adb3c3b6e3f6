package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/decode"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// program is a kernel decoded for one machine. It does not change, so that runs
// share it.
type program struct {
	state.Program
	k      *Kernel
	timed  []timed
	touch  []touched // of the operation, and of all vector ones up to the next of another kind if it is one
	vector []bool    // of the operation: it works on lanes
	flops  []uint8   // of a lane
	latest int64     // longest latency of a vector instruction

	timeless bool // what it computes does not depend on the time
	spec     Spec // it was decoded for
}

const maxCode = 8 << 20

// program is the kernel decoded for a machine: the form that an earlier run has
// left, or a new one. Runs that decode it at the same time make the same.
func (k *Kernel) program(spec *Spec) (*program, error) {
	if p := k.decoded.Load(); p != nil && p.spec == *spec {
		return p, nil
	}
	p, err := decodeKernel(k, spec)
	if err == nil {
		k.decoded.Store(p)
	}
	return p, err
}

func decodeKernel(k *Kernel, spec *Spec) (*program, error) {
	fail := func(format string, args ...any) (*program, error) {
		return nil, fmt.Errorf("gpu: kernel %s: %w", k.Name, fmt.Errorf(format, args...))
	}
	switch {
	case k.WaveSize != 32 && k.WaveSize != 64:
		return fail("wave size %d, want 32 or 64", k.WaveSize)
	case k.VGPRs < 1 || k.VGPRs > 256:
		return fail("%d vector registers, want 1..256", k.VGPRs)
	case len(k.Code) == 0 || len(k.Code)%4 != 0 || len(k.Code) > maxCode:
		return fail("%d bytes of code, want a multiple of 4 up to %d", len(k.Code), maxCode)
	case k.Entry < 0 || k.Entry >= len(k.Code) || k.Entry%4 != 0:
		return fail("entry %#x outside the code", k.Entry)
	case k.LDSBytes < 0 || k.LDSBytes > spec.LDSBytes || k.LDSBytes > 64<<10:
		return fail("%d bytes of LDS, the machine has %d", k.LDSBytes, spec.LDSBytes)
	case k.ScratchBytes < 0 || k.ScratchBytes > 64<<10:
		return fail("%d bytes of scratch per lane, at most %d", k.ScratchBytes, 64<<10)
	case k.WorkItemIDs < 0 || k.WorkItemIDs > 2 || k.WorkItemIDs >= k.VGPRs:
		return fail("work-item id selector %d with %d registers", k.WorkItemIDs, k.VGPRs)
	}
	p := &program{k: k, spec: *spec}
	p.Name, p.WaveSize, p.VGPRs, p.ScratchBytes = k.Name, k.WaveSize, k.VGPRs, k.ScratchBytes
	if err := decode.Program(&p.Program, k.Code, k.Entry); err != nil {
		return fail("%w", err)
	}
	p.schedule(spec)
	p.timeless = p.isTimeless()
	return p, nil
}
