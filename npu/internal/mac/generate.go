package mac

//go:generate go run ./gen -out zmac_amd64.s -stubs zmac_amd64.go -pkg mac
