//go:build !amd64 || purego

package dsp

func hostAsm() *asmTable { return nil }

func allAsm() []*asmTable { return nil }

func (t *thread) execAsm(b *block) { t.execGo(b) }
