package hvx

import "sync"

// maxCachedPackets bounds a Cache to some 50 MB.
const maxCachedPackets = 1 << 16

// maxCachedOutlines bounds its outlines, of a few hundred bytes each.
const maxCachedOutlines = 1 << 13

// Cache keeps compiled kernels by their values and machines, so that the models of a
// device share them, or those of several devices. It may be used from several
// goroutines. The zero Cache is empty.
type Cache struct {
	mu       sync.Mutex
	kernels  map[cacheKey]compiled
	packets  int
	outlines map[cacheKey]outlined
	targets  map[int]*sync.Pool // of *target, by issue interval
}

// cacheKey is what code depends on.
type cacheKey struct {
	Kernel
	Machine
}

// compiled is a kernel, or why there is none: it needs too many registers.
type compiled struct {
	code *Code
	err  error
}

// code returns the code of a kernel, compiled unless it is kept.
func (c *Cache) code(kernel Kernel, m Machine) (*Code, error) {
	if err := checkKey(kernel); err != nil {
		return nil, err
	}
	key := cacheKey{kernel, m}
	c.mu.Lock()
	k, known := c.kernels[key]
	c.mu.Unlock()
	if known {
		return k.code, k.err
	}
	t := c.target(m)
	k.code, k.err = compile(kernel, m, t)
	c.put(key, k)
	c.putTarget(t)
	return k.code, k.err
}

// outline returns the loops of a kernel with slots that are estimated without compiling it.
func (c *Cache) outline(kernel Kernel, m Machine) (k outlined, err error) {
	if err := checkKey(kernel); err != nil {
		return k, err
	}
	key := cacheKey{kernel, m}
	c.mu.Lock()
	k, known := c.outlines[key]
	c.mu.Unlock()
	if known {
		return k, nil
	}
	t := c.target(m)
	if k, err = outline(kernel, m, t); err != nil {
		return k, err
	}
	c.putTarget(t)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outlines == nil || len(c.outlines) >= maxCachedOutlines {
		c.outlines = map[cacheKey]outlined{}
	}
	c.outlines[key] = k
	return k, nil
}

// put keeps a kernel; the kernels begin anew when the cache is full.
func (c *Cache) put(key cacheKey, k compiled) {
	n := 1
	if k.code != nil {
		n += k.code.Packets()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kernels == nil || c.packets+n > maxCachedPackets {
		c.kernels, c.packets = map[cacheKey]compiled{}, 0
	}
	c.kernels[key] = k
	c.packets += n
}

// target is a target for a machine, which another kernel may have been compiled for.
func (c *Cache) target(m Machine) *target {
	c.mu.Lock()
	targets := c.targets[m.IssueInterval]
	c.mu.Unlock()
	if targets != nil {
		if t, ok := targets.Get().(*target); ok {
			return t
		}
	}
	return newTarget(m.IssueInterval)
}

// putTarget keeps a target for other kernels.
func (c *Cache) putTarget(t *target) {
	if t.slots.Full() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.targets == nil {
		c.targets = map[int]*sync.Pool{}
	}
	if c.targets[t.interval] == nil {
		c.targets[t.interval] = &sync.Pool{}
	}
	c.targets[t.interval].Put(t)
}
