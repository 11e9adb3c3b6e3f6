//go:build !unix

package crash

import (
	"errors"

	"github.com/nnsoc/nnsoc/nn"
)

// mapConstants is not possible without memory mappings.
func mapConstants(*nn.Model) (*nn.Model, func(), error) {
	return nil, nil, errors.New("crash: memory-mapped models need mmap")
}
