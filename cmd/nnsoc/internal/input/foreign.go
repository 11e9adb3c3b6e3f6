package input

import (
	"bytes"
	"errors"
	"strings"
)

// foreign are files that are given for networks and are none: how they begin, what they are and what works instead.
var foreign = []struct{ begins, what string }{
	{"version https://git-lfs", "is a pointer of Git LFS, not the network itself: git lfs pull fetches that"},
	{"PK\x03\x04", "is a zip archive, as PyTorch and Keras write their own files: torch.onnx.export and tf.lite.TFLiteConverter write networks; of others unpack it first"},
	{"\x89HDF", "is HDF5, as Keras writes it: tf.lite.TFLiteConverter.from_keras_model writes a .tflite of it"},
	{"\x80\x02", "is a pickle of Python, as PyTorch wrote its own files: torch.onnx.export writes networks"},
	{"\x80\x04", "is a pickle of Python: torch.onnx.export and tf.lite.TFLiteConverter write networks"},
	{"\x1f\x8b", "is compressed by gzip: gunzip it first"},
	{"BZh", "is compressed by bzip2: bunzip2 it first"},
	{"\xfd7zXZ", "is compressed by xz: unxz it first"},
	{"(\xb5/\xfd", "is compressed by zstd: unzstd it first"},
	{"<!doctype", "is a page of the web, perhaps the one that links to the network"},
	{"<html", "is a page of the web, perhaps the one that links to the network"},
	{"\x93NUMPY", "is a tensor of NumPy, which --input takes"},
	{"\x89PNG", "is a picture, which --input takes"},
	{"\xff\xd8\xff", "is a picture, which --input takes"},
	{"\x7fELF", "is a program"},
}

// errForeign is the error for the bytes of a file that no importer reads, nil where nothing better than theirs is known.
func errForeign(data []byte) error {
	if len(data) == 0 {
		return errors.New("is empty, no network")
	}
	head := strings.ToLower(string(data[:min(len(data), 32)]))
	for _, f := range foreign {
		if bytes.HasPrefix(data, []byte(f.begins)) || f.begins[0] == '<' && strings.HasPrefix(head, f.begins) {
			return errors.New(f.what)
		}
	}
	return nil
}

// isTFLite reports whether a file has the identifier of TensorFlow Lite's.
func isTFLite(data []byte) bool { return len(data) >= 8 && string(data[4:8]) == "TFL3" }
