package kernel

//go:generate go run ./gen -out zkernel_amd64.s -stubs zkernel_amd64.go -pkg kernel
