package wellknown

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

const maxRedirects = 5

// newClient returns the client of a store. The store's own transport refuses addresses at the
// connection, so that a name cannot change its address after a check, and uses no proxy.
func (s *Store) newClient() *http.Client {
	transport := s.opts.Transport
	if transport == nil {
		dialer := &net.Dialer{Timeout: s.opts.Timeout}
		if !s.opts.Private {
			dialer.Control = refusePrivate
		}
		transport = &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			MaxConnsPerHost:        atOnce,
			IdleConnTimeout:        10 * time.Second,
			TLSHandshakeTimeout:    s.opts.Timeout,
			MaxResponseHeaderBytes: 64 << 10,
			DisableCompression:     true, // a digest is of the bytes of the artifact
		}
	}
	return &http.Client{Transport: transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects || !s.allowed(next.URL) {
			return fmt.Errorf("a redirect to %.200s after %d redirects; name the host in Options.Hosts to allow the redirect", next.URL, len(via)-1)
		}
		return nil
	}}
}

// allowed reports whether the store may request a URL: of the origin, or by https of a host of
// Options.Hosts.
func (s *Store) allowed(u *url.URL) bool {
	if u.User != nil || u.Host == "" {
		return false
	}
	if u.Scheme == s.origin.Scheme && u.Host == s.origin.Host {
		return u.Scheme == "https" || u.Scheme == "http" && s.opts.Private && isLoopback(u.Hostname())
	}
	return u.Scheme == "https" && slices.Contains(s.opts.Hosts, u.Host)
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// special are the global unicast addresses of the IANA registries for special purposes (RFC 6890,
// as of 2026-11), and the addresses that contain an IPv4 address.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"), netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"), netip.MustParsePrefix("fec0::/10"),
}

// refusePrivate is called with the address of a connection before the connection.
func refusePrivate(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	ip := at.Addr().Unmap().WithZone("")
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return errors.New("the host has a private address; set Options.Private to allow the connection")
	}
	return nil
}

// fetch requests an artifact.
func (s *Store) fetch(ctx context.Context, e entry) ([]byte, error) {
	at, err := s.index.Parse(e.URL)
	if err == nil && !s.allowed(at) {
		err = fmt.Errorf("the url %.200s is not of the origin; name the host in Options.Hosts to allow the url", at)
	}
	if err != nil {
		return nil, fmt.Errorf("the url is not valid: %w", err)
	}
	data, _, err := s.get(ctx, at, s.opts.MaxArtifact, nil)
	return data, err
}

// page requests the index. If the index is unchanged, the result is the last index, confirmed now.
func (s *Store) page(ctx context.Context) (last page, err error) {
	if s.now != nil {
		last = s.now.page
	}
	condition := http.Header{"Accept": {"application/json"}}
	if last.ETag != "" {
		condition.Set("If-None-Match", last.ETag)
	}
	if last.LastModified != "" {
		condition.Set("If-Modified-Since", last.LastModified)
	}
	now := time.Now().UTC()
	data, header, err := s.get(ctx, s.index, s.opts.MaxIndex, condition)
	if err == errUnchanged && last.Index != nil {
		last.Checked = now
		return last, nil
	}
	return page{Index: data, ETag: header.Get("ETag"), LastModified: header.Get("Last-Modified"), Checked: now}, err
}

var errUnchanged = errors.New("the answer is 304, without a condition of the request")

// get returns the body of an answer with the status 200, or errUnchanged.
func (s *Store) get(ctx context.Context, at *url.URL, limit int64, header http.Header) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, nil, err
	}
	if header != nil {
		request.Header = header
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotModified {
		return nil, nil, errUnchanged
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("the answer is %d", answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%.200s has more than %d bytes, the limit", at, limit)
	}
	return data, answer.Header, err
}
