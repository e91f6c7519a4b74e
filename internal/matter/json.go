package matter

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

func (d *Document) decodeJSON() {
	if strings.TrimSpace(d.Header) == "" {
		return
	}
	decoder := json.NewDecoder(strings.NewReader(d.Header))
	decoder.UseNumber()
	v, err := jsonValue(decoder, 0)
	if err == nil && v.Kind != Mapping {
		err = errNotMapping
	}
	if err == nil {
		if _, end := decoder.Token(); end != io.EOF {
			err = errors.New("text after the object")
		}
	}
	switch {
	case errors.Is(err, errRefused):
		d.report(problem.FrontmatterRefused, d.Line, refused, "")
	case err != nil:
		before := d.Header[:min(int(decoder.InputOffset()), len(d.Header))]
		d.report(problem.FrontmatterInvalid, d.Line+1+strings.Count(before, "\n"),
			"the frontmatter is not a valid JSON object; the fields are unknown: "+err.Error(), "")
	default:
		d.Fields = v.Fields()
	}
}

// jsonValue reads a value. The order of keys and the notation of numbers are kept.
func jsonValue(decoder *json.Decoder, depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, errRefused
	}
	token, err := decoder.Token()
	if err != nil {
		return Value{}, err
	}
	switch token := token.(type) {
	case nil:
		return Value{}, nil
	case bool:
		return Value{Kind: Bool, Text: strconv.FormatBool(token)}, nil
	case json.Number:
		kind := Int
		if bytes.ContainsAny([]byte(token), ".eE") {
			kind = Float
		}
		return Value{Kind: kind, Text: token.String()}, nil
	case string:
		return Value{Kind: String, Text: token}, nil
	}
	v := sequence(nil)
	if token == json.Delim('{') {
		v.Kind = Mapping
	}
	for decoder.More() {
		var field Field
		if v.Kind == Mapping {
			key, err := decoder.Token()
			if err != nil {
				return v, err
			}
			field.Key, _ = key.(string) // the decoder accepts only strings
		}
		if field.Value, err = jsonValue(decoder, depth+1); err != nil {
			return v, err
		}
		if v.Kind == Mapping {
			v.fields = append(v.fields, field)
		} else {
			v.items = append(v.items, field.Value)
		}
	}
	_, err = decoder.Token() // the closing bracket
	return v, err
}
