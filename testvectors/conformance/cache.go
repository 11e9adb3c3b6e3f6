package conformance

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt/nnapi"
)

func cacheChecks() []Check {
	return []Check{
		{Name: "numbers of cache files", Rows: []string{"A4-7", "H2-6"}, Run: cacheNumbers, EachDevice: true},
		{Name: "a cached model computes the same", Rows: []string{"A4-8", "A4-9", "A7-1", "A7-3", "A7-4", "A7-10", "A7-11", "E1-10", "H2-3", "H3-10"}, Run: cacheComputes, EachDevice: true},
		{Name: "bad handles do not make preparing fail", Rows: []string{"A7-2", "A7-6", "E1-10", "I4-5"}, Run: cacheHandles, EachDevice: true},
		{Name: "a cache that cannot be used is a failure", Rows: []string{"A7-5", "A7-7", "A7-8", "E1-11"}, Run: cacheCorrupt, EachDevice: true},
		{Name: "files that change during use do no harm", Rows: []string{"A7-9", "E1-10", "I4-22"}, Run: cacheRace, EachDevice: true},
		{Name: "compilation caching", Rows: []string{"C2-7", "C9-1", "C9-2", "C9-3", "C9-5"}, Run: appCaching, EachDevice: true},
		{Name: "caching with a driver that has none", Rows: []string{"C9-4"}, Run: noCaching},
	}
}

// memoryFile is a cache file in memory. It implements hal.CacheFile.
type memoryFile struct {
	data              []byte
	readOnly, noReads bool
	touch             func(f *memoryFile) // called after each read or write
}

var errAccess = errors.New("access denied")

func (f *memoryFile) ReadAt(b []byte, at int64) (int, error) {
	if f.noReads {
		return 0, errAccess
	}
	n := 0
	if at < int64(len(f.data)) {
		n = copy(b, f.data[at:])
	}
	if f.touch != nil {
		f.touch(f)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memoryFile) WriteAt(b []byte, at int64) (int, error) {
	if f.readOnly {
		return 0, errAccess
	}
	if end := at + int64(len(b)); end > int64(len(f.data)) {
		f.data = append(f.data, make([]byte, end-int64(len(f.data)))...)
	}
	copy(f.data[at:], b)
	if f.touch != nil {
		f.touch(f)
	}
	return len(b), nil
}

func (f *memoryFile) Truncate(n int64) error {
	if f.readOnly {
		return errAccess
	}
	if n < int64(len(f.data)) {
		f.data = f.data[:n]
	}
	return nil
}

// files are the two files of a cache with the handles that carry them.
type files struct{ model, data *memoryFile }

func newFiles() *files { return &files{&memoryFile{}, &memoryFile{}} }

func (f *files) cache() hal.Cache {
	return hal.Cache{Model: []hal.CacheHandle{{f.model}}, Data: []hal.CacheHandle{{f.data}}, Token: hal.CacheToken{1, 2, 3}}
}

// copyOf is the same content in other files.
func (f *files) copyOf() *files {
	return &files{&memoryFile{data: bytes.Clone(f.model.data)}, &memoryFile{data: bytes.Clone(f.data.data)}}
}

// caching skips devices without a cache.
func (t *T) caching() {
	if m, d := t.Device.NumberOfCacheFilesNeeded(); m+d == 0 {
		t.Skipf("%s caches nothing", t.Device.Name())
	}
}

func cacheNumbers(t *T) {
	m, d := t.Device.NumberOfCacheFilesNeeded()
	if m < 0 || d < 0 || m > hal.MaxCacheFiles || d > hal.MaxCacheFiles {
		t.Errorf("%d model and %d data files", m, d)
	}
	if m2, d2 := t.Device.NumberOfCacheFilesNeeded(); m2 != m || d2 != d {
		t.Errorf("the numbers change")
	}
	if m+d == 0 {
		_, err := t.Device.PrepareModelFromCache(nil, newFiles().cache())
		t.Status("a cache of a device without", err, hal.GeneralFailure, hal.InvalidArgument)
	}
}

// saved is the cache of an adder.
func (t *T) saved() (*files, hal.PreparedModel) {
	t.caching()
	m := t.supported(addModel)
	f := newFiles()
	f.model.data = bytes.Repeat([]byte("old content "), 1000) // is truncated
	p := t.prepare(m, hal.PrepareOptions{Cache: f.cache(), Preference: hal.SustainedSpeed, Priority: hal.PriorityHigh})
	if len(f.model.data) == 0 || bytes.HasSuffix(f.model.data, []byte("content ")) {
		t.Fatalf("nothing was saved")
	}
	return f, p
}

func cacheComputes(t *T) {
	f, fresh := t.saved()
	m := t.supported(addModel)
	p, err := t.Device.PrepareModelFromCache(nil, f.cache())
	t.OK("prepareModelFromCache", err)
	t.compute("from cache", p, m)
	var a, b bytes.Buffer
	t.OK("program", fresh.WriteProgram(&a))
	t.OK("program", p.WriteProgram(&b))
	if a.Len() == 0 || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("the program from the cache is another: %d and %d bytes", a.Len(), b.Len())
	}
	a.Reset()
	b.Reset()
	t.OK("listing", fresh.WriteListing(&a))
	t.OK("listing", p.WriteListing(&b))
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("the listing from the cache is another")
	}
	x, _ := sums(m)
	y, _ := sums(m)
	want, err := hal.Execute(fresh, x)
	t.OK("execute", err)
	got, err := hal.Execute(p, y)
	t.OK("execute", err)
	Equal(t, "cycles from cache", got.Stats.Cycles, want.Stats.Cycles)
	// Files that were used for something longer.
	used := newFiles()
	used.model.data, used.data.data = bytes.Repeat([]byte{7}, 1<<20), bytes.Repeat([]byte{7}, 1<<20)
	t.prepare(m, hal.PrepareOptions{Cache: used.cache()})
	p, err = t.Device.PrepareModelFromCache(nil, used.cache())
	t.OK("prepareModelFromCache of files used before", err)
	t.compute("from files used before", p, m)
	before := t.Device.Now()
	_, err = t.Device.PrepareModelFromCache(&before, f.cache())
	t.Status("from cache after the deadline", err, hal.MissedDeadlinePersistent)
}

func cacheHandles(t *T) {
	t.caching()
	m := t.supported(addModel)
	f := newFiles()
	good := f.cache()
	for name, c := range map[string]hal.Cache{
		"no data handle":           {Model: good.Model, Token: good.Token},
		"two model handles":        {Model: append(good.Model[:1:1], good.Model...), Data: good.Data},
		"a handle without file":    {Model: []hal.CacheHandle{{}}, Data: good.Data},
		"a handle of two files":    {Model: []hal.CacheHandle{{f.model, f.model}}, Data: good.Data},
		"a handle of no open file": {Model: []hal.CacheHandle{{nil}}, Data: good.Data},
	} {
		t.compute(name, t.prepare(m, hal.PrepareOptions{Cache: c}), m)
		_, err := t.Device.PrepareModelFromCache(nil, c)
		t.Status("from cache with "+name, err, hal.InvalidArgument, hal.GeneralFailure)
	}
	for k := range 2 {
		f := newFiles()
		[]*memoryFile{f.model, f.data}[k].readOnly = true
		t.compute("a file that cannot be written", t.prepare(m, hal.PrepareOptions{Cache: f.cache()}), m)
		_, err := t.Device.PrepareModelFromCache(nil, f.cache())
		t.Status("from a file that was not written", err, hal.GeneralFailure)
		f = newFiles()
		t.prepare(m, hal.PrepareOptions{Cache: f.cache()})
		[]*memoryFile{f.model, f.data}[k].noReads = true
		_, err = t.Device.PrepareModelFromCache(nil, f.cache())
		t.Status("from a file that cannot be read", err, hal.GeneralFailure)
	}
	t.compute("a token without files", t.prepare(m, hal.PrepareOptions{Cache: hal.Cache{Token: good.Token}}), m)
}

func cacheCorrupt(t *T) {
	f, _ := t.saved()
	refused := func(what string, f *files, c hal.Cache) {
		p, err := t.Device.PrepareModelFromCache(nil, c)
		t.Status(what, err, hal.GeneralFailure)
		if p != nil {
			t.Errorf("%s: there is a prepared model", what)
		}
	}
	refused("empty files", newFiles(), newFiles().cache())
	for bit := range 256 {
		c := f.copyOf().cache()
		c.Token[bit/8] ^= 1 << (bit % 8)
		refused("one wrong bit of the token", f, c)
	}
	for k := range 2 {
		file := func(f *files) *memoryFile { return []*memoryFile{f.model, f.data}[k] }
		n := len(file(f).data)
		for at := 0; at < n; at += max(n/97, 1) {
			g := f.copyOf()
			file(g).data[at] ^= 1 << (at % 8)
			refused("one wrong bit of a file", g, g.cache())
			g = f.copyOf()
			file(g).data = file(g).data[:at]
			refused("a truncated file", g, g.cache())
		}
		g := f.copyOf()
		file(g).data = append(file(g).data, 0)
		refused("an extended file", g, g.cache())
	}
	other := newFiles()
	m := t.supported(addModel)
	relu := *m
	relu.Main.Operations = append(relu.Main.Operations[:0:0], relu.Main.Operations...)
	relu.Main.Operands = append(relu.Main.Operands[:0:0], relu.Main.Operands...)
	relu.Main.Operands[3] = int32Scalar(1) // with an activation
	if !supports(t.Device, &relu) {
		relu = *m
	}
	t.prepare(&relu, hal.PrepareOptions{Cache: hal.Cache{Model: other.cache().Model, Data: other.cache().Data, Token: hal.CacheToken{9}}})
	swapped := &files{other.model, f.data}
	refused("the model file of another model", swapped, swapped.cache())
	own, w := newFiles(), &cache.Writer{}
	w.Uint(7)
	c := own.cache()
	t.OK("save", cache.Save(&c, "one device", w))
	_, err := cache.Load(&c, "one device")
	t.OK("load", err)
	if _, err := cache.Load(&c, "another device"); err == nil {
		t.Errorf("the cache of another device is taken")
	}
	// Content that is signed but makes no sense is an error and no crash.
	for n := range 40 {
		g, c := newFiles(), hal.Cache{}
		c = g.cache()
		w := &cache.Writer{}
		for i := range n {
			w.Uint(uint64(i*n) % 5)
		}
		t.OK("save", cache.Save(&c, "", w))
		refused("content of another identity", g, c)
	}
}

func cacheRace(t *T) {
	f, _ := t.saved()
	m := t.supported(addModel)
	for k := range 2 {
		for read := range 6 {
			g := f.copyOf()
			file := []*memoryFile{g.model, g.data}[k]
			reads := 0
			file.touch = func(f *memoryFile) { // somebody writes behind every read
				if reads++; reads > read {
					for i := range f.data {
						f.data[i] ^= 0x55
					}
				}
			}
			p, err := t.Device.PrepareModelFromCache(nil, g.cache())
			if err != nil {
				t.Status("files that change while they are read", err, hal.GeneralFailure)
				continue
			}
			for i := range file.data {
				file.data[i] = 0
			}
			t.compute("files that change after they were read", p, m)
		}
		g := newFiles()
		file := []*memoryFile{g.model, g.data}[k]
		file.touch = func(f *memoryFile) { f.data[len(f.data)/2] ^= 1 }
		t.compute("files that change while they are written", t.prepare(m, hal.PrepareOptions{Cache: g.cache()}), m)
		file.touch = nil
		if p, err := t.Device.PrepareModelFromCache(nil, g.cache()); err == nil {
			t.compute("from files that changed while they were written", p, m)
		}
	}
}

func appCaching(t *T) {
	_, r, n := t.onDevice()
	if model, data := t.Device.NumberOfCacheFilesNeeded(); model+data == 0 {
		t.Skipf("%s caches nothing", t.Device.Name())
	}
	dir, remove := t.folder()
	defer remove()
	m, _ := t.small()
	var last byte // of the token
	compile := func(dir string, first byte, p nnapi.Preference) int {
		c, err := r.NewCompilationForDevices(m, t.all(r)[:1])
		t.OK("create", err)
		t.OK("preference", c.SetPreference(p))
		t.OK("caching", c.SetCaching(dir, append(append([]byte{first}, make([]byte, 30)...), last)))
		t.OK("finish", c.Finish())
		t.OK("compute", t.plain(c, n).Compute())
		return c.CacheHits()
	}
	fast := hal.FastSingleAnswer
	Equal(t, "the first compilation", compile(dir, 1, fast), 0)
	Equal(t, "the second", compile(dir, 1, fast), 1)
	Equal(t, "another token", compile(dir, 2, fast), 0)
	last = 1
	Equal(t, "another end of the token", compile(dir, 1, fast), 0)
	last = 0
	Equal(t, "another preference", compile(dir, 1, hal.LowPower), 0)
	files, err := os.ReadDir(dir)
	t.OK("files", err)
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
	Equal(t, "after damage", compile(dir, 1, fast), 0)
	Equal(t, "after it was written again", compile(dir, 1, fast), 1)
	Equal(t, "a folder that is not there", compile(filepath.Join(dir, "none"), 1, fast), 0)
	c, err := r.NewCompilation(m)
	t.OK("create", err)
	t.code("a token of 31 bytes", c.SetCaching(dir, make([]byte, 31)), nnapi.BadData)
	t.code("a token of 33 bytes", c.SetCaching(dir, make([]byte, 33)), nnapi.BadData)
	t.code("no token", c.SetCaching(dir, nil), nnapi.UnexpectedNull)
}

func noCaching(t *T) {
	dir, remove := t.folder()
	defer remove()
	r := t.app(driver("a", nn.OpRelu))
	for range 2 {
		c, err := r.NewCompilation(t.built(nn.OpRelu))
		t.OK("create", err)
		t.OK("caching", c.SetCaching(dir, make([]byte, 32)))
		t.OK("finish", c.Finish())
		Equal(t, "parts from a cache", c.CacheHits(), 0)
	}
	files, err := os.ReadDir(dir)
	t.OK("files", err)
	Equal(t, "files", len(files), 0)
}
