package service

import (
	"os"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// cache opens the files of a compilation cache that a client names. One that cannot be
// opened is a handle without file: the driver decides whether that is an error, and
// preparing does not fail because of it. end closes the files.
func (x *session) cache(c *pb.Cache) (files hal.Cache, end func()) {
	var open []*os.File
	handles := func(list []*pb.CacheHandle) []hal.CacheHandle {
		var all []hal.CacheHandle
		for _, h := range list[:min(len(list), hal.MaxCacheFiles+1)] {
			var own hal.CacheHandle
			for _, f := range h.GetFiles()[:min(len(h.GetFiles()), hal.MaxCacheFiles+1)] {
				file, err := shm.OpenFile(x.client.pid, int(f.GetFd()), f.GetRead(), f.GetWrite())
				if err != nil {
					own = append(own, nil)
					continue
				}
				open, own = append(open, file), append(own, file)
			}
			all = append(all, own)
		}
		return all
	}
	files.Model, files.Data = handles(c.GetModel()), handles(c.GetData())
	copy(files.Token[:], c.GetToken())
	return files, func() {
		for _, f := range open {
			_ = f.Close()
		}
	}
}

// filesCost is what a program from the files of a cache counts: their bytes, which the
// driver copies.
func filesCost(c *hal.Cache) (sum cost) {
	for _, list := range [2][]hal.CacheHandle{c.Model, c.Data} {
		for _, h := range list {
			for _, f := range h {
				if own, ok := f.(*os.File); ok {
					if info, err := own.Stat(); err == nil {
						sum[memoryBytes] += max(info.Size(), 0)
					}
				}
			}
		}
	}
	return sum
}
