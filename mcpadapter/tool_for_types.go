package mcpadapter

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
	"unicode"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The kinds of values that only extra tools have.
const (
	anyKind    argumentKind = ""
	numberKind argumentKind = "number"
	objectKind argumentKind = "object"
	arrayKind               = stringsKind
)

// A valueType is the JSON form of a Go type, for the arguments and results of ToolFor.
type valueType struct {
	kind     argumentKind
	nullable bool
	format   string     // of a string
	encoding string     // of a string
	bits     int        // of an integer, and of a number with a limited range
	unsigned bool       // of an integer
	items    *valueType // of an array, and the values of an object without fields

	hasFields bool // the object is a struct
	fields    []typedField
}

// A typedField is a field of a struct.
type typedField struct {
	name        string
	description string
	optional    bool
	value       valueType
}

func (t valueType) field(name string) (typedField, bool) {
	i := slices.IndexFunc(t.fields, func(f typedField) bool { return f.name == name })
	if i < 0 {
		return typedField{}, false
	}
	return t.fields[i], true
}

// A typeReader derives a valueType from a Go type.
type typeReader struct {
	decodes bool           // for arguments; otherwise for results
	within  []reflect.Type // the named types around the type
}

// The interfaces of types that determine their own JSON form: first for results, then
// for arguments.
var (
	jsonForms = [2]reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler]()}
	textForms = [2]reflect.Type{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler]()}
)

// has reports whether a type, or a pointer to the type, implements a form.
func (r typeReader) has(t reflect.Type, forms [2]reflect.Type) bool {
	form := forms[0]
	if r.decodes {
		form = forms[1]
	}
	return t.Implements(form) || reflect.PointerTo(t).Implements(form)
}

func (r typeReader) read(t reflect.Type) (valueType, error) {
	if t.Name() != "" {
		if slices.Contains(r.within, t) {
			return valueType{}, fmt.Errorf("the type %v is recursive; use a type with a fixed depth", t)
		}
		r.within = append(slices.Clone(r.within), t)
	}
	switch {
	case t.Kind() == reflect.Pointer:
		value, err := r.read(t.Elem())
		value.nullable = true
		return value, err
	case t == reflect.TypeFor[time.Time]():
		return valueType{kind: stringKind, format: "date-time"}, nil
	case t == reflect.TypeFor[json.Number]():
		return valueType{kind: numberKind}, nil
	case r.has(t, jsonForms):
		return valueType{kind: anyKind}, nil
	case r.has(t, textForms):
		return valueType{kind: stringKind}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return valueType{kind: booleanKind}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return valueType{kind: integerKind, bits: t.Bits()}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return valueType{kind: integerKind, bits: t.Bits(), unsigned: true}, nil
	case reflect.Float32, reflect.Float64:
		return valueType{kind: numberKind, bits: t.Bits()}, nil
	case reflect.String:
		return valueType{kind: stringKind}, nil
	case reflect.Interface:
		if r.decodes && t.NumMethod() > 0 {
			return valueType{}, fmt.Errorf("JSON cannot be decoded into the interface %v; use any", t)
		}
		return valueType{kind: anyKind}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && !r.has(t.Elem(), jsonForms) && !r.has(t.Elem(), textForms) {
			return valueType{kind: stringKind, encoding: "base64", nullable: !r.decodes}, nil
		}
		items, err := r.read(t.Elem())
		return valueType{kind: arrayKind, items: &items, nullable: !r.decodes}, err
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			return valueType{}, fmt.Errorf("the keys of %v are not strings", t)
		}
		items, err := r.read(t.Elem())
		return valueType{kind: objectKind, items: &items, nullable: !r.decodes}, err
	case reflect.Struct:
		return r.readStruct(t)
	}
	return valueType{}, fmt.Errorf("the type %v has no JSON form or no fixed schema; use a boolean, a number, a string, a struct, a slice or a map", t)
}

func (r typeReader) readStruct(t reflect.Type) (valueType, error) {
	object := valueType{kind: objectKind, hasFields: true}
	for i := range t.NumField() {
		fields, err := r.readField(t.Field(i))
		if err != nil {
			return valueType{}, fmt.Errorf("%v.%s: %w", t, t.Field(i).Name, err)
		}
		for _, f := range fields {
			if _, taken := object.field(f.name); taken {
				return valueType{}, fmt.Errorf("%v.%s: another field has the name %q; rename one of them", t, t.Field(i).Name, f.name)
			}
			object.fields = append(object.fields, f)
		}
	}
	return object, nil
}

// assignment matches the beginning of a tag that google/jsonschema-go reserves.
var assignment = regexp.MustCompile(`^\S*=`)

// readField returns the properties of a struct's field: one, those of an embedded
// struct, or none for a field that encoding/json ignores.
func (r typeReader) readField(f reflect.StructField) ([]typedField, error) {
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	isPointer := f.Type.Kind() == reflect.Pointer
	embedsStruct := f.Anonymous && (f.Type.Kind() == reflect.Struct || isPointer && f.Type.Elem().Kind() == reflect.Struct)
	switch {
	case tag == "-", !f.IsExported() && !embedsStruct:
		return nil, nil
	case name != "" && !isTagName(name):
		return nil, fmt.Errorf("the name %q in the tag json has a character that encoding/json does not accept; rename the argument", name)
	case !f.IsExported() && isPointer && r.decodes:
		return nil, errors.New("encoding/json cannot decode into an embedded pointer to an unexported type; embed the type itself")
	}
	value, err := r.read(f.Type)
	if err != nil {
		return nil, err
	}
	if embedsStruct && name == "" && value.hasFields {
		for i := range value.fields {
			value.fields[i].optional = value.fields[i].optional || isPointer && !r.decodes
		}
		return value.fields, nil
	}
	field := typedField{name: name, value: value}
	if name == "" {
		field.name = f.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			field.optional = true
		case "string":
			return nil, errors.New(`the tag json has the option "string"; remove the option`)
		}
	}
	if r.decodes && isPointer {
		field.optional = true
		field.value.nullable = false // null means that the argument is omitted
	}
	description, ok := f.Tag.Lookup("jsonschema")
	if ok && (description == "" || assignment.MatchString(description)) {
		return nil, fmt.Errorf(`invalid tag jsonschema:%q; use a description that does not begin with a word and "="`, description)
	}
	field.description = description
	return []typedField{field}, nil
}

// isTagName reports whether encoding/json accepts a name in a tag. The meaning of any
// other name depends on the Go release.
func isTagName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}

// bounds returns the smallest and largest value of an integer type, or "" for a bound
// of 64 bits.
func (t valueType) bounds() (least, most string) {
	switch {
	case t.unsigned && t.bits < 64:
		return "0", strconv.FormatUint(math.MaxUint64>>(64-t.bits), 10)
	case t.unsigned:
		return "0", ""
	case t.bits < 64:
		return strconv.FormatInt(math.MinInt64>>(64-t.bits), 10), strconv.FormatInt(math.MaxInt64>>(64-t.bits), 10)
	}
	return "", ""
}

// appendSchema appends the JSON Schema of the type.
func (t valueType) appendSchema(b []byte, description string) []byte {
	start := len(b)
	add := func(key, value string) { b = append(append(escape.AppendJSON(append(b, ','), key), ':'), value...) }
	if t.kind != anyKind {
		kind := string(escape.AppendJSON(nil, string(t.kind)))
		if t.nullable {
			kind = "[" + kind + `,"null"]`
		}
		add("type", kind)
	}
	if description != "" {
		add("description", string(escape.AppendJSON(nil, description)))
	}
	if t.format != "" {
		add("format", string(escape.AppendJSON(nil, t.format)))
	}
	if t.encoding != "" {
		add("contentEncoding", string(escape.AppendJSON(nil, t.encoding)))
	}
	if t.kind == integerKind {
		// The schema omits bounds that no model exceeds by mistake.
		least, most := t.bounds()
		if least != "" && (t.unsigned || t.bits < 32) {
			add("minimum", least)
		}
		if most != "" && t.bits < 32 {
			add("maximum", most)
		}
	}
	switch {
	case t.hasFields:
		properties, required := t.properties()
		add("properties", "{"+properties+"}")
		b = appendStrings(b, "required", required)
		add("additionalProperties", "false")
	case t.kind == objectKind:
		add("additionalProperties", string(t.items.appendSchema(nil, "")))
	case t.kind == arrayKind:
		add("items", string(t.items.appendSchema(nil, "")))
	}
	if len(b) == start {
		return append(b, "{}"...)
	}
	b[start] = '{'
	return append(b, '}')
}

// properties returns the members of "properties" and the names of "required".
func (t valueType) properties() (members string, required []string) {
	var b []byte
	required = []string{} // not null in the schema
	for i, f := range t.fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.value.appendSchema(append(escape.AppendJSON(b, f.name), ':'), f.description)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	return string(b), required
}

// outputSchema returns the schema of a tool's results, or nil for results without
// structured content.
func (t valueType) outputSchema() json.RawMessage {
	switch {
	case len(t.fields) > 0:
		members, required := t.properties()
		return json.RawMessage(outputSchema(errorObject, members, required...))
	case t.kind == objectKind:
		return json.RawMessage(`{"type":"object"}`)
	}
	return nil
}

// check returns a value without harmless deviations, or an error that names the value.
// A value of any type stays as sent.
func (t valueType) check(path string, value json.RawMessage) (any, *argumentError) {
	if t.kind == anyKind || t.nullable && string(value) == "null" {
		return value, nil
	}
	switch value[0] {
	case 't', 'f':
		if t.kind == booleanKind {
			return value, nil
		}
	case '"':
		var s string
		switch err := json.Unmarshal(value, &s); {
		case err != nil:
		case t.kind == stringKind && t.isText(s):
			return s, nil
		case isNumber(s):
			if n, ok := t.number(json.Number(s)); ok {
				return n, nil
			}
		}
	case '[':
		var items []json.RawMessage
		if t.kind != arrayKind || json.Unmarshal(value, &items) != nil {
			break
		}
		checked := make([]any, len(items))
		for i := range items {
			item, err := t.items.check(path+"["+strconv.Itoa(i)+"]", items[i])
			if err != nil {
				return nil, err
			}
			checked[i] = item
		}
		return checked, nil
	case '{':
		var object map[string]json.RawMessage
		if t.kind == objectKind && json.Unmarshal(value, &object) == nil {
			return t.checkObject(path, object)
		}
	default:
		if n, ok := t.number(json.Number(value)); ok && isNumber(string(value)) {
			return n, nil
		}
	}
	return nil, &argumentError{codeArguments, fmt.Sprintf("%s is %s; send %s", path, describeValue(value), t.expected())}
}

// isText reports whether a string has the format and the encoding of the type.
func (t valueType) isText(s string) bool {
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
func (t valueType) checkObject(path string, object map[string]json.RawMessage) (map[string]any, *argumentError) {
	below := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	checked := make(map[string]any, len(object))
	if !t.hasFields {
		for name, value := range object {
			item, err := t.items.check(below(quote(name)), value)
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
			return nil, &argumentError{codeArguments, fmt.Sprintf("%s is missing; send %s", below(f.name), f.value.expected())}
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
func (t valueType) number(n json.Number) (json.Number, bool) {
	if t.kind == numberKind {
		_, err := strconv.ParseFloat(n.String(), cmp.Or(t.bits, 64))
		return n, err == nil
	}
	if t.kind != integerKind {
		return "", false
	}
	digits := n.String()
	if strings.ContainsAny(digits, ".eE") {
		f, err := n.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > maxSafeInteger {
			return "", false
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
func (t valueType) expected() string {
	switch t.kind {
	case stringKind:
		switch {
		case t.format != "":
			return `a time in RFC 3339, such as "2026-01-20T14:03:11Z"`
		case t.encoding != "":
			return "a string in Base64"
		}
		return "a string"
	case booleanKind:
		return "true or false"
	case numberKind:
		if t.bits == 32 {
			return fmt.Sprintf("a number from %g to %g", -math.MaxFloat32, math.MaxFloat32)
		}
		return "a number"
	case integerKind:
		switch least, most := t.bounds(); {
		case most != "":
			return "a whole number from " + least + " to " + most
		case least != "":
			return "a whole number of " + least + " or more"
		}
		return "a whole number"
	case arrayKind:
		return "an array"
	case objectKind:
		return "an object"
	}
	return "a value"
}
