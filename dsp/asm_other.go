//go:build !amd64 || purego

package dsp

func hostAsm() *asmTable { return nil }

func allAsm() []*asmTable { return nil }

func (t *thread) exec(b *block, rounds uint32) uint32 {
	t.begin(rounds)
	return rounds - t.execGo(b)
}
