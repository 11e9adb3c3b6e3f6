// Package driverpb is the messages of driver.proto. After a change of it,
//
//	go run github.com/bufbuild/buf/cmd/buf@latest generate
//
// in this folder compiles it again, with the plugins of buf.gen.yaml. It is not part of
// go generate, because that compiler needs minutes to build.
package driverpb
