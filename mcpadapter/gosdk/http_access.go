package gosdk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// metadataPath is the path of the metadata of a protected resource (RFC 9728, section 3). The path
// of the resource follows.
const metadataPath = "/.well-known/oauth-protected-resource"

// A guard refuses requests by their host, origin and token.
type guard struct {
	options  *HTTPOptions
	origins  *http.CrossOriginProtection
	metadata string // path of the metadata, or ""
}

func newGuard(o *HTTPOptions) guard {
	g := guard{options: o, origins: http.NewCrossOriginProtection()}
	for _, origin := range o.Origins {
		if err := g.origins.AddTrustedOrigin(origin); err != nil {
			panic("gosdk: NewHTTPHandler: " + err.Error())
		}
	}
	if o.Metadata == nil {
		return g
	}
	resource, err := url.Parse(o.Metadata.Resource)
	if err != nil || resource.Host == "" || resource.Fragment != "" || o.Verify == nil {
		panic(fmt.Sprintf("gosdk: NewHTTPHandler: metadata of the resource %q; set Verify, and an absolute URL as the resource", o.Metadata.Resource))
	}
	resource.Path = metadataPath + strings.TrimSuffix(resource.Path, "/")
	g.metadata = resource.Path
	if o.Bearer.ResourceMetadataURL == "" {
		o.Bearer.ResourceMetadataURL = resource.String()
	}
	return g
}

// refuse answers a request with a text, and logs the text.
func (g guard) refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	g.log(r, status, text)
	http.Error(w, text, status)
}

func (g guard) log(r *http.Request, status int, reason string) {
	g.options.Logger.LogAttrs(r.Context(), slog.LevelWarn, "refused", slog.Int("status", status), slog.String("reason", reason), slog.String("remote", r.RemoteAddr))
}

// admit reports whether the host and the origin are allowed, and answers requests that need no
// server: refused requests, requests for the metadata, and the preflight of a browser.
func (g guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if !g.allowsHost(r.Host) {
		g.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the host %.100q is not a name of this server; add the name to HTTPOptions.Hosts", r.Host))
		return false
	}
	if g.metadata != "" && r.URL.Path == g.metadata {
		auth.ProtectedResourceMetadataHandler(g.options.Metadata).ServeHTTP(w, r)
		return false
	}
	if err := g.origins.Check(r); err != nil {
		g.refuse(w, r, http.StatusForbidden, fmt.Sprintf("the origin %.100q may not send requests; add the origin to HTTPOptions.Origins", r.Header.Get("Origin")))
		return false
	}
	if origin := r.Header.Get("Origin"); slices.Contains(g.options.Origins, origin) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", "WWW-Authenticate")
		header.Add("Vary", "Origin")
		if r.Method == http.MethodOptions {
			header.Set("Access-Control-Allow-Methods", http.MethodPost)
			header.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
			w.WriteHeader(http.StatusNoContent)
			return false
		}
	}
	return true
}

// allowsHost reports whether a Host header names this server.
func (g guard) allowsHost(header string) bool {
	name := hostName(header)
	if _, err := netip.ParseAddr(name); err == nil || strings.EqualFold(name, "localhost") {
		return true
	}
	return name != "" && slices.ContainsFunc(g.options.Hosts, func(host string) bool { return strings.EqualFold(hostName(host), name) })
}

// hostName returns a host without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// bearer requires a valid token if the options have Verify. The SDK verifies the token and writes
// the response; bearer adds the challenge of RFC 6750.
func (g guard) bearer(next http.Handler) http.Handler {
	o := g.options
	if o.Verify == nil {
		return next
	}
	verify := func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
		info, err := o.Verify(ctx, token, r)
		if err == nil && info != nil && info.Expiration.IsZero() && !o.Bearer.AllowMissingExpiration {
			o.Logger.ErrorContext(ctx, "verify", slog.String("error", "the token has no expiration; set TokenInfo.Expiration, or Bearer.AllowMissingExpiration"))
		}
		if err != nil && !errors.Is(err, auth.ErrInvalidToken) && !errors.Is(err, auth.ErrOAuth) {
			secrets := strings.NewReplacer(token, "TOKEN", url.QueryEscape(token), "TOKEN") // an error of a request has its URL
			o.Logger.ErrorContext(ctx, "verify", slog.String("error", secrets.Replace(err.Error())))
			err = errors.New("the server cannot verify tokens now; repeat the request later") // the cause is not for the client
		}
		return info, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		passed := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) })
		auth.RequireBearerToken(verify, &o.Bearer)(passed).ServeHTTP(&challenger{w, r, g}, r)
	})
}

// A challenger writes the response to a request without a valid token.
type challenger struct {
	http.ResponseWriter
	request *http.Request
	guard   guard
}

// WriteHeader completes the challenge: RFC 9110, section 15.5.2, requires a challenge, and RFC
// 6750, section 3.1, names the error except for a request without a token.
func (c *challenger) WriteHeader(status int) {
	var parameters []string
	switch {
	case status == http.StatusForbidden:
		parameters = append(parameters, `error="insufficient_scope"`)
	case status == http.StatusUnauthorized && c.request.Header.Get("Authorization") != "":
		parameters = append(parameters, `error="invalid_token"`)
	}
	header := c.Header()
	if _, more, ok := strings.Cut(header.Get("WWW-Authenticate"), "Bearer "); ok {
		parameters = append(parameters, more)
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		header.Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parameters, ", ")))
	}
	c.guard.log(c.request, status, "token")
	c.ResponseWriter.WriteHeader(status)
}
