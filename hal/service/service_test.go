//go:build linux

package service_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/hal/service/shm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// clientSocket makes the test binary a client that works until it is killed.
const clientSocket = "NNSOC_TEST_SERVICE_CLIENT"

func TestMain(m *testing.M) {
	if path := os.Getenv(clientSocket); path != "" {
		client(path)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// client prepares, executes and opens bursts for ever.
func client(path string) {
	for {
		d, err := service.Dial(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		p, err := d.PrepareModel(add(), hal.PrepareOptions{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		b, err := p.ConfigureExecutionBurst()
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		for i := range 100 {
			r := request(float32(i))
			if _, err := b.Execute(r.Request(), hal.ExecuteOptions{}); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			if _, err := hal.Execute(p, r); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	}
}

// add is a model of one ADD of four floats and a constant.
func add() *nn.Model {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}}), "x")
	b.Output(b.Apply(nn.OpAdd, nn.TensorFloat32, builder.Quant{}, x, b.Floats([]uint32{4}, 1, 2, 3, 4), b.Int32(0)), "y")
	m, err := b.Model("add")
	if err != nil {
		panic(err)
	}
	return m
}

// request is for x, x, x, x plus the constant.
func request(x float32) *hal.Buffers {
	b := &hal.Buffers{Inputs: [][]byte{make([]byte, 16)}, Outputs: [][]byte{make([]byte, 16)}}
	for i := range 4 {
		binary.LittleEndian.PutUint32(b.Inputs[0][4*i:], math.Float32bits(x))
	}
	b.Functional = true
	return b
}

// check compares the outputs of a request.
func check(t testing.TB, x float32, out []byte) {
	t.Helper()
	for i := range 4 {
		if y := math.Float32frombits(binary.LittleEndian.Uint32(out[4*i:])); y != x+float32(i+1) {
			t.Fatalf("output %d is %v, want %v", i, y, x+float32(i+1))
		}
	}
}

func device() hal.Device { return cpudriver.New(cpudriver.Config{}) }

// timed is a device whose executions have simulated time, as those of bursts do.
func timed(t testing.TB) hal.Device {
	t.Helper()
	phone := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(phone, hal.FastSingleAnswer))(t)
	return list[0]
}

// serve starts a server for a device.
func serve(t testing.TB, d hal.Device, q service.Quotas) (*service.Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l := require.V(service.Listen(path))(t)
	s := service.NewServer(d, q)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		require.Report(t, <-done)
	})
	return s, path
}

func dial(t testing.TB, path string) *service.Device {
	t.Helper()
	d := require.V(service.Dial(path))(t)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// A device in another process answers what the device itself answers.
func TestDevice(t *testing.T) {
	here := timed(t)
	_, path := serve(t, here, service.Quotas{})
	there := dial(t, path)
	if there.Name() != here.Name() || there.Version() != here.Version() || there.Type() != here.Type() || there.Description() != here.Description() {
		t.Errorf("%s %s %s", there.Name(), there.Version(), there.Description())
	}
	a, b := here.Capabilities(), there.Capabilities()
	if fmt.Sprint(a.OperandPerformance()) != fmt.Sprint(b.OperandPerformance()) || a.If != b.If || a.RelaxedTensor != b.RelaxedTensor {
		t.Errorf("capabilities %+v, want %+v", b, a)
	}
	require.Same(t, hal.DeviceAvailable, there.Status(), "status")
	p := require.V(there.PrepareModel(add(), hal.PrepareOptions{Preference: hal.FastSingleAnswer}))(t)
	r := request(7)
	res := require.V(hal.Execute(p, r))(t)
	check(t, 7, r.Outputs[0])
	require.Check(t, len(res.OutputDimensions) == 1 && res.OutputDimensions[0][0] == 4, "shapes %v", res.OutputDimensions)
	var listing, program bytes.Buffer
	if err := p.WriteProgram(&program); err != nil || program.Len() == 0 {
		t.Errorf("program: %v", err)
	}
	_ = p.WriteListing(&listing)

	e := require.V(p.CreateReusableExecution(r.Request(), r.ExecuteOptions))(t)
	for range 2 {
		require.Report(t, require.Err(e.Compute()))
	}
	fence := hal.NewSyncFence()
	f := require.V(p.ExecuteFenced(r.Request(), []*hal.SyncFence{fence}, r.ExecuteOptions, 0))(t)
	if _, err := f.ExecutionInfo(); hal.StatusOf(err) != hal.GeneralFailure {
		t.Errorf("before its end: %v", err)
	}
	fence.Signal(0, nil)
	<-f.Fence.Done()
	if info, err := f.ExecutionInfo(); err != nil || info.Result == nil {
		t.Errorf("%+v, %v", info, err)
	}
}

// Random models give the same bytes here and there, through calls and bursts.
func TestRandomModels(t *testing.T) {
	here := timed(t)
	_, path := serve(t, here, service.Quotas{})
	there := dial(t, path)
	generator := require.V(randgraph.NewGenerator(7, nil))(t)
	for seed := range 60 {
		c := require.V(generator.Case(seed, nil))(t)
		p, err := here.PrepareModel(c.Model, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(seed, err)
		}
		q, err := there.PrepareModel(c.Model, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(seed, err)
		}
		burst := require.V(q.ConfigureExecutionBurst())(t)
		buffers := func() *hal.Buffers {
			b := &hal.Buffers{Inputs: c.Inputs}
			for _, o := range c.Model.Main.Outputs {
				b.Outputs = append(b.Outputs, make([]byte, max(c.Model.Main.Operands[o].Bytes(), 1<<12)))
			}
			return b
		}
		want, got, fast := buffers(), buffers(), buffers()
		_, err1 := hal.Execute(p, want)
		_, err2 := hal.Execute(q, got)
		_, err3 := burst.Execute(fast.Request(), hal.ExecuteOptions{})
		if hal.StatusOf(err1) != hal.StatusOf(err2) || hal.StatusOf(err1) != hal.StatusOf(err3) {
			t.Fatalf("seed %d: %v here, %v there, %v in a burst", seed, err1, err2, err3)
		}
		for i := range want.Outputs {
			if !bytes.Equal(want.Outputs[i], got.Outputs[i]) || !bytes.Equal(want.Outputs[i], fast.Outputs[i]) {
				t.Fatalf("seed %d: output %d differs", seed, i)
			}
		}
		require.Report(t, burst.Close())
	}
}

// Shared memory is used in place; bursts name it by slot.
func TestSharedMemory(t *testing.T) {
	_, path := serve(t, timed(t), service.Quotas{})
	d := dial(t, path)
	p := require.V(d.PrepareModel(add(), hal.PrepareOptions{}))(t)
	m, release := require.V2(d.NewMemory(32))(t)
	defer release()
	copy(m.Data, request(3).Inputs[0])
	r := &hal.Request{
		Inputs:  []hal.RequestArgument{{Location: hal.DataLocation{Length: 16}}},
		Outputs: []hal.RequestArgument{{Location: hal.DataLocation{Offset: 16, Length: 16}}},
		Pools:   []hal.RequestPool{{Memory: m}},
	}
	b := require.V(p.ConfigureExecutionBurst())(t)
	defer func() { _ = b.Close() }()
	for range 3 {
		clear(m.Data[16:])
		require.V(b.Execute(r, hal.ExecuteOptions{}))(t)
		check(t, 3, m.Data[16:])
	}
	clear(m.Data[16:])
	require.V(p.Execute(r, hal.ExecuteOptions{}))(t)
	check(t, 3, m.Data[16:])
}

// A call that breaks a rule is refused by name, and the server continues.
func TestHostile(t *testing.T) {
	_, path := serve(t, timed(t), service.Quotas{Memory: 1 << 17, Prepared: 2, Bursts: 1})
	d := dial(t, path)
	if _, err := d.PrepareModel(nil, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("no model: %v", err)
	}
	bad := add()
	bad.Main.Operations[0].Inputs[0] = 99
	if _, err := d.PrepareModel(bad, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("a broken model: %v", err)
	}
	if _, err := d.SupportedOperations(bad); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("a broken model: %v", err)
	}
	if _, err := d.PrepareModel(add(), hal.PrepareOptions{Preference: 77}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("preference 77: %v", err)
	}
	if _, _, err := d.NewMemory(1 << 20); hal.StatusOf(err) != hal.ResourceExhaustedPersistent {
		t.Errorf("more memory than the quota: %v", err)
	}
	var models []hal.PreparedModel
	for range 2 {
		p := require.V(d.PrepareModel(add(), hal.PrepareOptions{}))(t)
		models = append(models, p)
	}
	if _, err := d.PrepareModel(add(), hal.PrepareOptions{}); hal.StatusOf(err) != hal.ResourceExhaustedTransient {
		t.Errorf("more models than the quota: %v", err)
	}
	p := models[0]
	r := request(1).Request()
	r.Inputs[0].Location.Offset = 1 << 30
	if _, err := p.Execute(r, hal.ExecuteOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("a location outside: %v", err)
	}
	r = request(1).Request()
	r.Inputs[0].Location.PoolIndex = 9
	if _, err := p.Execute(r, hal.ExecuteOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("a pool that is not there: %v", err)
	}
	short := request(1)
	short.Outputs[0] = short.Outputs[0][:8]
	require.Fails(t, require.Err(hal.Execute(p, short)), "a short output is taken")
	require.V(p.ConfigureExecutionBurst())(t)
	require.Fails(t, require.Err(p.ConfigureExecutionBurst()), "more bursts, or memory, than the quota")
	good := request(5)
	require.V(hal.Execute(p, good))(t)
	check(t, 5, good.Outputs[0])
	runtime.KeepAlive(models)
}

// A driver that ends is DEVICE_UNAVAILABLE for its clients, which continue.
func TestDriverDies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := require.V(service.Listen(path))(t)
	s := service.NewServer(timed(t), service.Quotas{})
	go func() { _ = s.Serve(l) }()
	d := dial(t, path)
	p := require.V(d.PrepareModel(add(), hal.PrepareOptions{}))(t)
	b := require.V(p.ConfigureExecutionBurst())(t)
	s.Close()
	if _, err := hal.Execute(p, request(1)); hal.StatusOf(err) != hal.DeviceUnavailable {
		t.Errorf("execute: %v", err)
	}
	require.Fails(t, require.Err(b.Execute(request(1).Request(), hal.ExecuteOptions{})), "a burst to nobody ends well")
	require.Same(t, hal.DeviceOffline, d.Status(), "status")
	if _, err := service.Dial(path); hal.StatusOf(err) != hal.DeviceUnavailable {
		t.Errorf("dial: %v", err)
	}
}

// Clients that are killed in the middle leave nothing behind.
func TestClientsDie(t *testing.T) {
	s, path := serve(t, timed(t), service.Quotas{})
	random := rand.New(rand.NewPCG(1, 2))
	kills := 12
	for range kills {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), clientSocket+"="+path)
		out := require.V(c.StdoutPipe())(t)
		require.NoError(t, c.Start())
		line := make([]byte, 64)
		n, _ := out.Read(line)
		if !strings.HasPrefix(string(line[:n]), "ready") {
			t.Errorf("client: %s", line[:n])
		}
		time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		held := s.Held()
		if held.Sessions == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("after %d kills: %+v", kills, held)
		}
	}
	d := dial(t, path)
	p := require.V(d.PrepareModel(add(), hal.PrepareOptions{}))(t)
	r := request(2)
	require.V(hal.Execute(p, r))(t)
	check(t, 2, r.Outputs[0])
}

// A client that stops in the middle, and holds what it has, stalls no other.
func TestClientHangs(t *testing.T) {
	s, path := serve(t, timed(t), service.Quotas{})
	var hung []*exec.Cmd
	for range 3 {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), clientSocket+"="+path)
		out := require.V(c.StdoutPipe())(t)
		require.NoError(t, c.Start())
		line := make([]byte, 64)
		if n, _ := out.Read(line); !strings.HasPrefix(string(line[:n]), "ready") {
			t.Errorf("client: %s", line[:n])
		}
		require.NoError(t, c.Process.Signal(syscall.SIGSTOP))
		hung = append(hung, c)
	}
	d := dial(t, path)
	p := require.V(d.PrepareModel(add(), hal.PrepareOptions{}))(t)
	b := require.V(p.ConfigureExecutionBurst())(t)
	for i := range 50 {
		r := request(float32(i))
		require.V(hal.Execute(p, r))(t)
		check(t, float32(i), r.Outputs[0])
		r = request(float32(-i))
		r.Functional = false
		require.V(b.Execute(r.Request(), hal.ExecuteOptions{}))(t)
		check(t, float32(-i), r.Outputs[0])
	}
	if h := s.Held(); h.Sessions != 4 {
		t.Errorf("held beside clients that hang: %+v", h)
	}
	for _, c := range hung {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	for end := time.Now().Add(20 * time.Second); s.Held().Sessions > 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("held after they were killed: %+v", s.Held())
		}
	}
}

// A compilation cache in files of the client is written and read by the driver, with the
// access that the client has, and serves a driver that started anew.
func TestCacheFiles(t *testing.T) {
	dir := t.TempDir()
	open := func(name string, flag int) *os.File {
		f := require.V(os.OpenFile(filepath.Join(dir, name), flag, 0o600))(t)
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	files := func(flag int) hal.Cache {
		return hal.Cache{Model: []hal.CacheHandle{{open("model", flag)}}, Data: []hal.CacheHandle{{open("data", flag)}}, Token: hal.CacheToken{7}}
	}
	phone := require.V(soc.Load("pixel4"))(t)
	start := func() *service.Device {
		list := require.V(devices.Open(phone, hal.FastSingleAnswer))(t)
		_, path := serve(t, list[1], service.Quotas{}) // the GPU computes with floats and caches
		return dial(t, path)
	}
	d := start()
	if m, n := d.NumberOfCacheFilesNeeded(); m != 1 || n != 1 {
		t.Fatalf("%d model and %d data files", m, n)
	}
	p := require.V(d.PrepareModel(add(), hal.PrepareOptions{Cache: files(os.O_RDWR | os.O_CREATE)}))(t)
	var want, got bytes.Buffer
	require.NoError(t, p.WriteProgram(&want))
	for _, flag := range []int{os.O_RDWR, os.O_RDONLY} {
		q := require.V(start().PrepareModelFromCache(nil, files(flag)))(t)
		got.Reset()
		if err := q.WriteProgram(&got); err != nil || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("the program from the cache is another: %v", err)
		}
		r := request(3)
		require.V(hal.Execute(q, r))(t)
		check(t, 3, r.Outputs[0])
	}
	before := require.File(t, filepath.Join(dir, "model"))
	if _, err := d.PrepareModel(add(), hal.PrepareOptions{Preference: hal.LowPower, Cache: files(os.O_RDONLY)}); err != nil {
		t.Errorf("files that cannot be written make preparing fail: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "model")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a file that was open for reading was written: %v", err)
	}
	if _, err := d.PrepareModelFromCache(nil, files(os.O_WRONLY)); hal.StatusOf(err) != hal.GeneralFailure {
		t.Errorf("files that cannot be read: %v", err)
	}
	pipe, w := require.V2(os.Pipe())(t)
	defer func() { _, _ = pipe.Close(), w.Close() }()
	if _, err := d.PrepareModelFromCache(nil, hal.Cache{Model: []hal.CacheHandle{{pipe}}, Data: []hal.CacheHandle{{w}}}); err == nil {
		t.Error("a pipe is a cache")
	}
}

// Of a memory that is not shared, executions touch their outputs alone: two at once write
// to one memory, which stands twice in the pools, and to nothing behind their values.
func TestDisjointOutputs(t *testing.T) {
	_, path := serve(t, timed(t), service.Quotas{})
	p := require.V(dial(t, path).PrepareModel(add(), hal.PrepareOptions{}))(t)
	const n = 8
	m := hal.NewMemory(16 + n*24)
	copy(m.Data, request(9).Inputs[0])
	for i := range n {
		for k := range 8 {
			m.Data[16+24*i+16+k] = 0xee
		}
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r := &hal.Request{
				Inputs:  []hal.RequestArgument{{Location: hal.DataLocation{PoolIndex: uint32(i % 2), Length: 16}}},
				Outputs: []hal.RequestArgument{{Location: hal.DataLocation{PoolIndex: uint32(1 - i%2), Offset: uint32(16 + 24*i), Length: 24}}},
				Pools:   []hal.RequestPool{{Memory: m}, {Memory: m}},
			}
			if i%3 == 2 {
				b, err := p.ConfigureExecutionBurst()
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = b.Close() }()
				require.Report(t, require.Err(b.Execute(r, hal.ExecuteOptions{})))
				return
			}
			f, err := p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)
			if err != nil {
				t.Error(err)
				return
			}
			<-f.Fence.Done()
			require.Report(t, require.Err(f.ExecutionInfo()))
		})
	}
	wg.Wait()
	for i := range n {
		out := m.Data[16+24*i:][:24]
		check(t, 9, out)
		if !bytes.Equal(out[16:], bytes.Repeat([]byte{0xee}, 8)) {
			t.Errorf("behind output %d: %x", i, out[16:])
		}
	}
}

// Many clients at once get their own results.
func TestManyClients(t *testing.T) {
	_, path := serve(t, timed(t), service.Quotas{})
	var wg sync.WaitGroup
	for c := range 20 {
		wg.Go(func() {
			d, err := service.Dial(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = d.Close() }()
			p, err := d.PrepareModel(add(), hal.PrepareOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 20 {
				r := request(float32(100*c + i))
				if _, err := hal.Execute(p, r); err != nil {
					t.Error(err)
					return
				}
				check(t, float32(100*c+i), r.Outputs[0])
			}
		})
	}
	wg.Wait()
}

// Paths that are no sockets or folders are errors.
func TestListen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, require.Err(service.Listen(file)), "no socket", "a file")
	if _, _, err := service.DialAll(dir); err == nil || !strings.Contains(err.Error(), "no driver") {
		t.Errorf("an empty folder: %v", err)
	}
	_, path := serve(t, device(), service.Quotas{})
	require.ErrorContains(t, require.Err(service.Listen(path)), "already", "a second server")
	gone := require.V(net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(filepath.Dir(path), "a-gone"), Net: "unix"}))(t)
	gone.SetUnlinkOnClose(false) // as a driver that is killed leaves it
	_ = gone.Close()
	list, dead, err := service.DialAll(filepath.Dir(path))
	if err != nil || len(list) != 1 || list[0].Name() != "cpu" || len(dead) != 1 || !strings.Contains(dead[0].Error(), "a-gone") {
		t.Fatalf("%v, %v, %v", list, dead, err)
	}
	_ = list[0].Close()
}

// Memory that could shrink under a server is not mapped.
func TestUnsealed(t *testing.T) {
	f := require.V(os.Create(filepath.Join(t.TempDir(), "f")))(t)
	defer func() { _ = f.Close() }()
	require.NoError(t, f.Truncate(100))
	require.ErrorContains(t, require.Err(shm.Open(os.Getpid(), int(f.Fd()), 100, false)), "sealed", "a plain file")
	r := require.V(shm.Create(4096))(t)
	defer func() { _ = r.Close() }()
	require.Fails(t, require.Err(shm.Open(os.Getpid(), r.FD(), 1<<20, false)), "more than the region has is mapped")
	if x, err := shm.Open(os.Getpid(), r.FD(), 4096, true); err != nil {
		t.Error(err)
	} else {
		_ = x.Close()
	}
}

// told is a device with another description.
type told struct {
	hal.Device
	name, version string
	broken        func() bool
}

func (d *told) Name() string    { return d.name }
func (d *told) Version() string { return d.version }

// Capabilities implements hal.Device.
func (d *told) Capabilities() hal.Capabilities {
	if d.broken != nil && d.broken() {
		panic("no capabilities")
	}
	return d.Device.Capabilities()
}

// TestDescribe: a driver whose name or version would break lists or terminals is refused, a panic is reported and the
// next client is served.
func TestDescribe(t *testing.T) {
	for _, x := range []struct{ name, version, want string }{
		{"a", "1", ""},
		{"", "1", `named ""`},
		{"auto", "1", `named "auto"`},
		{"a,b", "1", `named "a,b"`},
		{"a b", "1", `named "a b"`},
		{"a\x1b[31m", "1", "printable"},
		{strings.Repeat("a", 1025), "1", "name of 1025 bytes"},
		{"a", "1\n2", "printable"},
		{"a", strings.Repeat("1", 1025), "version of 1025 bytes"},
	} {
		_, stop, err := service.Loopback(&told{Device: timed(t), name: x.name, version: x.version})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%.20q, version %.20q: %v", x.name, x.version, err)
		}
		if err == nil {
			stop()
		}
	}
	asked := 0
	s := service.NewServer(&told{timed(t), "a", "1", func() bool { asked++; return asked < 3 }}, service.Quotas{})
	defer s.Close()
	require.Same(t, 1, asked, "asked for capabilities", "times before a client comes")
	path := filepath.Join(t.TempDir(), "s")
	l := require.V(service.Listen(path))(t)
	go func() { _ = s.Serve(l) }()
	require.ErrorContains(t, require.Err(service.Dial(path)), "panic in")
	d := require.V(service.Dial(path))(t)
	require.NoError(t, d.Close())
}

// panicking is a device whose executions panic.
type panicking struct{ hal.Device }

func (d panicking) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	return panickingModel{p}, err
}

type panickingModel struct{ hal.PreparedModel }

func (panickingModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	panic("planted")
}

// TestPanicInBurst: a driver's panic is an error of the execution in a burst too, and does not end its process.
func TestPanicInBurst(t *testing.T) {
	d, stop := require.V2(service.Loopback(panicking{timed(t)}))(t)
	defer stop()
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("x", 1, 8)
	b.Output(b.Add(x, x, builder.NoActivation), "y")
	m := require.V(b.Model("twice"))(t)
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
	burst := require.V(p.ConfigureExecutionBurst())(t)
	r := (&hal.Buffers{Inputs: [][]byte{make([]byte, 32)}, Outputs: [][]byte{make([]byte, 32)}}).Request()
	for range 2 {
		for _, execute := range []func(*hal.Request, hal.ExecuteOptions) (*hal.Result, error){burst.Execute, p.Execute} {
			if _, err := execute(r, hal.ExecuteOptions{}); hal.StatusOf(err) != hal.GeneralFailure {
				t.Errorf("error %v", err)
			}
		}
	}
}
