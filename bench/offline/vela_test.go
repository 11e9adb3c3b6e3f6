package offline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestStreams holds the driver's streams against Vela's: the same outputs, constants no larger, no
// more cycles on at least half of the files and never more than 1.2 times.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "ethosu", "networks"), "*", "*", "*_vela.tflite"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	const page = "../../docs/EthosUTiming.md"
	var rows []string
	within, logs := 0, 0.0
	for _, path := range files {
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		network := filepath.Base(filepath.Dir(filepath.Dir(path)))
		data, err := os.ReadFile(shared.Path(t, "models", network, "model.tflite"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := tflite.Import(data, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := offline.Compare(file, m, soc.Load)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if c.Different != 0 || c.Elements == 0 {
			t.Errorf("%s: %d of %d elements differ", path, c.Different, c.Elements)
		}
		if c.Own.ConstantBytes > c.Vela.ConstantBytes {
			t.Errorf("%s: %d bytes of constants, Vela %d", path, c.Own.ConstantBytes, c.Vela.ConstantBytes)
		}
		if c.Ratio() > 1.2 {
			t.Errorf("%s: %.3f of Vela's cycles", path, c.Ratio())
		}
		if c.Ratio() <= 1 {
			within++
		}
		logs += math.Log(c.Ratio())
		rows = append(rows, fmt.Sprintf("| %s | %s | %d | %d | %.3f | %d | %d | %d | %d |", network, c.Accelerator, c.Vela.Cycles, c.Own.Cycles, c.Ratio(),
			c.Vela.ConstantBytes, c.Own.ConstantBytes, c.Vela.SRAMBytes, c.Own.SRAMBytes))
	}
	if 2*within < len(files) {
		t.Errorf("%d of %d take no more cycles than Vela's", within, len(files))
	}
	doctable.Hold(t, page, "| network | accelerator | cycles, Vela | here | ratio | constants, Vela | here | SRAM, Vela | here |", rows)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%d of %d take no more cycles than Vela's, geometric mean %.3f.", within, len(files), math.Exp(logs/float64(len(files))))
	if !strings.Contains(string(text), sum) {
		t.Errorf("%s does not say: %s", page, sum)
	}
}
