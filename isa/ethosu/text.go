package ethosu

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Text is the command as the vendor's compiler lists it, at a byte offset:
//
//	0x000000:          0001 010f - cmd0.NPU_SET_IFM_REGION            1
//	0x000004: 00000280 0000 4000 - cmd1.NPU_SET_IFM_BASE0             0
func (c Command) Text(offset int) string {
	payload, set := "        ", 0
	if c.Code.HasPayload() {
		payload, set = fmt.Sprintf("%08x", c.Payload), 1
	}
	return fmt.Sprintf("0x%06x: %s %04x %04x - cmd%d.%-25s %5d",
		offset, payload, c.Param, uint16(c.Code), set, c.Code, c.Param)
}

// Print lists a stream, one command per line.
func Print(w io.Writer, words []uint32) error {
	out := bufio.NewWriter(w)
	for at := 0; at < len(words); {
		c, err := Next(words, at)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, c.Text(4*at))
		at += c.Words()
	}
	return out.Flush()
}

// byName maps full names to codes; written once, here.
var byName = func() map[string]Code {
	m := make(map[string]Code, len(forms))
	for i := range forms {
		m[forms[i].FullName()] = forms[i].Code
	}
	return m
}()

// Assemble reads the output of Print. A line may be shorter: the name with or without its cmd prefix, the parameter,
// and for commands with a payload the payload, separated by spaces or commas, numbers in Go syntax:
//
//	NPU_SET_OFM_SCALE 48, 0x41726b1e
//	NPU_OP_CONV 0
//
// Empty lines and text after # or ; are ignored. Errors name the line.
func Assemble(r io.Reader) ([]uint32, error) {
	var words []uint32
	sc := bufio.NewScanner(r)
	for line := 1; sc.Scan(); line++ {
		text := sc.Text()
		if i := strings.IndexAny(text, "#;"); i >= 0 {
			text = text[:i]
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		c, err := parseLine(text, 4*len(words))
		if err != nil {
			return nil, fmt.Errorf("ethosu: line %d: %w", line, err)
		}
		words = c.Append(words)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("ethosu: %w", err)
	}
	return words, nil
}

func parseLine(text string, offset int) (Command, error) {
	head, tail, listing := strings.Cut(text, " - ")
	if !listing {
		tail = text
	}
	f := strings.FieldsFunc(tail, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if len(f) == 0 {
		return Command{}, fmt.Errorf("no command")
	}
	name, prefix := f[0], ""
	if i := strings.IndexByte(name, '.'); i >= 0 {
		prefix, name = name[:i], name[i+1:]
	}
	code, ok := byName[name]
	if !ok {
		return Command{}, fmt.Errorf("unknown command %q", name)
	}
	if want := "cmd" + strconv.Itoa(flag(code.HasPayload(), 0)); prefix != "" && prefix != want {
		return Command{}, fmt.Errorf("%s is %s, not %s", name, want, prefix)
	}
	c := Command{Code: code}
	numbers := 1
	if code.HasPayload() && !listing {
		numbers = 2
	}
	if len(f) != 1+numbers {
		return Command{}, fmt.Errorf("%s takes %d numbers, not %d", name, numbers, len(f)-1)
	}
	v, err := strconv.ParseInt(f[1], 0, 32)
	if err != nil || v < -0x8000 || v > 0xFFFF {
		return Command{}, fmt.Errorf("%s: parameter %q is not a 16-bit number", name, f[1])
	}
	c.Param = uint16(v)
	if numbers == 2 {
		p, err := strconv.ParseUint(f[2], 0, 32)
		if err != nil {
			return Command{}, fmt.Errorf("%s: payload %q is not a 32-bit number", name, f[2])
		}
		c.Payload = uint32(p)
	}
	if listing {
		return checkListing(c, head, offset)
	}
	return c, nil
}

// checkListing reads the payload from the left half of a full line and requires that the rest of it agrees with the
// right half.
func checkListing(c Command, head string, offset int) (Command, error) {
	at, rest, ok := strings.Cut(head, ":")
	f := strings.Fields(rest)
	if !ok || len(f) != c.Words()+1 {
		return c, fmt.Errorf("malformed listing %q", head)
	}
	if o, err := strconv.ParseUint(at, 0, 32); err != nil || int(o) != offset {
		return c, fmt.Errorf("offset %s, the stream is at %#06x", at, offset)
	}
	hex := make([]uint32, len(f))
	for i, s := range f {
		v, err := strconv.ParseUint(s, 16, 32)
		if err != nil {
			return c, fmt.Errorf("bad hexadecimal word %q", s)
		}
		hex[i] = uint32(v)
	}
	if c.Code.HasPayload() {
		c.Payload = hex[0]
		hex = hex[1:]
	}
	if hex[0] != uint32(c.Param) || hex[1] != uint32(c.Code) {
		return c, fmt.Errorf("words %04x %04x are not %s %d", hex[0], hex[1], c.Code, c.Param)
	}
	return c, nil
}
