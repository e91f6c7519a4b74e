package schema

import (
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// ArgumentsOf returns the form of the arguments of a function whose parameter is of type t.
func ArgumentsOf(t reflect.Type) (Type, error) {
	form, err := typeReader{decodes: true}.read(t)
	form.nullable = false // null means {}
	return form, err
}

// ResultOf returns the form of the result of a function.
func ResultOf(t reflect.Type) (Type, error) { return typeReader{}.read(t) }

// A Type is the JSON form of a Go type, for the arguments and results of ToolFor.
type Type struct {
	kind     Kind
	nullable bool
	format   string // of a string
	encoding string // of a string
	bits     int    // of an integer, and of a number with a limited range
	unsigned bool   // of an integer
	items    *Type  // of an array, and the values of an object without fields

	HasFields bool // the object is a struct
	fields    []typedField
}

// A typedField is a field of a struct.
type typedField struct {
	name        string
	description string
	optional    bool
	value       Type
}

// Has reports whether the type has a field with a name.
func (t Type) Has(name string) bool {
	return slices.ContainsFunc(t.fields, func(f typedField) bool { return f.name == name })
}

// A typeReader derives a Type from a Go type.
type typeReader struct {
	decodes bool           // for arguments; otherwise for results
	within  []reflect.Type // the named types around the type
}

// The interfaces of types that determine their own JSON form: first for results, then
// for arguments.
var (
	jsonForms = [2]reflect.Type{reflect.TypeFor[json.Marshaler](),
		reflect.TypeFor[json.Unmarshaler]()}
	textForms = [2]reflect.Type{reflect.TypeFor[encoding.TextMarshaler](),
		reflect.TypeFor[encoding.TextUnmarshaler]()}
)

// has reports whether a type, or a pointer to the type, implements a form.
func (r typeReader) has(t reflect.Type, forms [2]reflect.Type) bool {
	form := forms[0]
	if r.decodes {
		form = forms[1]
	}
	return t.Implements(form) || reflect.PointerTo(t).Implements(form)
}

// scalar returns the form of a type without elements.
func scalar(t reflect.Type) (Type, bool) {
	switch kind := t.Kind(); {
	case kind == reflect.Bool:
		return Type{kind: Boolean}, true
	case kind == reflect.String:
		return Type{kind: String}, true
	case reflect.Int <= kind && kind <= reflect.Int64:
		return Type{kind: Integer, bits: t.Bits()}, true
	case reflect.Uint <= kind && kind <= reflect.Uint64:
		return Type{kind: Integer, bits: t.Bits(), unsigned: true}, true
	case kind == reflect.Float32 || kind == reflect.Float64:
		return Type{kind: Number, bits: t.Bits()}, true
	}
	return Type{}, false
}

func (r typeReader) read(t reflect.Type) (Type, error) {
	if t.Name() != "" {
		if slices.Contains(r.within, t) {
			return Type{}, fmt.Errorf("the type %v is recursive; use a type with a fixed depth", t)
		}
		r.within = append(slices.Clone(r.within), t)
	}
	switch {
	case t.Kind() == reflect.Pointer:
		value, err := r.read(t.Elem())
		value.nullable = true
		return value, err
	case t == reflect.TypeFor[time.Time]():
		return Type{kind: String, format: "date-time"}, nil
	case t == reflect.TypeFor[json.Number]():
		return Type{kind: Number}, nil
	case r.has(t, jsonForms):
		return Type{kind: Any}, nil
	case r.has(t, textForms):
		return Type{kind: String}, nil
	}
	if form, ok := scalar(t); ok {
		return form, nil
	}
	return r.readComposite(t)
}

// readComposite is read for a type with elements.
func (r typeReader) readComposite(t reflect.Type) (Type, error) {
	switch t.Kind() {
	case reflect.Interface:
		if r.decodes && t.NumMethod() > 0 {
			return Type{}, fmt.Errorf("JSON cannot be decoded into the interface %v; use any", t)
		}
		return Type{kind: Any}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !r.has(t.Elem(), jsonForms) &&
			!r.has(t.Elem(), textForms) {
			return Type{kind: String, encoding: "base64", nullable: !r.decodes}, nil
		}
		items, err := r.read(t.Elem())
		return Type{kind: Array, items: &items, nullable: !r.decodes}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return Type{}, fmt.Errorf("the keys of %v are not strings", t)
		}
		items, err := r.read(t.Elem())
		return Type{kind: Object, items: &items, nullable: !r.decodes}, err
	case reflect.Struct:
		return r.readStruct(t)
	}
	return Type{}, fmt.Errorf("the type %v has no JSON form or no fixed schema; use a boolean, a number, a string, a struct, a slice or a map", t)
}

func (r typeReader) readStruct(t reflect.Type) (Type, error) {
	object := Type{kind: Object, HasFields: true}
	for i := range t.NumField() {
		fields, err := r.readField(t.Field(i))
		if err != nil {
			return Type{}, fmt.Errorf("%v.%s: %w", t, t.Field(i).Name, err)
		}
		for _, f := range fields {
			if object.Has(f.name) {
				return Type{}, fmt.Errorf("%v.%s: another field has the name %q; rename one of them", t, t.Field(i).Name, f.name)
			}
			object.fields = append(object.fields, f)
		}
	}
	return object, nil
}

// tagName matches the names that encoding/json accepts in a tag. The meaning of any other name
// depends on the Go release.
var tagName = regexp.MustCompile(`^[\pL\p{Nd}!#$%&()*+./:;<=>?@[\]^_{|}~ -]+$`)

// assignment matches the beginning of a tag that google/jsonschema-go reserves.
var assignment = regexp.MustCompile(`^\S*=`)

// readField returns the properties of a struct's field: one, those of an embedded
// struct, or none for a field that encoding/json ignores.
func (r typeReader) readField(f reflect.StructField) ([]typedField, error) {
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	isPointer, embedsStruct := f.Type.Kind() == reflect.Pointer, embedsStruct(f)
	switch {
	case tag == "-", !f.IsExported() && !embedsStruct:
		return nil, nil
	case name != "" && !tagName.MatchString(name):
		return nil, fmt.Errorf("the name %q in the tag json has a character that encoding/json does not accept; rename the argument", name)
	case !f.IsExported() && isPointer && r.decodes:
		return nil, errors.New("encoding/json cannot decode into an embedded pointer to an unexported type; embed the type itself")
	}
	value, err := r.read(f.Type)
	if err != nil {
		return nil, err
	}
	if embedsStruct && name == "" && value.HasFields {
		for i := range value.fields {
			value.fields[i].optional = value.fields[i].optional || isPointer && !r.decodes
		}
		return value.fields, nil
	}
	flags := strings.Split(options, ",")
	if slices.Contains(flags, "string") {
		return nil, errors.New(`the tag json has the option "string"; remove the option`)
	}
	field := typedField{name: cmp.Or(name, f.Name), value: value}
	omitted := r.decodes && isPointer // null means that the argument is omitted
	field.optional = omitted || slices.Contains(flags, "omitempty") ||
		slices.Contains(flags, "omitzero")
	field.value.nullable = value.nullable && !omitted
	field.description, err = description(f)
	return []typedField{field}, err
}

// embedsStruct reports whether a field embeds a struct or a pointer to a struct.
func embedsStruct(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct
}

// description returns the tag jsonschema.
func description(f reflect.StructField) (string, error) {
	text, ok := f.Tag.Lookup("jsonschema")
	if ok && (text == "" || assignment.MatchString(text)) {
		return "", fmt.Errorf(`invalid tag jsonschema:%q; use a description that does not begin with a word and "="`, text)
	}
	return text, nil
}

// bounds returns the smallest and largest value of an integer type, or "" for a bound
// of 64 bits.
func (t Type) bounds() (least, most string) {
	switch {
	case t.unsigned && t.bits < 64:
		return "0", strconv.FormatUint(math.MaxUint64>>(64-t.bits), 10)
	case t.unsigned:
		return "0", ""
	case t.bits < 64:
		return strconv.FormatInt(math.MinInt64>>(64-t.bits),
			10), strconv.FormatInt(math.MaxInt64>>(64-t.bits), 10)
	}
	return "", ""
}

// Schema returns the JSON Schema of the type, with a description or "".
func (t Type) Schema(description string) string {
	s := struct {
		Type        any             `json:"type,omitempty"`
		Description string          `json:"description,omitempty"`
		Format      string          `json:"format,omitempty"`
		Encoding    string          `json:"contentEncoding,omitempty"`
		Minimum     json.Number     `json:"minimum,omitempty"`
		Maximum     json.Number     `json:"maximum,omitempty"`
		Properties  json.RawMessage `json:"properties,omitempty"`
		Required    []string        `json:"required,omitzero"`
		Additional  json.RawMessage `json:"additionalProperties,omitempty"`
		Items       json.RawMessage `json:"items,omitempty"`
	}{Description: description, Format: t.format, Encoding: t.encoding}
	switch {
	case t.kind == Any:
	case t.nullable:
		s.Type = []Kind{t.kind, "null"}
	default:
		s.Type = t.kind
	}
	if t.kind == Integer {
		// The schema omits bounds that no model exceeds by mistake.
		least, most := t.bounds()
		if t.unsigned || t.bits < 32 {
			s.Minimum = json.Number(least)
		}
		if t.bits < 32 {
			s.Maximum = json.Number(most)
		}
	}
	switch {
	case t.HasFields:
		properties, required := t.Properties()
		s.Properties, s.Required = json.RawMessage("{"+properties+"}"), required
		s.Additional = json.RawMessage("false")
	case t.kind == Object:
		s.Additional = json.RawMessage(t.items.Schema(""))
	case t.kind == Array:
		s.Items = json.RawMessage(t.items.Schema(""))
	}
	raw, _ := escape.Marshal(s) // has no value that JSON lacks
	return string(raw)
}

// Properties returns the members of "properties" and the names of "required".
func (t Type) Properties() (members string, required []string) {
	all, required := make([]string, len(t.fields)), []string{} // not null in the schema
	for i, f := range t.fields {
		all[i] = textJSON(f.name) + ":" + f.value.Schema(f.description)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return strings.Join(all, ","), required
}

// IsObject reports whether the JSON form of the type is an object.
func (t Type) IsObject() bool { return t.kind == Object }

// Decode decodes the arguments of a call into the struct that in points to.
func (t Type) Decode(raw json.RawMessage, in any) *Error {
	given, problem := members(raw)
	if problem != "" {
		return invalid("%s", problem)
	}
	checked, err := t.checkObject("", given)
	if err != nil {
		return err
	}
	if decode(checked, in) == nil {
		return nil
	}
	for _, f := range t.fields {
		value, given := checked[f.name]
		if !given {
			continue
		}
		if err := decode(map[string]any{f.name: value}, in); err != nil {
			return invalid("%s is invalid: %s", f.name, decodeProblem(err))
		}
	}
	return invalid("the arguments are invalid; send other values")
}

func decode(object map[string]any, in any) error {
	raw, err := escape.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, in)
}

// decodeProblem returns the text of an error of a decoder, without Go types and of
// limited length.
func decodeProblem(err error) string {
	text := strings.TrimPrefix(err.Error(), "json: ")
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		text = "the tool cannot decode the " + mismatch.Value
	}
	return escape.Cut(text, 200)
}

// check returns a value without harmless deviations, or an error that names the value.
// A value of any type stays as sent.
func (t Type) check(path string, value json.RawMessage) (any, *Error) {
	var items []json.RawMessage
	var members map[string]json.RawMessage
	switch text := string(value); {
	case t.kind == Any, t.nullable && text == "null", t.kind == Boolean &&
		(text == "true" || text == "false"):
		return value, nil
	case t.kind == Object && value[0] == '{' && json.Unmarshal(value, &members) == nil:
		return t.checkObject(path, members)
	case t.kind == Array && value[0] == '[' && json.Unmarshal(value, &items) == nil:
		return t.checkItems(path, items)
	}
	if scalar, ok := t.scalar(value); ok {
		return scalar, nil
	}
	return nil, invalid("%s is %s; send %s", path, describe(value), t.expected())
}

// scalar returns a string or a number of the type. A string may contain a number.
func (t Type) scalar(value json.RawMessage) (any, bool) {
	text := string(value)
	if value[0] == '"' {
		if json.Unmarshal(value, &text) != nil {
			return nil, false
		}
		if t.kind == String && t.isText(text) {
			return text, true
		}
	}
	if !isNumber(text) {
		return nil, false
	}
	return t.number(json.Number(text))
}

// checkItems is check for an array.
func (t Type) checkItems(path string, items []json.RawMessage) (checked []any, err *Error) {
	checked = make([]any, len(items))
	for i := range items {
		if checked[i], err = t.items.check(path+"["+strconv.Itoa(i)+"]", items[i]); err != nil {
			return nil, err
		}
	}
	return checked, nil
}

// isText reports whether a string has the format and the encoding of the type.
func (t Type) isText(s string) bool {
	switch {
	case t.format != "":
		return new(time.Time).UnmarshalText([]byte(s)) == nil
	case t.encoding != "":
		_, err := base64.StdEncoding.DecodeString(s)
		return err == nil
	}
	return true
}

// checkObject is check for an object. The path of the arguments themselves is "".
func (t Type) checkObject(path string, object map[string]json.RawMessage) (map[string]any, *Error) {
	below := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	checked := make(map[string]any, len(object))
	if !t.HasFields {
		for name, value := range object {
			item, err := t.items.check(below(escape.Quote(name)), value)
			if err != nil {
				return nil, err
			}
			checked[name] = item
		}
		return checked, nil
	}
	var known []string
	for _, f := range t.fields {
		known = append(known, f.name)
	}
	of := "the tool"
	if path != "" {
		of = path
	}
	if err := checkNames(of, object, known); err != nil {
		return nil, err
	}
	for _, f := range t.fields {
		value, given := object[f.name]
		switch {
		case f.optional && (!given || string(value) == "null"):
			continue
		case !given:
			return nil, invalid("%s is missing; send %s", below(f.name), f.value.expected())
		}
		item, err := f.value.check(below(f.name), value)
		if err != nil {
			return nil, err
		}
		checked[f.name] = item
	}
	return checked, nil
}

// number returns a number of the type, without a fraction for an integer.
func (t Type) number(n json.Number) (any, bool) {
	if t.kind == Number {
		_, err := strconv.ParseFloat(n.String(), cmp.Or(t.bits, 64))
		return n, err == nil
	}
	if t.kind != Integer {
		return nil, false
	}
	digits := n.String()
	if strings.ContainsAny(digits, ".eE") {
		f, err := n.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafeInteger {
			return nil, false
		}
		digits = strconv.FormatFloat(f, 'f', 0, 64)
	}
	var err error
	if t.unsigned {
		_, err = strconv.ParseUint(digits, 10, t.bits)
	} else {
		_, err = strconv.ParseInt(digits, 10, t.bits)
	}
	return json.Number(digits), err == nil
}

// expected describes the accepted values.
func (t Type) expected() string {
	switch t.kind {
	case String:
		switch {
		case t.format != "":
			return `a time in RFC 3339, such as "2026-01-20T14:03:11Z"`
		case t.encoding != "":
			return "a string in Base64"
		}
		return "a string"
	case Boolean:
		return "true or false"
	case Number:
		if t.bits == 32 {
			return fmt.Sprintf("a number from %g to %g", -math.MaxFloat32, math.MaxFloat32)
		}
		return "a number"
	case Integer:
		switch least, most := t.bounds(); {
		case most != "":
			return "a whole number from " + least + " to " + most
		case least != "":
			return "a whole number of " + least + " or more"
		}
		return "a whole number"
	case Array:
		return "an array"
	case Object:
		return "an object"
	}
	return "a value"
}
