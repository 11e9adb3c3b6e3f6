package hal

import "io"

// MaxCacheFiles bounds each kind of file of a compilation cache.
const MaxCacheFiles = 32

// CacheFile is an open file of a compilation cache, readable and writable: *os.File.
type CacheFile interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// CacheHandle is a HIDL handle that carries files; a cache needs exactly one in each.
type CacheHandle []CacheFile

// CacheToken names a compilation: the client's digest of what was compiled.
type CacheToken [32]byte

// Cache are the files of a compilation cache. Model files hold compiled code, data files
// constants and repacked weights.
type Cache struct {
	Model, Data []CacheHandle
	Token       CacheToken
}
