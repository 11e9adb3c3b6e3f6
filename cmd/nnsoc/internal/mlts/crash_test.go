package mlts

import (
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWorkersHaveTheSoC: processes of crash tests simulate the requested SoC, and abandon a driver when this process
// would.
func TestWorkersHaveTheSoC(t *testing.T) {
	a := &cli.App{SoC: "xclipse920", DriverTimeout: 90 * time.Second, Set: []string{"dram.mt_per_s=3733", "npu.hz=1"}}
	const want = "nnsoc mlts crash-worker --soc xclipse920 --driver-timeout 1m30s --set dram.mt_per_s=3733 --set npu.hz=1"
	require.Same(t, want, strings.Join(workerCommand(a, "nnsoc")().Args, " "))
}
