package cache

// Coder writes values to a Writer or reads them from a Reader, so one function defines a format for both directions.
// Input may be forged: callers give the bounds of numbers and check offsets.
type Coder struct {
	w *Writer
	r *Reader
}

// Coder returns one that writes.
func (w *Writer) Coder() *Coder { return &Coder{w: w} }

// Coder returns one that reads.
func (r *Reader) Coder() *Coder { return &Coder{r: r} }

// Reading reports whether values are read.
func (c *Coder) Reading() bool { return c.r != nil }

// Check fails a reader where a condition does not hold.
func (c *Coder) Check(ok bool, format string, args ...any) {
	if !ok && c.r != nil {
		c.r.Fail(format, args...)
	}
}

// Valid reports whether reading has met no error.
func (c *Coder) Valid() bool { return c.r == nil || c.r.err == nil }

// code writes or reads one value.
func code[T any](c *Coder, v *T, write func(*Writer, T), read func(*Reader) T) {
	if c.r != nil {
		*v = read(c.r)
	} else {
		write(c.w, *v)
	}
}

func (c *Coder) bool(v *bool)     { code(c, v, (*Writer).Bool, (*Reader).Bool) }
func (c *Coder) float(v *float32) { code(c, v, (*Writer).Float, (*Reader).Float) }

// Bytes codes code or other bytes whose change must be found.
func (c *Coder) Bytes(v *[]byte) { code(c, v, (*Writer).Bytes, (*Reader).Bytes) }

// String codes a text.
func (c *Coder) String(v *string) { code(c, v, (*Writer).String, (*Reader).String) }

// Uint32s codes a list and distinguishes nil from an empty list.
func (c *Coder) Uint32s(v *[]uint32) { code(c, v, (*Writer).Uint32s, (*Reader).Uint32s) }

// Constants codes bytes of the data file.
func (c *Coder) Constants(v *[]byte) { code(c, v, (*Writer).Constants, (*Reader).Constants) }

// Number codes a number between two bounds, both included.
func Number[T ~int | ~int32 | ~uint8 | ~uint16 | ~uint32](c *Coder, v *T, lo, hi int64) {
	switch {
	case c.r == nil && lo < 0:
		c.w.Int(int64(*v))
	case c.r == nil:
		c.w.Uint(uint64(*v))
	case lo < 0:
		*v = T(c.r.IntIn(lo, hi))
	default:
		n := c.r.IntUpTo(hi)
		c.Check(int64(n) >= lo, "%d is less than %d", n, lo)
		*v = T(n)
	}
}

// List codes a list by its elements, each of at least one byte. Reading ends at the first error.
func List[T any](c *Coder, list *[]T, element func(*T)) {
	if c.r == nil {
		c.w.Uint(uint64(len(*list)))
		for i := range *list {
			element(&(*list)[i])
		}
		return
	}
	*list = nil
	for range c.r.Count() {
		var x T
		if element(&x); !c.Valid() {
			return
		}
		*list = append(*list, x)
	}
}
