package hvx

// Image collects the linked kernels of a program at rising addresses.
type Image struct {
	Base    uint32 // address of the first packet
	Code    []byte
	Kernels []*Linked // in the order of first use
	byKey   map[Kernel]*Linked
	cache   *Cache
	machine Machine
	outline bool // kernels have no code; byKey has the kernels of the image that will be
	added   int  // bytes of code that others would have
}

// NewImage makes an image of no kernels. Kernels compiled for it are kept in
// cache, which images of the same machine may share.
func NewImage(base uint32, m Machine, cache *Cache) *Image {
	return &Image{Base: base, byKey: map[Kernel]*Linked{}, cache: cache, machine: m}
}

// Outlines is an image whose kernels have no code but estimates of its cost, for comparing
// kernels before one of them is compiled.
func (im *Image) Outlines() *Image {
	return &Image{byKey: im.byKey, cache: im.cache, machine: im.machine, outline: true}
}

// Added is about how many bytes the kernels of an image of outlines add to the code.
func (im *Image) Added() int { return im.added }

// Kernel returns the linked code of a kernel, compiled and linked on first use.
// source is the operation of the model that uses it.
func (im *Image) Kernel(key Kernel, source int) (*Linked, error) {
	k := im.byKey[key]
	if im.outline {
		o, err := im.cache.outline(key, im.machine)
		if k == nil && err == nil {
			im.added += o.bytes
		}
		return o.Linked, err
	}
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

// Fits compiles a kernel and reports whether there are registers for it; true for outlines. A
// kernel that is used later is not compiled again.
func (im *Image) Fits(k Kernel) bool {
	if im.outline {
		return true
	}
	_, err := im.cache.code(k, im.machine)
	return err == nil
}
