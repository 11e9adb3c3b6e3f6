package codeobject

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Offload bundles: what clang-offload-bundler writes, and hipcc as a .hipfb file or in the section .hip_fatbin of the
// host's program. A bundle is
//
//	magic, number of entries, then of each: offset, size, length of the target, target
//
// with numbers of 64 bits. A target is kind, triple and processor, as "hipv4-amdgcn-amd-amdhsa--gfx1030:xnack-".
const (
	bundleMagic     = "__CLANG_OFFLOAD_BUNDLE__"
	compressedMagic = "CCOB"
	textMagic       = "__CLANG_OFFLOAD_BUNDLE____START__"
	packageMagic    = "\x10\xFF\x10\xAD" // clang-offload-packager
	fatSection      = ".hip_fatbin"
	maxEntries      = 1024
)

// entry is a code object of a bundle.
type entry struct {
	target    string
	processor string // gfx1030, empty for the host's
	data      []byte
}

// unbundle is the code object in data, which may be a bundle, or a program of the host with bundles; other data is
// returned as it is.
func unbundle(data []byte) ([]byte, error) {
	if bytes.HasPrefix(data, []byte(elf.ELFMAG)) {
		fat := fatBinary(data)
		if fat == nil {
			return data, nil
		}
		data = fat
	}
	switch head := data[:min(len(data), 256)]; {
	case bytes.HasPrefix(data, []byte(compressedMagic)):
		return nil, errors.New("codeobject: a compressed offload bundle; hipcc -no-offload-compress, or clang-offload-bundler without -compress, writes one that is not")
	case bytes.HasPrefix(data, []byte(packageMagic)):
		return nil, errors.New("codeobject: a package of clang-offload-packager; clang-offload-packager --image takes the code object out of it")
	case bytes.Contains(head, []byte(textMagic)):
		return nil, errors.New("codeobject: an offload bundle of text; clang-offload-bundler --unbundle takes the source out of it")
	case !bytes.HasPrefix(data, []byte(bundleMagic)):
		return data, nil
	}
	entries, err := readBundles(data)
	if err != nil {
		return nil, fmt.Errorf("codeobject: offload bundle: %w", err)
	}
	return choose(entries)
}

// fatBinary is the section of bundles of a program of the host's, nil where there is none.
func fatBinary(data []byte) []byte {
	e, err := elf.NewFile(bytes.NewReader(data))
	if err != nil || e.Machine == machineAMDGPU {
		return nil
	}
	s := e.Section(fatSection)
	if s == nil || s.Type == elf.SHT_NOBITS || s.Offset > uint64(len(data)) || s.FileSize > uint64(len(data))-s.Offset {
		return nil
	}
	return data[s.Offset : s.Offset+s.FileSize]
}

// readBundles reads a bundle, and those behind it: a program linked of several files has one of each, at multiples of a
// page.
func readBundles(data []byte) ([]entry, error) {
	var all []entry
	for {
		list, end, err := readBundle(data)
		if err != nil {
			return nil, err
		}
		if all = append(all, list...); len(all) > maxEntries {
			return nil, fmt.Errorf("more than %d entries", maxEntries)
		}
		next := bytes.Index(data[end:], []byte(bundleMagic))
		if next < 0 {
			return all, nil
		}
		data = data[end+next:]
	}
}

// readBundle reads one bundle and returns where it ends.
func readBundle(data []byte) (list []entry, end int, err error) {
	at := len(bundleMagic)
	number := func() (uint64, error) {
		if len(data)-at < 8 {
			return 0, errors.New("the table of entries is truncated")
		}
		at += 8
		return binary.LittleEndian.Uint64(data[at-8:]), nil
	}
	n, err := number()
	switch {
	case err != nil:
		return nil, 0, err
	case n > maxEntries:
		return nil, 0, fmt.Errorf("%d entries, at most %d", n, maxEntries)
	}
	end = at
	for i := range n {
		var f [3]uint64 // offset, size, length of the target
		for k := range f {
			if f[k], err = number(); err != nil {
				return nil, 0, err
			}
		}
		if f[2] > uint64(len(data)-at) {
			return nil, 0, fmt.Errorf("the target of entry %d is truncated", i)
		}
		e := entry{target: string(data[at : at+int(f[2])])}
		at += int(f[2])
		if f[0] > uint64(len(data)) || f[1] > uint64(len(data))-f[0] {
			return nil, 0, fmt.Errorf("entry %d (%s): %d bytes at %d of %d", i, e.target, f[1], f[0], len(data))
		}
		if k := strings.LastIndex(e.target, "gfx"); k >= 0 {
			e.processor, _, _ = strings.Cut(e.target[k:], ":")
		}
		e.data = data[f[0] : f[0]+f[1]]
		end = max(end, at, int(f[0]+f[1]))
		list = append(list, e)
	}
	return list, end, nil
}

// choose is the code object that this GPU runs: that for gfx1030, or else one for a processor with the same code.
func choose(entries []entry) ([]byte, error) {
	var targets []string
	var best []entry
	same := func(e *entry) bool {
		for _, name := range machines {
			if name == e.processor {
				return true
			}
		}
		return false
	}
	for i := range entries {
		e := &entries[i]
		if e.processor == "" || len(e.data) == 0 {
			continue
		}
		targets = append(targets, e.processor)
		switch {
		case !same(e), len(best) > 0 && best[0].processor == "gfx1030" && e.processor != "gfx1030":
		case e.processor == "gfx1030" && len(best) > 0 && best[0].processor != "gfx1030":
			best = []entry{*e}
		case len(best) == 0 || best[0].processor == e.processor:
			best = append(best, *e)
		}
	}
	slices.Sort(targets)
	switch targets = slices.Compact(targets); {
	case len(best) == 1:
		if bytes.HasPrefix(best[0].data, []byte(compressedMagic)) || bytes.HasPrefix(best[0].data, []byte(bundleMagic)) {
			return nil, errors.New("codeobject: offload bundle: a bundle in a bundle")
		}
		return best[0].data, nil
	case len(best) > 1:
		return nil, fmt.Errorf("codeobject: offload bundle: %d code objects for %s, one of each source file; link them with -fgpu-rdc, or unbundle the file of one", len(best), best[0].processor)
	case len(targets) == 0:
		return nil, errors.New("codeobject: offload bundle: no code for a GPU in it")
	}
	return nil, fmt.Errorf("codeobject: offload bundle: code for %s, this GPU runs gfx1030 (hipcc --offload-arch=gfx1030)", strings.Join(targets, ", "))
}
