package ethosu

import "fmt"

// Command is one decoded command.
type Command struct {
	Code    Code
	Param   uint16
	Payload uint32 // second word; 0 for commands without
}

// Words is the size of the command in 32-bit words.
func (c Command) Words() int {
	if c.Code.HasPayload() {
		return 2
	}
	return 1
}

// Addr is the 40-bit value of an address, stride or length register.
func (c Command) Addr() uint64 { return uint64(c.Param&0xFF)<<32 | uint64(c.Payload) }

// Append encodes the command.
func (c Command) Append(dst []uint32) []uint32 {
	dst = append(dst, uint32(c.Param)<<16|uint32(c.Code))
	if c.Code.HasPayload() {
		dst = append(dst, c.Payload)
	}
	return dst
}

// StreamError is a decoding error at a word of a stream.
type StreamError struct {
	Word int // index of the command's first word
	Msg  string
}

// Error includes the byte offset, as listings do.
func (e *StreamError) Error() string {
	return fmt.Sprintf("ethosu: offset %#06x: %s", 4*e.Word, e.Msg)
}

// Next decodes the command at words[at]. It does not allocate unless it fails,
// with a *StreamError.
func Next(words []uint32, at int) (Command, error) {
	if at < 0 || at >= len(words) {
		return Command{}, &StreamError{at, "end of stream where a command was expected"}
	}
	w := words[at]
	c := Command{Code: Code(w & 0xFFFF), Param: uint16(w >> 16)}
	if w&0x8000 != 0 || w&0x3C00 != 0 {
		return Command{}, &StreamError{at, fmt.Sprintf("malformed command word %#08x", w)}
	}
	if Lookup(c.Code) == nil {
		return Command{}, &StreamError{at, fmt.Sprintf("unknown command code %#04x", uint16(c.Code))}
	}
	if c.Code.HasPayload() {
		if at+1 >= len(words) {
			return Command{}, &StreamError{at, fmt.Sprintf("%s: payload word missing", c.Code)}
		}
		c.Payload = words[at+1]
	}
	return c, nil
}

// Decode decodes a whole stream. The error is a *StreamError.
func Decode(words []uint32) ([]Command, error) {
	cmds := make([]Command, 0, len(words)*2/3+1)
	for at := 0; at < len(words); {
		c, err := Next(words, at)
		if err != nil {
			return cmds, err
		}
		cmds = append(cmds, c)
		at += c.Words()
	}
	return cmds, nil
}

// Encode is the inverse of Decode.
func Encode(cmds []Command) []uint32 {
	words := make([]uint32, 0, len(cmds)*3/2)
	for _, c := range cmds {
		words = c.Append(words)
	}
	return words
}
