package dsp

import (
	"sync"

	"github.com/nnsoc/nnsoc/isa/codegen"
)

// maxCachedPackets bounds a kernelCache to some 50 MB.
const maxCachedPackets = 1 << 16

// kernelCache keeps compiled kernels by name. A name spells out every parameter
// that the generator reads, so the models of a device share kernels. It may be
// used from several goroutines.
type kernelCache struct {
	mu      sync.Mutex
	kernels map[string]compiled
	packets int
}

// compiled is a kernel, or why there is none: it needs too many registers.
type compiled struct {
	code *codegen.Code
	err  error
}

// get returns a kernel and whether it has been compiled.
func (c *kernelCache) get(name string) (k compiled, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known = c.kernels[name]
	return k, known
}

// put keeps a kernel; the cache begins anew when it is full.
func (c *kernelCache) put(name string, k compiled) {
	n := 1
	if k.code != nil {
		n += len(k.code.Groups)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kernels == nil || c.packets+n > maxCachedPackets {
		c.kernels, c.packets = map[string]compiled{}, 0
	}
	c.kernels[name] = k
	c.packets += n
}
