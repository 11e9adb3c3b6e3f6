package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/nnsoc/nnsoc/hal"
	pb "github.com/nnsoc/nnsoc/hal/service/driverpb"
	"github.com/nnsoc/nnsoc/hal/service/shm"
)

// passedCache are the files of a compilation cache as a driver gets them: the client's
// own, and anonymous files in the place of what is no file of the operating system.
type passedCache struct {
	message *pb.Cache
	files   []hal.CacheFile // in use until close
	mirrors []mirror
}

// mirror is an anonymous file in the place of another.
type mirror struct {
	of   hal.CacheFile
	file *os.File
}

// passCache makes the files of a cache known. With load, mirrors have the content.
func passCache(c *hal.Cache, load bool) (*passedCache, error) {
	p := &passedCache{message: &pb.Cache{Token: c.Token[:]}}
	for k, list := range [2][]hal.CacheHandle{c.Model, c.Data} {
		for _, h := range list {
			handle := &pb.CacheHandle{}
			for _, f := range h {
				x, err := p.pass(f, load)
				if err != nil {
					p.close()
					return nil, hal.Errorf(hal.GeneralFailure, "service: cache: %w", err)
				}
				handle.Files = append(handle.Files, x)
			}
			if k == 0 {
				p.message.Model = append(p.message.Model, handle)
			} else {
				p.message.Data = append(p.message.Data, handle)
			}
		}
	}
	return p, nil
}

func (p *passedCache) pass(f hal.CacheFile, load bool) (*pb.CacheFile, error) {
	if f == nil {
		return &pb.CacheFile{Fd: -1}, nil
	}
	p.files = append(p.files, f)
	if own, ok := f.(*os.File); ok {
		read, write, err := shm.Access(own)
		if err != nil {
			return &pb.CacheFile{Fd: -1}, nil // it is closed
		}
		return &pb.CacheFile{Fd: int32(own.Fd()), Read: read, Write: write}, nil
	}
	m, err := shm.NewFile()
	if err != nil {
		return nil, err
	}
	p.mirrors = append(p.mirrors, mirror{f, m})
	if load {
		if err := copyFile(m, f); err != nil {
			return nil, err
		}
	}
	return &pb.CacheFile{Fd: int32(m.Fd()), Read: true, Write: true}, nil
}

// saved copies the files that the driver has written. A file that cannot be written is left
// empty or unchanged, which no driver accepts as a cache.
func (p *passedCache) saved() {
	for _, m := range p.mirrors {
		if info, err := m.file.Stat(); err != nil || info.Size() == 0 || m.of.Truncate(0) != nil {
			continue
		}
		if copyFile(m.of, m.file) != nil {
			_ = m.of.Truncate(0)
		}
	}
}

// close forgets the files; the client's own stay open.
func (p *passedCache) close() {
	for _, m := range p.mirrors {
		_ = m.file.Close()
	}
	runtime.KeepAlive(p.files)
}

// maxCache bounds a cache file that is copied.
const maxCache = 1 << 32

// copyFile copies a file from its beginning.
func copyFile(dst io.WriterAt, src io.ReaderAt) error {
	buffer := make([]byte, 1<<16)
	for at := int64(0); at <= maxCache; {
		n, err := src.ReadAt(buffer, at)
		if n > 0 {
			if _, err := dst.WriteAt(buffer[:n], at); err != nil {
				return err
			}
			at += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
	return fmt.Errorf("a file of more than %d bytes", int64(maxCache))
}
