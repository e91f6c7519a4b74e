package mcpadapter

import (
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// An Option sets one property of an Adapter. Of options that set the same
// property the last one given stands, except for WithExtraTools, which adds up.
type Option func(*config) error

type config struct {
	namespace    string
	separator    string
	tools        []string // nil is all
	extra        []Tool
	pageSize     int
	name         string
	version      string
	instructions string
	listChanged  bool
	renderer     toolshelf.Renderer

	relativePaths bool
}

// prefix is what the names of the library's tools begin with.
func (c config) prefix() string {
	if c.namespace == "" {
		return ""
	}
	return strings.ReplaceAll(c.namespace, ".", c.separator) + c.separator
}

func newConfig(opts []Option) (config, error) {
	c := config{separator: ".", pageSize: 50, name: "toolshelf", version: moduleVersion()}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(&c); err != nil {
			return config{}, err
		}
	}
	return c, nil
}

// WithNamespace puts a namespace before the names of the library's own tools:
// with "docs", list_commands is docs.list_commands. It consists of letters,
// digits, "_" and "-", and may have several parts, with "." between them. The
// default, and "", is none: there are clients to which a name with a dot hides
// all tools of its server (see WithSeparator).
//
// On a call the name may also be spelt with "_" for each ".", as some clients
// do.
func WithNamespace(namespace string) Option {
	return func(c *config) error {
		if namespace != "" && !isNamespace(namespace) {
			return invalidOption(fmt.Sprintf(`WithNamespace: %q; use letters, digits, "_" and "-", with "." between parts`, namespace))
		}
		c.namespace = namespace
		return nil
	}
}

// WithSeparator sets what stands between the namespace and the rest of a name,
// and between the parts of the namespace: "." (the default), or "_" or "-" for
// clients that refuse a dot. On a call the other spellings, with "." and with
// "_", are accepted too.
func WithSeparator(separator string) Option {
	return func(c *config) error {
		switch separator {
		case ".", "_", "-":
			c.separator = separator
			return nil
		}
		return invalidOption(fmt.Sprintf(`WithSeparator: %q; use ".", "_" or "-"`, separator))
	}
}

// WithTools offers only these of the library's own tools, named without a
// namespace, such as "list_commands", in the order of Tools. With no name at
// all it offers none. A name that no tool has, or none in this catalog, is an
// error of New.
func WithTools(names ...string) Option {
	return func(c *config) error {
		c.tools = append([]string{}, names...)
		return nil
	}
}

// WithExtraTools adds the program's own tools after the library's. They keep
// their names, without the namespace. Their Call is given the arguments as they
// come: it checks them itself. Structured content that is not a JSON object, in
// UTF-8 and at most 500 levels deep, becomes an error for the model.
func WithExtraTools(tools ...Tool) Option {
	return func(c *config) error {
		c.extra = append(c.extra, tools...)
		return nil
	}
}

// WithPageSize sets how many tools or prompts a page of a list has, 1 to 1,000;
// the default is 50.
func WithPageSize(n int) Option {
	return func(c *config) error {
		if n < 1 || n > 1000 {
			return invalidOption(fmt.Sprintf("WithPageSize: %d; use 1 to 1000", n))
		}
		c.pageSize = n
		return nil
	}
}

// WithServerInfo sets the name and version by which Session introduces the
// server. The default is "toolshelf" and the library's version. It does not
// concern servers of an SDK, which introduce themselves.
func WithServerInfo(name, version string) Option {
	return func(c *config) error {
		if name == "" || version == "" {
			return invalidOption("WithServerInfo: the name or the version is empty; the protocol needs both")
		}
		c.name, c.version = name, version
		return nil
	}
}

// WithInstructions sets the text by which Session tells a model how to use the
// server. The default is none. For servers of an SDK see its own options.
func WithInstructions(text string) Option {
	return func(c *config) error { c.instructions = text; return nil }
}

// WithListChanged has Session declare, in the answer to initialize, that clients
// are told when the list of prompts changes. It is for a program that tells them:
// by the notification notifications/prompts/list_changed, whenever
// OnPromptsChange calls it. The list of tools does not change. Clients of the
// modern protocol ask for notifications by subscriptions/listen, which Session
// does not serve, so nothing is declared to them. Servers of an SDK need no such option, since
// the bindings send the notification.
func WithListChanged() Option {
	return func(c *config) error { c.listChanged = true; return nil }
}

// WithRenderer sets how arguments are filled into the texts of prompts. The
// default is the zero Renderer.
func WithRenderer(r toolshelf.Renderer) Option {
	return func(c *config) error { c.renderer = r; return nil }
}

func invalidOption(message string) error {
	return &toolshelf.Error{Code: toolshelf.ErrInvalidOption.Code, Op: "mcpadapter.New", Message: message}
}
