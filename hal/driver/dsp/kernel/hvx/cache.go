package hvx

import "sync"

// maxCachedPackets bounds a Cache to some 50 MB.
const maxCachedPackets = 1 << 16

// Cache keeps compiled kernels by their values and machines, so that the models of a
// device share them, or those of several devices. It may be used from several
// goroutines. The zero Cache is empty.
type Cache struct {
	mu      sync.Mutex
	kernels map[cacheKey]compiled
	packets int
	targets map[int]*sync.Pool // of *target, by issue interval
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
	targets := c.targets[m.IssueInterval]
	c.mu.Unlock()
	if known {
		return k.code, k.err
	}
	var t *target
	if targets != nil {
		t, _ = targets.Get().(*target)
	}
	if t == nil {
		t = newTarget(m.IssueInterval)
	}
	k.code, k.err = compile(kernel, m, t)
	c.put(key, k, t)
	return k.code, k.err
}

// put keeps a kernel and the target that it was compiled for; the kernels begin anew when
// the cache is full.
func (c *Cache) put(key cacheKey, k compiled, t *target) {
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
	if t.slots.Full() {
		return
	}
	if c.targets == nil {
		c.targets = map[int]*sync.Pool{}
	}
	if c.targets[key.IssueInterval] == nil {
		c.targets[key.IssueInterval] = &sync.Pool{}
	}
	c.targets[key.IssueInterval].Put(t)
}
