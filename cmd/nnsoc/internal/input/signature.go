package input

import (
	"os"
	"strings"

	"github.com/nnsoc/nnsoc/importer/tflite"
)

// signatureMark stands between a file and the signature of it that a MODEL is.
const signatureMark = "#"

// cutSignature divides FILE#NAME; ok reports whether the part before a mark is a file, so that a name in which another
// mark stands is read whole.
func cutSignature(name string) (file, key string, ok bool) {
	for at := 0; ; at++ {
		n := strings.Index(name[at:], signatureMark)
		if n < 0 {
			return "", "", false
		}
		at += n
		if info, err := os.Stat(name[:at]); err == nil && !info.IsDir() && at+1 < len(name) {
			return name[:at], name[at+1:], true
		}
	}
}

// Signatures lists the signatures of a file, none where it is no .tflite file that has some.
func Signatures(path string) (l []tflite.Signature) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil
	}
	_ = UseModelFile(path, func(data []byte) error {
		l, _ = tflite.Signatures(data)
		return nil
	})
	return l
}

// SignatureModel is the MODEL argument of a signature of a file.
func SignatureModel(path, key string) string { return path + signatureMark + key }

// signatureKeys completes --signature.
func signatureKeys(args []string) (keys []string) {
	if len(args) == 0 {
		return nil
	}
	for _, s := range Signatures(args[0]) {
		keys = append(keys, s.Key)
	}
	return keys
}
