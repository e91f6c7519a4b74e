package mcpadapter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestToolsAcceptHarmlessDeviations(t *testing.T) {
	tests := []struct{ name, tool, arguments string }{
		{"nothing", "list_commands", ``},
		{"null", "list_commands", `null`},
		{"blanks", "list_commands", " \n"},
		{"an empty object", "list_commands", `{}`},
		{"null for what is left out", "list_commands", `{"page":null,"page_size":null}`},
		{"a number as text", "list_commands", `{"page":"1","page_size":"10"}`},
		{"a whole number with a fraction", "list_commands", `{"page":1.0,"page_size":10.0}`},
		{"both at once", "list_commands", `{"page_size":"10.0"}`},
		{"an exponent", "list_commands", `{"page_size":1e1}`},
		{"a page far beyond the end", "list_commands", `{"page":9007199254740991}`},
		{"a page that floats cannot tell", "list_commands", `{"page":9007199254740993}`},
		{"a number beyond the largest int", "directory_tree", `{"max_depth":1e308}`},
		{"the largest int for the last line", "read_file", `{"path":"src/agent.lisp","end_line":9223372036854775807}`},
		{"null for a flag", "list_directory", `{"path":".","show_hidden":null,"sort_by":null}`},
		{"null for a list", "directory_tree", `{"exclude_patterns":null,"max_depth":null}`},
		{"an empty list", "directory_tree", `{"exclude_patterns":[]}`},
		{"a negative number as text", "read_file", `{"path":"src/agent.lisp","start_line":"-1"}`},
		{"a low number", "read_file", `{"path":"src/agent.lisp","start_line":-1e308}`},
		{"an empty path, which is the root", "list_directory", `{"path":""}`},
	}
	a := adapter(t)
	for _, tt := range tests {
		t.Run(tt.tool+"/"+tt.name, func(t *testing.T) {
			got, err := a.Call(ctx, tt.tool, json.RawMessage(tt.arguments))
			if err != nil || got.IsError {
				t.Errorf("got %+v, %v; want success", got, err)
			}
		})
	}
}

func TestToolsRejectOtherDeviations(t *testing.T) {
	tests := []struct{ name, tool, arguments, code, says string }{
		{"broken JSON", "list_commands", `{"page":`, "INVALID_ARGUMENTS", "not valid JSON; send a JSON object, such as {}"},
		{"an array", "list_commands", `[1]`, "INVALID_ARGUMENTS", "not an object; send a JSON object"},
		{"a string", "get_command", `"commit"`, "INVALID_ARGUMENTS", `such as {"command_name": "…"}`},
		{"an unknown argument", "list_commands", `{"size":10}`, "INVALID_ARGUMENTS", `no argument "size"; accepted arguments: page, page_size`},
		{"a known one in upper case", "list_commands", `{"Page":1}`, "INVALID_ARGUMENTS", `no argument "Page"`},
		{"a fraction", "list_commands", `{"page":1.5}`, "INVALID_PAGE", "page is 1.5; send a whole number of 1 or more"},
		{"a negative number", "list_commands", `{"page":-1}`, "INVALID_PAGE", "page is -1"},
		{"a number beyond all", "list_commands", `{"page":1e400}`, "INVALID_PAGE", "page is 1e400"},
		{"a long number", "list_commands", `{"page":` + strings.Repeat("9", 500) + `}`, "INVALID_PAGE", "page is a long number"},
		{"text for a number", "list_commands", `{"page_size":"many"}`, "INVALID_PAGE_SIZE", `page_size is "many"; send a whole number from 1 to 100`},
		{"empty text for a number", "list_commands", `{"page_size":""}`, "INVALID_PAGE_SIZE", `page_size is ""`},
		{"hexadecimal", "list_commands", `{"page_size":"0x10"}`, "INVALID_PAGE_SIZE", `page_size is "0x10"`},
		{"infinity", "list_commands", `{"page":"Infinity"}`, "INVALID_PAGE", `page is "Infinity"`},
		{"blanks around a number", "list_commands", `{"page":" 1"}`, "INVALID_PAGE", `page is " 1"`},
		{"true for a number", "list_commands", `{"page":true}`, "INVALID_PAGE", "page is true"},
		{"a list for a number", "list_commands", `{"page":[1]}`, "INVALID_PAGE", "page is an array"},
		{"a number for text", "get_command", `{"command_name":7}`, "INVALID_COMMAND_NAME", "command_name is 7; send a string"},
		{"an object for text", "get_command", `{"command_name":{"name":"x"}}`, "INVALID_COMMAND_NAME", "command_name is an object"},
		{"null for what is required", "get_command", `{"command_name":null}`, "INVALID_COMMAND_NAME", "command_name is missing"},
		{"text for a flag", "list_directory", `{"path":".","show_hidden":"yes"}`, "INVALID_ARGUMENTS", `show_hidden is "yes"; send true or false`},
		{"text for a list", "search_files", `{"pattern":"*","exclude_patterns":"a"}`, "INVALID_PATTERN", `strings, such as`},
		{"a list that is too long", "search_files", `{"pattern":"*","exclude_patterns":[` + strings.Repeat(`"a",`, 100) + `"a"]}`, "INVALID_PATTERN", "at most 100 strings"},
		{"null in a list", "search_files", `{"pattern":"*","exclude_patterns":[null]}`, "INVALID_PATTERN", `exclude_patterns is an array; send an array of at most 100 strings`},
		{"a number in a list", "search_files", `{"pattern":"*","exclude_patterns":[1]}`, "INVALID_PATTERN", `strings, such as`},
		{"a fraction of any number", "read_file", `{"path":"src","start_line":-0.5}`, "INVALID_OPTION", "start_line is -0.5; send a whole number"},
		{"a large number beyond a maximum", "search_files", `{"pattern":"*","limit":1e308}`, "INVALID_OPTION", "limit is 1e308; send a whole number from 1 to 10000"},
		{"an unknown order", "list_directory", `{"path":".","sort_by":"SIZE"}`, "INVALID_SORT", `send one of name, size, modified`},
	}
	a := adapter(t)
	for _, tt := range tests {
		t.Run(tt.tool+"/"+tt.name, func(t *testing.T) {
			got, err := a.Call(ctx, tt.tool, json.RawMessage(tt.arguments))
			if err != nil || !got.IsError {
				t.Fatalf("got %+v, %v; want an error for the model", got, err)
			}
			var body struct {
				Error struct{ Code, Message string }
			}
			must.Do(t, json.Unmarshal(got.Structured, &body))
			if body.Error.Code != tt.code || !strings.Contains(body.Error.Message, tt.says) {
				t.Errorf("got %+v; want %s with %q", body.Error, tt.code, tt.says)
			}
			if strings.ContainsAny(got.Text, "\n\x1b") {
				t.Errorf("the text has more than one line: %q", got.Text)
			}
		})
	}
}
