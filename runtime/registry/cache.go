package registry

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/guarded"
	"github.com/nnsoc/nnsoc/nn"
)

// Cache is where the prepared parts of a compilation are stored.
type Cache struct {
	Dir string // of the client; "" is no cache
	// Token names the model, the preference and whatever else the client compiled.
	Token hal.CacheToken
}

// token names a part: the client's token and all that the runtime decides for it. A
// part that is the whole model needs no list of operations.
func (c Cache) token(d hal.Device, o hal.PrepareOptions, source int, operations []int) hal.CacheToken {
	h := sha256.New()
	h.Write(c.Token[:])
	fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d", d.Name(), d.Version(), o.Preference, o.Priority)
	if operations != nil {
		_ = binary.Write(h, binary.LittleEndian, uint32(source))
		for _, i := range operations {
			_ = binary.Write(h, binary.LittleEndian, uint32(i))
		}
	}
	return hal.CacheToken(h.Sum(nil))
}

// Kinds of cache files, as their names have them.
const (
	modelFile = '1'
	dataFile  = '2'
)

// fileName is the name of a cache file: the token, each byte as two letters from A to
// P with the low half first, then the kind and the index.
func fileName(t hal.CacheToken, kind byte, index int) string {
	name := make([]byte, 0, 2*len(t)+3)
	for _, b := range t {
		name = append(name, 'A'+b&0xf, 'A'+b>>4)
	}
	return fmt.Sprintf("%s%c%d", name, kind, index)
}

// open opens the files of a part; flag is as of os.OpenFile. Files that are open when
// one of them fails are closed again.
func (c Cache) open(d hal.Device, t hal.CacheToken, flag int) (files hal.Cache, shut func(), err error) {
	var list []*os.File
	shut = func() {
		for _, f := range list {
			_ = f.Close()
		}
	}
	files.Token = t
	model, data := d.NumberOfCacheFilesNeeded()
	for _, x := range []struct {
		handles *[]hal.CacheHandle
		kind    byte
		n       int
	}{{&files.Model, modelFile, model}, {&files.Data, dataFile, data}} {
		for i := range x.n {
			f, err := os.OpenFile(filepath.Join(c.Dir, fileName(t, x.kind, i)), flag, 0o600)
			if err != nil {
				shut()
				return hal.Cache{}, nil, err
			}
			list = append(list, f)
			*x.handles = append(*x.handles, hal.CacheHandle{f})
		}
	}
	return files, shut, nil
}

// Prepare prepares a part from the cache, which is a hit, or from its model. A device without a
// cache, and files that cannot be opened, are none of the client's concern. Parts with candidates
// of the client's are not kept.
func (c Cache) Prepare(d hal.Device, m *nn.Model, o hal.PrepareOptions, source int, operations []int) (p hal.PreparedModel, hit bool, err error) {
	if model, data := d.NumberOfCacheFilesNeeded(); c.Dir == "" || len(o.Candidates) > 0 || model+data == 0 || model > hal.MaxCacheFiles || data > hal.MaxCacheFiles {
		p, err = guarded.PrepareModel(d, m, o)
		return p, false, err
	}
	t := c.token(d, o, source, operations)
	if files, shut, err := c.open(d, t, os.O_RDWR); err == nil {
		p, err := guarded.PrepareModelFromCache(d, o.Deadline, files)
		shut()
		if err == nil {
			return p, true, nil
		}
	}
	if files, shut, err := c.open(d, t, os.O_RDWR|os.O_CREATE|os.O_TRUNC); err == nil {
		defer shut()
		o.Cache = files
	}
	p, err = guarded.PrepareModel(d, m, o)
	return p, false, err
}

// Keeping is a device that keeps what it prepares in caches of its client, for one that calls
// drivers without a runtime.
func Keeping(d hal.Device, cache func(*nn.Model) Cache) hal.Device { return &keeping{d, cache} }

// keeping implements hal.Device.
type keeping struct {
	hal.Device
	cache func(*nn.Model) Cache
}

// PrepareModel implements hal.Device. A client that brings files of its own has those written.
func (k *keeping) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	if len(o.Cache.Model)+len(o.Cache.Data) > 0 {
		return k.Device.PrepareModel(m, o)
	}
	p, _, err := k.cache(m).Prepare(k.Device, m, o, 0, nil)
	return p, err
}

// Unwrap is the device behind.
func (k *keeping) Unwrap() hal.Device { return k.Device }
