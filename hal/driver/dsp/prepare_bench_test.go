package dsp

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tflite"
)

// prepareAllowance is the user CPU that preparing a network may take beyond one
// execution of it in cycle mode.
const prepareAllowance = 50 * time.Millisecond

// BenchmarkPrepare prepares each network that runs on the DSP as a whole on a device
// that knows no kernel yet, and executes it in cycle mode. It reports the user CPU of both and
// how far preparing is beyond its budget: an execution and prepareAllowance.
func BenchmarkPrepare(b *testing.B) {
	files, _ := filepath.Glob(filepath.Join(sharedDir(), "models", "*", "model.tflite"))
	if len(files) == 0 {
		b.Skip("skipped: needs shared data")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		m, err := tflite.Import(data, nil)
		if err != nil {
			continue
		}
		cfg := device(b).cfg
		if _, err := device(b).PrepareModel(m, hal.PrepareOptions{}); err != nil {
			continue
		}
		b.Run(strings.ReplaceAll(filepath.Base(filepath.Dir(file)), "/", "_"), func(b *testing.B) {
			var prepare, execute time.Duration
			for b.Loop() {
				d, err := New(cfg)
				if err != nil {
					b.Fatal(err)
				}
				start := userTime(b)
				p, err := d.PrepareModel(m, hal.PrepareOptions{})
				if err != nil {
					b.Fatal(err)
				}
				prepared := userTime(b)
				var in [][]byte
				for _, x := range m.Main.Inputs {
					in = append(in, make([]byte, m.Main.Operands[x].Bytes()))
				}
				if _, err := p.Execute((&hal.Buffers{Inputs: in, Outputs: outputs(m)}).Request(), hal.ExecuteOptions{}); err != nil {
					b.Fatal(err)
				}
				prepare += prepared - start
				execute += userTime(b) - prepared
			}
			n := float64(b.N) * 1e6
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(prepare)/n, "prepare-ms")
			b.ReportMetric(float64(execute)/n, "execute-ms")
			b.ReportMetric(float64(prepare)/float64(execute+time.Duration(b.N)*prepareAllowance), "prepare/budget")
		})
	}
}

// userTime is the user CPU of the process.
func userTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}
