package devices_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
)

func loadPhone(t *testing.T) *soc.Config {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	return c
}

func openPhone(t *testing.T, c *soc.Config) map[string]hal.Device {
	t.Helper()
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	m := map[string]hal.Device{}
	for _, d := range list {
		m[d.Name()] = d
	}
	return m
}

// relu is a model of one operation that an engine supports.
func relu(t *testing.T, engine string) *nn.Model {
	t.Helper()
	b := builder.New(builder.Config{})
	o, q := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 8, 8, 16}}, builder.Quant{}
	if engine != "gpu" {
		o.Type, o.Scale, q.Scale = nn.TensorQuant8Asymm, 0.5, 0.5
	}
	x := b.Input(b.Operand(o), "x")
	b.Output(b.Apply(nn.OpRelu, o.Type, q, x), "y")
	m := require.V(b.Model("relu"))(t)
	return m
}

// A cache is accepted by the device, the machine and the token that it was made for. It is
// refused if any of the three differs.
func TestCacheIdentity(t *testing.T) {
	dir := t.TempDir()
	open := func(d string, token byte) hal.Cache {
		c := hal.Cache{Token: hal.CacheToken{token}}
		for i, h := range []*[]hal.CacheHandle{&c.Model, &c.Data} {
			f := require.V(os.OpenFile(filepath.Join(dir, d+string('0'+rune(i))), os.O_RDWR|os.O_CREATE, 0o600))(t)
			t.Cleanup(func() { _ = f.Close() })
			*h = []hal.CacheHandle{{f}}
		}
		return c
	}
	here := openPhone(t, loadPhone(t))
	engines := []string{"gpu", "dsp", "npu"}
	for _, e := range engines {
		require.V(here[e].PrepareModel(relu(t, e), hal.PrepareOptions{Cache: open(e, 1)}))(t)
	}
	for _, e := range engines {
		require.Report(t, require.Err(openPhone(t, loadPhone(t))[e].PrepareModelFromCache(nil, open(e, 1))), e, "its own cache")
		require.Fails(t, require.Err(here[e].PrepareModelFromCache(nil, open(e, 2))), e, "takes the cache of another token")
		for _, other := range engines {
			if other == e {
				continue
			}
			require.Check(t, require.Err(here[e].PrepareModelFromCache(nil, open(other, 1))) != nil, "%s takes the cache of %s", e, other)
		}
	}
	for name, change := range map[string]func(*soc.Config){
		"the rate of the DRAM":   func(c *soc.Config) { c.DRAM.MTPerS /= 2 },
		"the way to the DRAM":    func(c *soc.Config) { c.GPU.MemoryNs++; c.DSP.MemoryNs++; c.NPU.Memories[0].KiB *= 2 },
		"the system-level cache": func(c *soc.Config) { c.SystemCache = nil },
		"the host":               func(c *soc.Config) { c.Host.BinderUs++ },
	} {
		c := loadPhone(t)
		change(c)
		there := openPhone(t, c)
		for _, e := range engines {
			if _, err := there[e].PrepareModelFromCache(nil, open(e, 1)); err == nil || hal.StatusOf(err) != hal.GeneralFailure {
				t.Errorf("%s with another value of %s takes the cache: %v", e, name, err)
			}
		}
	}
}

// The fingerprint of a machine changes with each number, text and switch of its file.
func TestCacheFingerprint(t *testing.T) {
	c := loadPhone(t)
	want := require.V(cache.Fingerprint(c))(t)
	if again, _ := cache.Fingerprint(loadPhone(t)); again != want {
		t.Fatal("the fingerprint of the same file is another")
	}
	leaves := 0
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
			return
		case reflect.Struct:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					walk(path+"."+f.Name, v.Field(i))
				} else {
					t.Errorf("%s.%s: the fingerprint does not see it", path, f.Name)
				}
			}
			return
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(path, v.Index(i))
			}
			return
		case reflect.Map:
			for _, k := range v.MapKeys() {
				was := v.MapIndex(k)
				v.SetMapIndex(k, reflect.Zero(v.Type().Elem()))
				changed(t, c, want, path)
				v.SetMapIndex(k, was)
			}
			return
		case reflect.Float64, reflect.Float32:
			v.SetFloat(math.Nextafter(v.Float(), math.Inf(1)))
		case reflect.Int, reflect.Int64, reflect.Int32:
			v.SetInt(v.Int() + 1)
		case reflect.Uint, reflect.Uint64, reflect.Uint32:
			v.SetUint(v.Uint() + 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Interface:
			require.Check(t, v.IsNil(), "%s: a policy in a file", path)
			return
		default:
			t.Fatalf("%s: a %s", path, v.Kind())
		}
		leaves++
		changed(t, c, want, path)
		v.Set(old)
	}
	walk("soc", reflect.ValueOf(c))
	require.Check(t, leaves >= 300, "%d values changed: too few for a phone", leaves)
}

func changed(t *testing.T, c *soc.Config, was, path string) {
	t.Helper()
	if is, err := cache.Fingerprint(c); err != nil || is == was {
		t.Errorf("%s changed and the fingerprint did not: %v", path, err)
	}
}

// The runtime's cache serves the preference and priority that it was made with.
func TestCacheOptions(t *testing.T) {
	d := openPhone(t, loadPhone(t))
	r := require.V(registry.New(d["cpu"], d["dsp"]))(t)
	o := nnrt.CompileOptions{Cache: registry.Cache{Dir: t.TempDir(), Token: hal.CacheToken{1}}}
	hits := func(change func(*nnrt.CompileOptions)) int {
		t.Helper()
		o := o
		change(&o)
		c := require.V(nnrt.Compile(r, relu(t, "dsp"), "dsp", o))(t)
		return c.CacheHits
	}
	same := func(*nnrt.CompileOptions) {}
	if hits(same) != 0 || hits(same) != 1 {
		t.Fatal("the second compilation is not from the cache")
	}
	for name, change := range map[string]func(*nnrt.CompileOptions){
		"preference": func(o *nnrt.CompileOptions) { o.Preference = nnrt.Prefer(hal.LowPower) },
		"priority":   func(o *nnrt.CompileOptions) { o.Priority = nnrt.Rank(hal.PriorityHigh) },
		"token":      func(o *nnrt.CompileOptions) { o.Cache.Token[31] = 1 },
	} {
		require.Check(t, hits(change) == 0, "a cache of another %s is taken", name)
	}
}

// A program that is built from other sources, or without the linker's identity, does not
// accept the cache; one that is built from the same sources does.
func TestCacheBuild(t *testing.T) {
	require.AllTests(t)
	if testing.Short() {
		t.Skip("skipped: needs a test without -short, since it builds programs")
	}
	dir := t.TempDir()
	build := func(name, flags string) string {
		t.Helper()
		program := filepath.Join(dir, name)
		if out, err := exec.Command("go", "build", "-o", program, "-ldflags="+flags, "./testdata/cacher").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return program
	}
	one, twin, other := build("one", "-X main.salt=1"), build("twin", "-X main.salt=1"), build("other", "-X main.salt=2")
	bare, another := build("bare", "-buildid= -X main.salt=1"), build("another", "-buildid= -X main.salt=2")
	files := filepath.Join(dir, "files")
	run := func(program, do string) (version string, ok bool) {
		t.Helper()
		out, err := exec.Command(program, do, files).CombinedOutput()
		version, problem, _ := strings.Cut(string(out), "\n")
		if err != nil && !strings.Contains(problem, "another device or version") {
			t.Fatalf("%s %s: %v: %s", program, do, err, problem)
		}
		return version, err == nil
	}
	for _, pair := range [][3]string{{one, twin, other}, {bare, bare, another}, {other, other, bare}} {
		require.NoError(t, os.MkdirAll(files, 0o700))
		made, _ := run(pair[0], "save")
		if v, ok := run(pair[1], "load"); !ok || v != made {
			t.Errorf("%s does not take the cache of %s, versions %s and %s", pair[1], pair[0], v, made)
		}
		if v, ok := run(pair[2], "load"); ok || v == made {
			t.Errorf("%s takes the cache of %s, versions %s and %s", pair[2], pair[0], v, made)
		}
	}
}
