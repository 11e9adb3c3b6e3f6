package mlts

import (
	"errors"
	"fmt"
)

// Inference is the cost of an inference of a model on a device that computes all of it.
type Inference struct {
	MeanSec, EnergyUJ float64
	// Skipped is why nothing was measured: the device leaves operations to the CPU.
	Skipped string
}

// errTimed ends a pass through a test set when enough inputs have been executed.
var errTimed = errors.New("enough inputs are timed")

// Inference measures a model through the loops of the app without judging its outputs: the basis of the figures of
// getCapabilities. relaxed lets float32 be computed in half precision.
func (b *Benchmark) Inference(m *Model, device string, relaxed bool) (Inference, error) {
	w, err := b.List.open(m)
	if err != nil {
		return Inference{}, fmt.Errorf("%s: %w", m.TestName, err)
	}
	x, err := b.inference(w, backend{BackendNNAPI, device, relaxed})
	if err != nil {
		return x, fmt.Errorf("%s on %s: %w", m.TestName, device, err)
	}
	return x, nil
}

func (b *Benchmark) inference(w *work, x backend) (Inference, error) {
	net, c, err := b.compile(w, x)
	if err != nil {
		return Inference{}, err
	}
	cpu, all := b.Registry.CPU().Name(), len(net.Main.Operations)
	if n := c.Accelerated(cpu); x.device != cpu && n < all {
		return Inference{Skipped: fmt.Sprintf("%s supports %d of %d operations%s", x.device, n, all, firstReason(c))}, nil
	}
	var turns []func() (iteration, error)
	err = w.pass(func(_, _ int, inputs [][]byte, _ *Input) ([][]byte, error) {
		if len(turns) == maxTimed {
			return nil, errTimed
		}
		res, next, err := b.first(c, inputs)
		if err != nil {
			return nil, err
		}
		turns = append(turns, next)
		return res.Outputs, nil
	})
	if err != nil && !errors.Is(err, errTimed) {
		return Inference{}, err
	}
	l, energy, _, err := b.loop(turns)
	if err != nil {
		return Inference{}, err
	}
	return Inference{MeanSec: l.MeanSec, EnergyUJ: energy}, nil
}
