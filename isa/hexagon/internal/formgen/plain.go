package formgen

import "strings"

// plainForms finds for every row that executes under a scalar predicate the row that does the same without: the first
// whose text is the same but for the predicate. It returns the identifiers, "" where there is none.
func plainForms(rows []Row) []string {
	byText := map[string]string{}
	for i := range rows {
		k := plainText(rows[i].text())
		if _, ok := byText[k]; !ok {
			byText[k] = rows[i].ident()
		}
	}
	plain := make([]string, len(rows))
	for i := range rows {
		if r := &rows[i]; r.predicated() {
			if _, rest, ok := strings.Cut(r.text(), ") "); ok {
				plain[i] = byText[plainText(rest)]
			}
		}
	}
	return plain
}

// predicated reports rows that execute under a scalar predicate.
func (r *Row) predicated() bool {
	if !strings.HasPrefix(r.Syntax, "if (") {
		return false
	}
	for _, o := range r.Operands {
		if o.Kind == "P" || o.Kind == "Q" {
			return o.Kind == "P"
		}
	}
	return false
}

var spelledAlike = strings.NewReplacer("gp+#", "#", ":nt", "", ":t", "", "Os.new", "Vs", "Nt.new", "Rt")

// plainText reduces a form's text to what its operation depends on: without operand letters and immediate widths.
func plainText(s string) string {
	var b strings.Builder
	s = spelledAlike.Replace(s)
	for i := 0; i < len(s); i++ {
		b.WriteByte(s[i])
		switch c := s[i]; {
		case c == '#': // drop the width, scale and extender mark of an immediate
			for i+1 < len(s) && strings.IndexByte("surm0123456789:*", s[i+1]) >= 0 {
				i++
			}
		case c == 'R' || c == 'V':
			if i+1 < len(s) && s[i+1] >= 'd' && s[i+1] <= 'y' {
				b.WriteByte('.')
				for i++; i+1 < len(s) && s[i+1] == s[i]; i++ {
					b.WriteByte('.')
				}
			}
		}
	}
	return b.String()
}
