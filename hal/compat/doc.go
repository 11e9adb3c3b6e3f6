// Package compat converts between HAL versions 1.0 to 1.3: which version a model, an
// operation, a request or capabilities comply with (CompliantWith), their form in
// another version (Convert), and the asynchronous interfaces of each version in front of
// a hal.Device (NewDevice), with a status of the launch and a callback.
//
// Lossy conversions return a warning.
package compat
