package hvx

import "sync"

// maxCachedPackets bounds a Cache to some 50 MB.
const maxCachedPackets = 1 << 16

// Cache keeps compiled kernels of one machine by their values, so that the models of
// a device share them. It may be used from several goroutines.
type Cache struct {
	mu      sync.Mutex
	kernels map[Kernel]compiled
	packets int
}

// compiled is a kernel, or why there is none: it needs too many registers.
type compiled struct {
	code *Code
	err  error
}

// code returns the code of a kernel, compiled unless it is kept.
func (c *Cache) code(key Kernel, m Machine) (*Code, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	c.mu.Lock()
	k, known := c.kernels[key]
	c.mu.Unlock()
	if !known {
		k.code, k.err = Compile(key, m)
		c.put(key, k)
	}
	return k.code, k.err
}

// put keeps a kernel; the cache begins anew when it is full.
func (c *Cache) put(key Kernel, k compiled) {
	n := 1
	if k.code != nil {
		n += k.code.Packets()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kernels == nil || c.packets+n > maxCachedPackets {
		c.kernels, c.packets = map[Kernel]compiled{}, 0
	}
	c.kernels[key] = k
	c.packets += n
}
