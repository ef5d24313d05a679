package wire

import (
	"net/url"
	"path"
	"regexp"
	"strings"
)

// DataURI spells base64 data as a data URI, without white space.
func DataURI(mime, data string) string { return "data:" + mime + ";base64," + StripSpace(data) }

// SplitDataURI reads a data URI of base64; ok is false for any other text.
func SplitDataURI(uri string) (mime, data string, ok bool) {
	head, data, found := strings.Cut(uri, ",")
	head, isData := strings.CutPrefix(head, "data:")
	mime, isBase64 := strings.CutSuffix(head, ";base64")
	if !found || !isData || !isBase64 {
		return "", "", false
	}
	return mime, data, true
}

// LinkMIME reads the type of an image or PDF off the extension of a link, "" for
// any other.
func LinkMIME(uri string) string {
	switch strings.ToLower(path.Ext(uriPath(uri))) {
	case ".pdf":
		return PDFMIME
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	}
	return ""
}

// PDFName is the file name of a PDF: the last segment of its URI's path,
// percent-decoded, with .pdf appended where it is missing; document.pdf where
// there is none. Source: spec 1.4 of the source documents, row RN09.
func PDFName(uri string) string {
	p := uriPath(uri)
	name := p[strings.LastIndexByte(p, '/')+1:]
	if plain, err := url.PathUnescape(name); err == nil {
		name = strings.ToValidUTF8(plain, "\uFFFD")
	}
	switch {
	case name == "":
		return "document.pdf"
	case strings.HasSuffix(strings.ToLower(name), ".pdf"):
		return name
	}
	return name + ".pdf"
}

var uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// uriPath is the path of a hierarchical URI or of a relative reference, without
// query and fragment; "" for an opaque URI such as urn:, data: or foo:bar.
func uriPath(u string) string {
	if scheme := uriScheme.FindString(u); scheme != "" {
		u = u[len(scheme):]
		if !strings.HasPrefix(u, "/") {
			return ""
		}
	}
	if i := strings.IndexAny(u, "?#"); i >= 0 {
		u = u[:i]
	}
	if after, ok := strings.CutPrefix(u, "//"); ok { // the authority is no name
		_, rest, found := strings.Cut(after, "/")
		if !found {
			return ""
		}
		u = rest
	}
	return u
}
