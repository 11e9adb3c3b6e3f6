package check

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

// ServiceOf serves devices in a folder, each at a socket of its name.
func (t *T) ServiceOf(q service.Quotas, list ...hal.Device) (servers []*service.Server, folder string, stop func()) {
	folder = V(os.MkdirTemp("", "nnsoc-conformance"))(t, "folder")
	stop = func() {
		for _, s := range servers {
			s.Close()
		}
		_ = os.RemoveAll(folder)
	}
	for _, d := range list {
		s := service.NewServer(d, q)
		l := V(service.Listen(filepath.Join(folder, d.Name())))(t, "listen")
		go func() { _ = s.Serve(l) }()
		servers = append(servers, s)
	}
	return servers, folder, stop
}

// Dial opens a session with the only service of a folder.
func (t *T) Dial(folder string) *service.Device {
	list, dead, err := service.DialAll(folder)
	t.OK("dial", errors.Join(append(dead, err)...))
	return list[0]
}

// DisconnectLimit is how long a driver may need to notice that a client has gone, in host time.
const DisconnectLimit = 20 * time.Second
