// Package phones holds published latencies of whole networks on phones beside those that presets of the phones take:
// rows of the tables that this repository carries, and of tables that a reader keeps aside and names.
//
// A row is a figure: a network of package zoo, the phone, the engine that ran it, the arithmetic, the median of
// the published runs in ms. Rows of role "fit" gave keys of a preset their values, rows of role "check" did not,
// and rows of a reader's tables are "held". What cannot be compared is counted with its reason: a phone
// without preset, a network that the zoo does not have, a run that was divided between engines.
package phones
