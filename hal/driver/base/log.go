package base

import "fmt"

// Logger receives what drivers do, by a tag of package vlog. Its methods may be called from several
// goroutines.
type Logger interface {
	Enabled(tag string) bool
	Log(tag, device, message string)
}

// SetLogger makes a logger receive what the driver does from now on; nil is nobody.
func (d *Device) SetLogger(l Logger) { d.logger.Store(&l) }

// Logs reports whether somebody reads events of a tag.
func (d *Device) Logs(tag string) bool {
	l := d.logger.Load()
	return l != nil && *l != nil && (*l).Enabled(tag)
}

// Log tells what the driver does.
func (d *Device) Log(tag, format string, args ...any) {
	if d.Logs(tag) {
		(*d.logger.Load()).Log(tag, d.cfg.Name, fmt.Sprintf(format, args...))
	}
}
