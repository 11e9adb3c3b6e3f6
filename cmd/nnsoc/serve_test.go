package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A driver in a separate process replaces the device of its name, by its socket and by the folder of sockets; an
// interrupt ends it and removes the socket.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "npu")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	server := newRoot(&out, io.Discard)
	server.SetArgs([]string{"serve", "--device", "npu", "--socket", socket, "-q"})
	done := make(chan error, 1)
	go func() { done <- server.ExecuteContext(ctx) }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no socket")
		}
	}
	for _, flag := range [][]string{{"--driver", socket}, {"--drivers", dir}} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"bench", "gemm", "--device", "npu", "--type", "u8", "--size", "32", "-q"}, flag...)
		if code := execute(args, &stdout, &stderr); code != 0 || !strings.Contains(stdout.String(), "32") {
			t.Errorf("%v: code %d, %s%s", args, code, stdout.String(), stderr.String())
		}
	}
	var stderr bytes.Buffer
	if code := execute([]string{"devices", "--driver", socket, "--drivers", dir, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "serves a device npu, and so does --driver") {
		t.Errorf("two drivers of one name: code %d, %s", code, stderr.String())
	}
	if again := filepath.Join(dir, "npu2"); os.Link(socket, again) == nil {
		stderr.Reset()
		if code := execute([]string{"devices", "--drivers", dir, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "--drivers "+again+" serves a device npu, and so does --drivers "+socket) {
			t.Errorf("two sockets of one name in a folder: code %d, %s", code, stderr.String())
		}
		_ = os.Remove(again)
	}
	stderr.Reset()
	gone := require.V(net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "gone"), Net: "unix"}))(t)
	gone.SetUnlinkOnClose(false) // as a driver that is killed leaves it
	_ = gone.Close()
	if code := execute([]string{"devices", "--drivers", dir, "-q"}, io.Discard, &stderr); code != cli.ExitOK || !strings.Contains(stderr.String(), "warning") || !strings.Contains(stderr.String(), "gone") {
		t.Errorf("a dead socket in a folder: code %d, %s", code, stderr.String())
	}
	stderr.Reset()
	if code := execute([]string{"serve", "--device", "npu", "--socket", socket, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "already") {
		t.Errorf("a second driver on the socket: code %d, %s", code, stderr.String())
	}
	cancel()
	require.Report(t, <-done)
	require.Fails(t, require.Err(os.Stat(socket)), "the socket is still there")
	require.Check(t, strings.Contains(out.String(), "npu serves"), "printed %q", out.String())
	stderr.Reset()
	if code := execute([]string{"devices", "--driver", socket, "-q"}, io.Discard, &stderr); code != cli.ExitUsage || !strings.Contains(stderr.String(), "--driver") {
		t.Errorf("a driver that is gone: code %d, %s", code, stderr.String())
	}
}

// TestWaysOfANetwork: "run", "run --driver", devices.Open and devices.Machine agree in latency and energy, on all
// engines and for a quantized and a float network of convolutions, one for keywords and one of LSTMs. A driver behind a
// socket differs by its memory, which the report declares missing and which is cold (D-1201).
func TestWaysOfANetwork(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	ways := []struct{ network, devices string }{
		{"mobilenet_v1_0.25_128_quant", "gpu,dsp,npu"}, {"mlperf_tiny_kws_quant", "dsp,npu"}, {"mlperf_tiny_kws_float", "gpu"}, {"asr_float", "gpu"},
	}
	if testing.Short() {
		ways[0].devices = "dsp,npu"
		ways = ways[:3]
	}
	for _, x := range ways {
		model := require.V(zoo.Build(x.network))(t)
		for device := range strings.SplitSeq(x.devices, ",") {
			of := func(list []hal.Device) hal.Device {
				return list[slices.IndexFunc(list, func(d hal.Device) bool { return d.Name() == device })]
			}
			measure := func(d hal.Device, m *devices.Machine) (r energyRun) {
				p, err := d.PrepareModel(model, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
				require.NoError(t, err)
				b := &hal.Buffers{}
				for _, x := range model.Main.Inputs {
					b.Inputs = append(b.Inputs, make([]byte, model.Main.Operands[x].Bytes()))
				}
				for _, x := range model.Main.Outputs {
					b.Outputs = append(b.Outputs, make([]byte, model.Main.Operands[x].Bytes()))
				}
				f := func() error {
					res, err := hal.Execute(p, b)
					if err == nil {
						r = energyRun{LatencyUS: float64(res.Stats.LatencyFs) / 1e9, EnergyUJ: res.Stats.EnergyPJ / 1e6}
					}
					return err
				}
				if m != nil {
					err = m.Warm(f)
				} else {
					err = f()
				}
				require.NoError(t, err)
				return r
			}
			list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
			m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
			there, stop := require.V2(service.Loopback(of(list)))(t)
			run := func(args ...string) energyRun {
				var all struct{ Runs []energyRun }
				commandJSON(t, &all, append([]string{"run", x.network, "--device", device}, args...)...)
				return all.Runs[0]
			}
			want, first := run(), run("--invocations", "1") // the clock of a governor may rise and fall after that
			for way, x := range map[string]struct {
				energyRun
				as               energyRun
				within, withinPJ float64
			}{
				"Open": {measure(of(list), nil), first, 0.003, 0.004}, "Machine": {measure(of(m.Devices()), m), first, 0.002, 0.002},
				"run --driver": {run("--driver", there.Socket(), "--invocations", "10"), want, 0.1, 0.1}, // each is simulated
			} {
				if !(math.Abs(x.LatencyUS/x.as.LatencyUS-1) <= x.within) || !(math.Abs(x.EnergyUJ/x.as.EnergyUJ-1) <= x.withinPJ) {
					t.Errorf("%s on the %s: run has %.1f us, %.1f uJ, %s %.1f and %.1f", model.Name, device, x.as.LatencyUS, x.as.EnergyUJ, way, x.LatencyUS, x.EnergyUJ)
				}
			}
			if out := new(bytes.Buffer); x.network != "mlperf_tiny_kws_quant" {
				// reported once
			} else if code := execute([]string{"run", x.network, "--device", device, "--driver", there.Socket(), "-q"}, out, io.Discard); code != cli.ExitOK || !strings.Contains(out.String(), "cold when an execution begins") {
				t.Errorf("code %d, the report does not say what is missing:\n%s", code, out.String())
			}
			stop()
		}
	}
}

// A driver whose process ends while it executes, or that fails an execution, loses its own row; the others keep theirs.
func TestDriverEnds(t *testing.T) {
	for _, device := range []string{"faulty:exit@npu", "faulty:fail@npu"} {
		testDriverEnds(t, device, "cpu,"+device+",dsp", "cpu ok\n"+device+" failed\ndsp ok\n")
		testDriverEnds(t, device, device, device+" failed\n")
	}
}

func testDriverEnds(t *testing.T, device, devices, want string) {
	self := require.V(os.Executable())(t)
	dir := t.TempDir()
	command, socket := filepath.Join(dir, "nnsoc"), filepath.Join(dir, "driver") // TestMain runs main by this name
	if err := os.Symlink(self, command); err != nil {
		t.Skipf("skipped: needs symbolic links: %v", err)
	}
	server := exec.Command(command, "serve", "--device", device, "--socket", socket, "-q")
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no socket")
		}
	}
	if device == devices && strings.Contains(device, "fail") {
		beside := exec.Command(command, "run", "mlperf_tiny_kws_quant", "mlperf_tiny_ad_quant", "--concurrent", "--driver", socket, "--device", device+",cpu", "-q")
		if out, _ := beside.CombinedOutput(); beside.ProcessState.ExitCode() != cli.ExitMismatch || strings.Count(string(out), "kws_quant on "+device) != 1 {
			t.Errorf("code %d: %s", beside.ProcessState.ExitCode(), out)
		}
	}
	run := exec.Command(command, "run", "mobilenet_v1_0.25_128_quant", "--driver", socket, "--device", devices, "--json", "-q")
	var stderr bytes.Buffer
	run.Stderr = &stderr
	out, _ := run.Output()
	if code := run.ProcessState.ExitCode(); code != cli.ExitMismatch || !strings.Contains(stderr.String(), device) {
		t.Errorf("code %d, %s", code, stderr.String())
	}
	var report struct {
		Runs []struct{ Device, Status, Error string }
	}
	require.NoError(t, json.Unmarshal(out, &report))
	got := ""
	for _, r := range report.Runs {
		got += r.Device + " " + r.Status + "\n"
		require.Check(t, (r.Error != "") == (r.Device == device), "%s: error %q", r.Device, r.Error)
	}
	require.Check(t, got == want, "rows\n%swant\n%s", got, want)
}

// TestSilentDrivers: --driver-timeout bounds the wait for a driver that accepts a connection and never answers.
func TestSilentDrivers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l := require.V(net.Listen("unix", path))(t)
	defer l.Close()
	for _, flag := range [][]string{{"--driver", path}, {"--drivers", filepath.Dir(path)}} {
		var out, errs bytes.Buffer
		code := execute(append(flag, "devices", "--driver-timeout", "100ms"), &out, &errs)
		if code != cli.ExitUsage || !strings.Contains(errs.String(), "does not answer within 100ms") {
			t.Errorf("%v: exit code %d, %s", flag, code, errs.String())
		}
	}
}
