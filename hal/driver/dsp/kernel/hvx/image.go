package hvx

// Image collects the linked kernels of a program at rising addresses.
type Image struct {
	Base    uint32 // address of the first packet
	Code    []byte
	Kernels []*Linked // in the order of first use
	byKey   map[any]*Linked
	cache   *Cache
	machine Machine
}

// NewImage makes an image of no kernels. Kernels compiled for it are kept in
// cache, which images of the same machine may share.
func NewImage(base uint32, m Machine, cache *Cache) *Image {
	return &Image{Base: base, byKey: map[any]*Linked{}, cache: cache, machine: m}
}

// Kernel returns the linked code of a kernel, compiled and linked on first use.
// source is the operation of the model that uses it.
func (im *Image) Kernel(k Kernel, source int) (*Linked, error) {
	return im.linked(k, source, func() (*Code, error) { return Compile(k, im.machine) })
}

// Generated is Kernel for a generator that a name identifies: the name spells out
// every parameter that gen reads.
func (im *Image) Generated(name string, source int, gen func(b *Builder)) (*Linked, error) {
	return im.linked(name, source, func() (*Code, error) { return compile(name, gen, im.machine) })
}

// Cost is the estimated cost of a kernel in packets, 0 where there are no registers
// for it. A kernel that is used later is not compiled again.
func (im *Image) Cost(k Kernel) int {
	return costOf(im.cache.code(k, func() (*Code, error) { return Compile(k, im.machine) }))
}

// GeneratedCost is Cost for a generator that a name identifies.
func (im *Image) GeneratedCost(name string, gen func(b *Builder)) int {
	return costOf(im.cache.code(name, func() (*Code, error) { return compile(name, gen, im.machine) }))
}

func costOf(c *Code, err error) int {
	if err != nil {
		return 0
	}
	return c.Cost
}

func (im *Image) linked(key any, source int, compile func() (*Code, error)) (*Linked, error) {
	k := im.byKey[key]
	if k == nil {
		code, err := im.cache.code(key, compile)
		if err != nil {
			return nil, err
		}
		var bytes []byte
		if k, bytes, err = code.Link(im.Base + uint32(len(im.Code))); err != nil {
			return nil, err
		}
		im.Code = append(im.Code, bytes...)
		im.byKey[key] = k
		im.Kernels = append(im.Kernels, k)
	}
	if n := len(k.Sources); n == 0 || k.Sources[n-1] != source {
		k.Sources = append(k.Sources, source)
	}
	return k, nil
}
