package driver

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// CacheChecks returns the checks of compilation caches.
func CacheChecks() []check.Check {
	return []check.Check{
		{Name: "numbers of cache files", Rows: []string{"A4-7", "H2-6"}, Run: cacheNumbers, EachDevice: true},
		{Name: "a cached model computes the same", Rows: []string{"A4-8", "A4-9", "A7-1", "A7-3", "A7-4", "A7-10", "A7-11", "E1-10", "H2-3", "H3-10"}, Run: cacheComputes, EachDevice: true},
		{Name: "bad handles do not make preparing fail", Rows: []string{"A7-2", "A7-6", "E1-10", "I4-5"}, Run: cacheHandles, EachDevice: true},
		{Name: "a cache that cannot be used is a failure", Rows: []string{"A7-5", "A7-7", "A7-8", "E1-11"}, Run: cacheCorrupt, EachDevice: true},
		{Name: "files that change during use do no harm", Rows: []string{"A7-9", "E1-10", "I4-22"}, Run: cacheRace, EachDevice: true},
		{Name: "compilation caching", Rows: []string{"C2-7", "C9-1", "C9-2", "C9-3", "C9-5"}, Run: appCaching, EachDevice: true},
		{Name: "caching with a driver that has none", Rows: []string{"C9-4"}, Run: noCaching},
	}
}

// caching skips devices without a cache.
func caching(t *check.T) {
	if m, d := t.Device.NumberOfCacheFilesNeeded(); m+d == 0 {
		t.Skipf("%s caches nothing", t.Device.Name())
	}
}

func cacheNumbers(t *check.T) {
	m, d := t.Device.NumberOfCacheFilesNeeded()
	t.Check(m >= 0 && d >= 0 && m <= hal.MaxCacheFiles && d <= hal.MaxCacheFiles, "%d model and %d data files", m, d)
	if m2, d2 := t.Device.NumberOfCacheFilesNeeded(); m2 != m || d2 != d {
		t.Errorf("the numbers change")
	}
	if m+d == 0 {
		_, err := t.Device.PrepareModelFromCache(nil, check.NewFiles().Cache())
		t.Status("a cache of a device without", err, hal.GeneralFailure, hal.InvalidArgument)
	}
}

// saved is the cache of an adder.
func saved(t *check.T) (*check.Files, hal.PreparedModel) {
	caching(t)
	m := t.Supported(check.AddModel)
	f := check.NewFiles()
	f.Model.Data = bytes.Repeat([]byte("old content "), 1000) // is truncated
	p := t.Prepare(m, hal.PrepareOptions{Cache: f.Cache(), Preference: hal.SustainedSpeed, Priority: hal.PriorityHigh})
	if len(f.Model.Data) == 0 || bytes.HasSuffix(f.Model.Data, []byte("content ")) {
		t.Fatalf("nothing was saved")
	}
	return f, p
}

func cacheComputes(t *check.T) {
	f, fresh := saved(t)
	m := t.Supported(check.AddModel)
	p := check.V(t.Device.PrepareModelFromCache(nil, f.Cache()))(t, "prepareModelFromCache")
	t.Compute("from cache", p, m)
	var a, b bytes.Buffer
	t.OK("program", fresh.WriteProgram(&a))
	t.OK("program", p.WriteProgram(&b))
	t.Check(a.Len() != 0 && bytes.Equal(a.Bytes(), b.Bytes()), "the program from the cache is another: %d and %d bytes", a.Len(), b.Len())
	a.Reset()
	b.Reset()
	t.OK("listing", fresh.WriteListing(&a))
	t.OK("listing", p.WriteListing(&b))
	t.Check(bytes.Equal(a.Bytes(), b.Bytes()), "the listing from the cache is another")
	x, _ := check.Sums(m)
	y, _ := check.Sums(m)
	want := check.V(hal.Execute(fresh, x))(t, "execute")
	got := check.V(hal.Execute(p, y))(t, "execute")
	check.Equal(t, "cycles from cache", got.Stats.Cycles, want.Stats.Cycles)
	// Files that were used for something longer.
	used := check.NewFiles()
	used.Model.Data, used.Data.Data = bytes.Repeat([]byte{7}, 1<<20), bytes.Repeat([]byte{7}, 1<<20)
	t.Prepare(m, hal.PrepareOptions{Cache: used.Cache()})
	p = check.V(t.Device.PrepareModelFromCache(nil, used.Cache()))(t, "prepareModelFromCache of files used before")
	t.Compute("from files used before", p, m)
	before := t.Device.Now()
	_, err := t.Device.PrepareModelFromCache(&before, f.Cache())
	t.Status("from cache after the deadline", err, hal.MissedDeadlinePersistent)
}

func cacheHandles(t *check.T) {
	caching(t)
	m := t.Supported(check.AddModel)
	f := check.NewFiles()
	good := f.Cache()
	for name, c := range map[string]hal.Cache{
		"no data handle":           {Model: good.Model, Token: good.Token},
		"two model handles":        {Model: append(good.Model[:1:1], good.Model...), Data: good.Data},
		"a handle without file":    {Model: []hal.CacheHandle{{}}, Data: good.Data},
		"a handle of two files":    {Model: []hal.CacheHandle{{f.Model, f.Model}}, Data: good.Data},
		"a handle of no open file": {Model: []hal.CacheHandle{{nil}}, Data: good.Data},
	} {
		t.Compute(name, t.Prepare(m, hal.PrepareOptions{Cache: c}), m)
		_, err := t.Device.PrepareModelFromCache(nil, c)
		t.Status("from cache with "+name, err, hal.InvalidArgument, hal.GeneralFailure)
	}
	for k := range 2 {
		f := check.NewFiles()
		[]*check.MemoryFile{f.Model, f.Data}[k].ReadOnly = true
		t.Compute("a file that cannot be written", t.Prepare(m, hal.PrepareOptions{Cache: f.Cache()}), m)
		_, err := t.Device.PrepareModelFromCache(nil, f.Cache())
		t.Status("from a file that was not written", err, hal.GeneralFailure)
		f = check.NewFiles()
		t.Prepare(m, hal.PrepareOptions{Cache: f.Cache()})
		[]*check.MemoryFile{f.Model, f.Data}[k].NoReads = true
		_, err = t.Device.PrepareModelFromCache(nil, f.Cache())
		t.Status("from a file that cannot be read", err, hal.GeneralFailure)
	}
	t.Compute("a token without files", t.Prepare(m, hal.PrepareOptions{Cache: hal.Cache{Token: good.Token}}), m)
}

func cacheCorrupt(t *check.T) {
	f, _ := saved(t)
	refused := func(what string, c hal.Cache) {
		p, err := t.Device.PrepareModelFromCache(nil, c)
		t.Status(what, err, hal.GeneralFailure)
		t.Check(p == nil, "%s: there is a prepared model", what)
	}
	refused("empty files", check.NewFiles().Cache())
	for bit := range 256 {
		c := f.CopyOf().Cache()
		c.Token[bit/8] ^= 1 << (bit % 8)
		refused("one wrong bit of the token", c)
	}
	for k := range 2 {
		file := func(f *check.Files) *check.MemoryFile { return []*check.MemoryFile{f.Model, f.Data}[k] }
		n := len(file(f).Data)
		for at := 0; at < n; at += max(n/97, 1) {
			g := f.CopyOf()
			file(g).Data[at] ^= 1 << (at % 8)
			refused("one wrong bit of a file", g.Cache())
			g = f.CopyOf()
			file(g).Data = file(g).Data[:at]
			refused("a truncated file", g.Cache())
		}
		g := f.CopyOf()
		file(g).Data = append(file(g).Data, 0)
		refused("an extended file", g.Cache())
	}
	other := check.NewFiles()
	m := t.Supported(check.AddModel)
	relu := *m
	relu.Main.Operations = append(relu.Main.Operations[:0:0], relu.Main.Operations...)
	relu.Main.Operands = append(relu.Main.Operands[:0:0], relu.Main.Operands...)
	relu.Main.Operands[3] = check.Int32Scalar(1) // with an activation
	if !check.Supports(t.Device, &relu) {
		relu = *m
	}
	t.Prepare(&relu, hal.PrepareOptions{Cache: hal.Cache{Model: other.Cache().Model, Data: other.Cache().Data, Token: hal.CacheToken{9}}})
	swapped := &check.Files{Model: other.Model, Data: f.Data}
	refused("the model file of another model", swapped.Cache())
	own, w := check.NewFiles(), &cache.Writer{}
	w.Uint(7)
	c := own.Cache()
	t.OK("save", cache.Save(&c, "one device", w))
	_, err := cache.Load(&c, "one device")
	t.OK("load", err)
	t.Check(check.Err(cache.Load(&c, "another device")) != nil, "the cache of another device is taken")
	// Content that is signed but makes no sense is an error and no crash.
	for n := range 40 {
		g, c := check.NewFiles(), hal.Cache{}
		c = g.Cache()
		w := &cache.Writer{}
		for i := range n {
			w.Uint(uint64(i*n) % 5)
		}
		t.OK("save", cache.Save(&c, "", w))
		refused("content of another identity", c)
	}
}

func cacheRace(t *check.T) {
	f, _ := saved(t)
	m := t.Supported(check.AddModel)
	for k := range 2 {
		for read := range 6 {
			g := f.CopyOf()
			file := []*check.MemoryFile{g.Model, g.Data}[k]
			reads := 0
			file.Touch = func(f *check.MemoryFile) { // another process writes after every read
				if reads++; reads > read {
					for i := range f.Data {
						f.Data[i] ^= 0x55
					}
				}
			}
			p, err := t.Device.PrepareModelFromCache(nil, g.Cache())
			if err != nil {
				t.Status("files that change while they are read", err, hal.GeneralFailure)
				continue
			}
			for i := range file.Data {
				file.Data[i] = 0
			}
			t.Compute("files that change after they were read", p, m)
		}
		g := check.NewFiles()
		file := []*check.MemoryFile{g.Model, g.Data}[k]
		file.Touch = func(f *check.MemoryFile) { f.Data[len(f.Data)/2] ^= 1 }
		t.Compute("files that change while they are written", t.Prepare(m, hal.PrepareOptions{Cache: g.Cache()}), m)
		file.Touch = nil
		if p, err := t.Device.PrepareModelFromCache(nil, g.Cache()); err == nil {
			t.Compute("from files that changed while they were written", p, m)
		}
	}
}

func appCaching(t *check.T) {
	_, r, n := t.OnDevice()
	if model, data := t.Device.NumberOfCacheFilesNeeded(); model+data == 0 {
		t.Skipf("%s caches nothing", t.Device.Name())
	}
	dir, remove := t.Folder()
	defer remove()
	m, _ := t.Small()
	var last byte // of the token
	priority := nnapi.PriorityDefault
	compile := func(dir string, first byte, p nnapi.Preference) int {
		c := check.V(r.NewCompilationForDevices(m, t.All(r)[:1]))(t, "create")
		t.OK("preference", c.SetPreference(p))
		t.OK("priority", c.SetPriority(priority))
		t.OK("caching", c.SetCaching(dir, append(append([]byte{first}, make([]byte, 30)...), last)))
		t.OK("finish", c.Finish())
		t.OK("compute", t.Plain(c, n).Compute())
		return c.CacheHits()
	}
	fast := hal.FastSingleAnswer
	check.Equal(t, "the first compilation", compile(dir, 1, fast), 0)
	check.Equal(t, "the second", compile(dir, 1, fast), 1)
	check.Equal(t, "another token", compile(dir, 2, fast), 0)
	last = 1
	check.Equal(t, "another end of the token", compile(dir, 1, fast), 0)
	last = 0
	check.Equal(t, "another preference", compile(dir, 1, hal.LowPower), 0)
	for _, priority = range []nnapi.Priority{nnapi.PriorityLow, nnapi.PriorityHigh} {
		check.Equal(t, "another priority", compile(dir, 1, fast), 0)
		check.Equal(t, "that priority again", compile(dir, 1, fast), 1)
	}
	priority = nnapi.PriorityDefault
	files := check.V(os.ReadDir(dir))(t, "files")
	for _, f := range files {
		name := f.Name()
		if len(name) != 66 || len(bytes.Trim([]byte(name[:64]), "ABCDEFGHIJKLMNOP")) > 0 || name[64] != '1' && name[64] != '2' || name[65] != '0' {
			t.Errorf("a cache file is named %s", name)
		}
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, error %v", name, info.Mode(), err)
		}
		t.OK("damage", os.Truncate(filepath.Join(dir, name), 10))
	}
	check.Equal(t, "after damage", compile(dir, 1, fast), 0)
	check.Equal(t, "after it was written again", compile(dir, 1, fast), 1)
	check.Equal(t, "a folder that is not there", compile(filepath.Join(dir, "none"), 1, fast), 0)
	c := check.V(r.NewCompilation(m))(t, "create")
	t.Code("a token of 31 bytes", c.SetCaching(dir, make([]byte, 31)), nnapi.BadData)
	t.Code("a token of 33 bytes", c.SetCaching(dir, make([]byte, 33)), nnapi.BadData)
	t.Code("no token", c.SetCaching(dir, nil), nnapi.UnexpectedNull)
}

func noCaching(t *check.T) {
	dir, remove := t.Folder()
	defer remove()
	r := t.App(check.Driver("a", nn.OpRelu))
	for range 2 {
		c := check.V(r.NewCompilation(t.Built(nn.OpRelu)))(t, "create")
		t.OK("caching", c.SetCaching(dir, make([]byte, 32)))
		t.OK("finish", c.Finish())
		check.Equal(t, "parts from a cache", c.CacheHits(), 0)
	}
	files := check.V(os.ReadDir(dir))(t, "files")
	check.Equal(t, "files", len(files), 0)
}
