package driverpb

import _ "embed"

// Proto is the text of driver.proto.
//
//go:embed driver.proto
var Proto []byte
