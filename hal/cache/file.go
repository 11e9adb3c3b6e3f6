package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/nnsoc/nnsoc/hal"
)

// Numbers of files that a device with a cache needs.
const (
	ModelFiles = 1
	DataFiles  = 1
)

var magic = []byte("nnsoc compilation cache 1\n")

// Layout of the model file's header, behind the magic.
const (
	digestBytes = sha256.Size
	headBytes   = 32 + digestBytes + 8 + 8 + 4 // token, identity, payload bytes, data bytes, CRC of the data
)

// maxFile bounds what is read from a file.
const maxFile = 1 << 32

// castagnoli is the polynomial that processors compute. The data file is checked against
// damage; that only the model file resists forgery is what the HAL requires.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Save writes a cache for the device of an identity: a text that changes with everything
// that a compiled program depends on besides the model. When a file cannot be written,
// the model file is left empty, which no Load accepts.
func Save(c *hal.Cache, identity string, w *Writer) error {
	if err := Check(c); err != nil {
		return err
	}
	id := sha256.Sum256([]byte(identity))
	model := append([]byte(nil), magic...)
	model = append(model, c.Token[:]...)
	model = append(model, id[:]...)
	model = binary.LittleEndian.AppendUint64(model, uint64(len(w.model)))
	model = binary.LittleEndian.AppendUint64(model, uint64(len(w.data)))
	model = binary.LittleEndian.AppendUint32(model, crc32.Checksum(w.data, castagnoli()))
	model = append(model, w.model...)
	digest := sha256.Sum256(model)
	model = append(model, digest[:]...)
	mf, df := c.Model[0][0], c.Data[0][0]
	if err := mf.Truncate(0); err != nil {
		return fmt.Errorf("cache: model file: %w", err)
	}
	if err := df.Truncate(0); err != nil {
		return fmt.Errorf("cache: data file: %w", err)
	}
	if err := writeParts(df, digest[:], w.data); err != nil {
		return fmt.Errorf("cache: data file: %w", err)
	}
	if err := writeParts(mf, model, nil); err != nil {
		_ = mf.Truncate(0)
		return fmt.Errorf("cache: model file: %w", err)
	}
	return nil
}

// writeParts writes two parts of a file, one behind the other.
func writeParts(f hal.CacheFile, a, b []byte) error {
	if _, err := f.WriteAt(a, 0); err != nil {
		return err
	}
	if len(b) == 0 {
		return nil
	}
	_, err := f.WriteAt(b, int64(len(a)))
	return err
}

// Check compares the numbers of handles and of files in each with what is needed.
func Check(c *hal.Cache) error {
	if len(c.Model) != ModelFiles || len(c.Data) != DataFiles {
		return fmt.Errorf("cache: %d model and %d data files, %d and %d needed", len(c.Model), len(c.Data), ModelFiles, DataFiles)
	}
	for i, h := range append(append([]hal.CacheHandle(nil), c.Model...), c.Data...) {
		if len(h) != 1 || h[0] == nil {
			return fmt.Errorf("cache: handle %d carries %d files, 1 needed", i, len(h))
		}
	}
	return nil
}

// Load reads a cache that Save has written for the same token and identity.
func Load(c *hal.Cache, identity string) (*Reader, error) {
	if err := Check(c); err != nil {
		return nil, err
	}
	model, err := readAll(c.Model[0][0], nil)
	if err != nil {
		return nil, fmt.Errorf("cache: model file: %w", err)
	}
	if len(model) < len(magic)+headBytes+digestBytes || !bytes.HasPrefix(model, magic) {
		return nil, errors.New("cache: the model file is none of this program")
	}
	signed := model[:len(model)-digestBytes]
	digest := sha256.Sum256(signed)
	if !bytes.Equal(digest[:], model[len(signed):]) {
		return nil, errors.New("cache: the model file is damaged")
	}
	head := signed[len(magic):]
	payload := head[headBytes:]
	id := sha256.Sum256([]byte(identity))
	switch {
	case !bytes.Equal(head[:32], c.Token[:]):
		return nil, errors.New("cache: the model file has another token")
	case !bytes.Equal(head[32:64], id[:]):
		return nil, errors.New("cache: the model file is of another device or version")
	case binary.LittleEndian.Uint64(head[64:]) != uint64(len(payload)):
		return nil, errors.New("cache: the length of the model file differs from that in its header")
	}
	bytesOfData := binary.LittleEndian.Uint64(head[72:])
	if bytesOfData > maxFile {
		return nil, fmt.Errorf("cache: a data file of %d bytes, at most %d", bytesOfData, int64(maxFile))
	}
	data, err := readAll(c.Data[0][0], digest[:])
	if err != nil {
		return nil, fmt.Errorf("cache: data file: %w", err)
	}
	if uint64(len(data)) != bytesOfData || crc32.Checksum(data, castagnoli()) != binary.LittleEndian.Uint32(head[80:]) {
		return nil, errors.New("cache: the data file is damaged")
	}
	return &Reader{model: payload, data: data}, nil
}

// readAll copies a file to memory of this process. With a prefix the file must begin
// with it, and the copy is what follows.
func readAll(f hal.CacheFile, prefix []byte) ([]byte, error) {
	at := int64(len(prefix))
	if at > 0 {
		head := make([]byte, at)
		if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !bytes.Equal(head, prefix) {
			return nil, errors.New("it belongs to another model file")
		}
	}
	size := sizeOf(f) - at
	if size > maxFile {
		return nil, fmt.Errorf("it has %d bytes, at most %d", size, int64(maxFile))
	}
	b := make([]byte, max(size, 0)+1) // one byte more detects a file that has grown
	n, err := f.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int64(n) > max(size, 0) {
		return nil, errors.New("it grows while it is read")
	}
	return b[:n:n], nil
}

// sizeOf finds the size of a file by reading.
func sizeOf(f hal.CacheFile) int64 {
	if s, ok := f.(io.Seeker); ok {
		// A descriptor's offset is the client's: it is put back.
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			end, err := s.Seek(0, io.SeekEnd)
			if _, back := s.Seek(at, io.SeekStart); err == nil && back == nil {
				return end
			}
		}
	}
	one := make([]byte, 1)
	there := func(at int64) bool { n, _ := f.ReadAt(one, at); return n == 1 }
	if !there(0) {
		return 0
	}
	lo, hi := int64(0), int64(1)
	for hi <= maxFile && there(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; there(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1
}
