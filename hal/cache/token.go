package cache

import (
	"crypto/sha256"
	"hash"

	"github.com/nnsoc/nnsoc/hal"
)

// TokenHasher hashes a client's token and the other inputs of a compilation to a cache
// token.
type TokenHasher struct{ sum hash.Hash }

// NewTokenHasher starts with a client's token.
func NewTokenHasher(token []byte) *TokenHasher {
	h := &TokenHasher{sha256.New()}
	h.sum.Write(token)
	return h
}

// Update adds bytes.
func (h *TokenHasher) Update(b []byte) { h.sum.Write(b) }

// Token is the SHA-256 of all that was added.
func (h *TokenHasher) Token() (t hal.CacheToken) {
	copy(t[:], h.sum.Sum(nil))
	return t
}
