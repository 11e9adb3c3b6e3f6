package driverpb

import (
	_ "embed"

	"google.golang.org/protobuf/encoding/protowire"
)

// Proto is the text of driver.proto.
//
//go:embed driver.proto
var Proto []byte

// Descriptor is driver.proto compiled, the one file of a google.protobuf.FileDescriptorSet.
func Descriptor() []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), file_driver_proto_rawDesc)
}
