package hvx

// Image collects the linked kernels of a program at rising addresses.
type Image struct {
	Base    uint32 // address of the first packet
	Code    []byte
	Kernels []*Linked // in the order of first use
	byKey   map[Kernel]*Linked
	cache   *Cache
	machine Machine
}

// NewImage makes an image of no kernels. Kernels compiled for it are kept in
// cache, which images of the same machine may share.
func NewImage(base uint32, m Machine, cache *Cache) *Image {
	return &Image{Base: base, byKey: map[Kernel]*Linked{}, cache: cache, machine: m}
}

// Kernel returns the linked code of a kernel, compiled and linked on first use.
// source is the operation of the model that uses it.
func (im *Image) Kernel(key Kernel, source int) (*Linked, error) {
	k := im.byKey[key]
	if k == nil {
		code, err := im.cache.code(key, im.machine)
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

// Cost is the estimated cost of a kernel in packets, 0 where there are no registers
// for it. A kernel that is used later is not compiled again.
func (im *Image) Cost(k Kernel) int {
	c, err := im.cache.code(k, im.machine)
	if err != nil {
		return 0
	}
	return c.Cost
}
