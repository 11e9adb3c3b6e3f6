package devices_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/cputime"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// prepareAllowance is the user CPU for preparing a network beyond one execution of it in
// cycle mode.
const prepareAllowance = 50 * time.Millisecond

// BenchmarkPrepare prepares each network that runs on a device as a whole, on a device
// that has prepared nothing yet, and executes it in cycle mode. It reports the
// user CPU of both and preparing as a part of its budget: an execution and
// prepareAllowance.
func BenchmarkPrepare(b *testing.B) {
	files := shared.Glob(b, "models", "*", "model.tflite")
	for _, preset := range []string{"pixel4", "sd888"} {
		phone := require.V(soc.Load(preset))(b)
		for _, name := range []string{"cpu", "gpu", "dsp", "npu"} {
			for _, file := range files {
				data := require.File(b, file)
				m, err := tflite.Import(data, nil)
				if err != nil {
					continue // not a network of NNAPI's operations
				}
				d := openDevice(b, phone, name)
				if d == nil || !runsWhole(d, m) {
					continue
				}
				b.Run(preset+"/"+name+"/"+filepath.Base(filepath.Dir(file)), func(b *testing.B) {
					var prepare, execute time.Duration
					for b.Loop() {
						p, e := prepareAndExecute(b, openDevice(b, phone, name), m)
						prepare, execute = prepare+p, execute+e
					}
					n := float64(b.N) * 1e6
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(prepare)/n, "prepare-ms")
					b.ReportMetric(float64(execute)/n, "execute-ms")
					b.ReportMetric(float64(prepare)/float64(execute+time.Duration(b.N)*prepareAllowance), "prepare/budget")
				})
			}
		}
	}
}

// openDevice is a device of a SoC, nil where there is none of that name.
func openDevice(b *testing.B, phone *soc.Config, name string) hal.Device {
	list := require.V(devices.Open(phone, hal.FastSingleAnswer))(b)
	for _, d := range list {
		if d.Name() == name {
			return d
		}
	}
	return nil
}

// runsWhole reports whether a device supports all operations of a network.
func runsWhole(d hal.Device, m *nn.Model) bool {
	list, err := d.SupportedOperations(m)
	return err == nil && !slices.ContainsFunc(list, func(s hal.Support) bool { return !s.OK })
}

// prepareAndExecute is the user CPU of preparing a model and of executing it on zeros.
func prepareAndExecute(b *testing.B, d hal.Device, m *nn.Model) (prepare, execute time.Duration) {
	start := cputime.User()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(b)
	prepared := cputime.User()
	x := &hal.Buffers{}
	for _, i := range m.Main.Inputs {
		x.Inputs = append(x.Inputs, make([]byte, m.Main.Operands[i].Bytes()))
	}
	for _, i := range m.Main.Outputs {
		x.Outputs = append(x.Outputs, make([]byte, m.Main.Operands[i].Bytes()))
	}
	require.V(hal.Execute(p, x))(b)
	return prepared - start, cputime.User() - prepared
}
