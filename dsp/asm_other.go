//go:build !amd64 || purego

package dsp

func hostAsm() *asmTable { return nil }

func allAsm() []*asmTable { return nil }

func (t *thread) execAsm(b *block) uint32 { return t.execGo(b) }
