package crash

// mapped compiles models whose constants are mapped from a file, in threads. A mapping lasts as long as its
// compilation, as NNAPI requires of clients.
func (t *test) mapped(c *Config) error {
	return t.threads(c.Threads, c.Duration, func(thread int, until func() bool) error {
		for k := thread; !until(); k++ {
			l := t.loads[k%len(t.loads)]
			m, unmap, err := mapConstants(l.model)
			if err != nil {
				return err
			}
			own := &load{model: m, device: l.device, inputs: l.inputs, expected: l.expected}
			compiled, err := t.compile(own)
			if err == nil {
				_, err = t.infer(own, compiled)
			}
			unmap()
			if err != nil {
				return err
			}
		}
		return nil
	})
}
