package machine

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// TestUnregistrable: a driver that Android's runtime would leave out is named with the reason.
func TestUnregistrable(t *testing.T) {
	nan := hal.PerformanceInfo{ExecTime: float32(math.NaN()), PowerUsage: 1}
	for want, spoil := range map[string]func(d *check.Odd){
		"":                                      func(*check.Odd) {},
		"no version":                            func(d *check.Odd) { d.VersionIs = "" },
		"no type":                               func(d *check.Odd) { d.TypeIs = 0 },
		"a compilation cache of 33 and 0 files": func(d *check.Odd) { d.Files = [2]int{33, 0} },
		"capabilities of WHILE: time 1 and power 0":                    func(d *check.Odd) { d.Caps.While = hal.PerformanceInfo{ExecTime: 1} },
		"capabilities of TENSOR_FLOAT32: time NaN and power 1, want a": func(d *check.Odd) { d.Caps.Update(nn.TensorFloat32, nan) },
		`extension "good"`: func(d *check.Odd) { d.Extensions = []hal.Extension{{Name: "good"}} },
		"extension org.example.good twice": func(d *check.Odd) {
			d.Extensions = []hal.Extension{{Name: "org.example.good"}, {Name: "org.example.good"}}
		},
	} {
		d := check.NewOdd()
		spoil(d)
		there, stop := require.V2(service.Loopback(d))(t)
		_, err := connect(&cli.App{Drivers: []string{there.Socket()}, DriverTimeout: time.Minute}, nil, nil, nil)
		stop()
		if (err == nil) != (want == "") || err != nil && (cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
