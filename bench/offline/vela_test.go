package offline_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// page has the tables that these tests hold.
const page = "../../docs/EthosUTiming.md"

// row is a comparison as a row of a table.
func row(network string, c *offline.Comparison) string {
	return fmt.Sprintf("| %s | %s | %d | %d | %.3f | %d | %d | %d | %d |", network, c.Accelerator, c.Vela.Cycles, c.Own.Cycles, c.Ratio(),
		c.Vela.ConstantBytes, c.Own.ConstantBytes, c.Vela.SRAMBytes, c.Own.SRAMBytes)
}

// given is a network of the shared ones.
func given(t *testing.T, name string) *nn.Model {
	t.Helper()
	data := require.File(t, shared.Path(t, "models", name, "model.tflite"))
	m := require.V(tflite.Import(data, nil))(t)
	return m
}

// TestStreamsAlike holds the streams of a network whose activations exceed the memory on chip of U65
// against Vela's of one with other weights: never more than 1.2 times the cycles.
func TestStreamsAlike(t *testing.T) {
	const network = "tf2_mobilenet_v2_1.0_224_ptq"
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "ethosu", "fvp", "mobilenet_v2_1.0_224_int8"), "*_vela.tflite"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	m := given(t, network)
	var rows []string
	for _, path := range files {
		file := require.File(t, path)
		c := require.V(offline.CompareStructure(file, m, soc.Load))(t, path)
		require.Check(t, c.Ratio() <= 1.2, "%s: %.3f of Vela's cycles", path, c.Ratio())
		rows = append(rows, row(network, c))
	}
	doctable.Check(t, page, "| network alike | accelerator | cycles, Vela | here | ratio | constants, Vela | here | SRAM, Vela | here |", rows)
}

// TestStreams holds the driver's streams against Vela's: the same outputs, constants no larger, no
// more cycles on at least half of the files and never more than 1.2 times.
func TestStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared.Path(t, "ethosu", "networks"), "*", "*", "*_vela.tflite"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var rows []string
	within, logs := 0, 0.0
	for _, path := range files {
		file := require.File(t, path)
		network := filepath.Base(filepath.Dir(filepath.Dir(path)))
		c := require.V(offline.Compare(file, given(t, network), soc.Load))(t, path)
		require.Check(t, c.Different == 0 && c.Elements != 0, "%s: %d of %d elements differ", path, c.Different, c.Elements)
		if c.Own.ConstantBytes > c.Vela.ConstantBytes {
			t.Errorf("%s: %d bytes of constants, Vela %d", path, c.Own.ConstantBytes, c.Vela.ConstantBytes)
		}
		require.Check(t, c.Ratio() <= 1.2, "%s: %.3f of Vela's cycles", path, c.Ratio())
		if c.Ratio() <= 1 {
			within++
		}
		logs += math.Log(c.Ratio())
		rows = append(rows, row(network, c))
	}
	require.Check(t, 2*within >= len(files), "%d of %d need no more cycles than Vela's", within, len(files))
	doctable.Check(t, page, "| network | accelerator | cycles, Vela | here | ratio | constants, Vela | here | SRAM, Vela | here |", rows)
	text := require.File(t, page)
	sum := fmt.Sprintf("%d of %d need no more cycles than Vela's, geometric mean %.3f.", within, len(files), math.Exp(logs/float64(len(files))))
	require.Check(t, strings.Contains(string(text), sum), "%s does not say: %s", page, sum)
}
