package skillsclient

// SetMaxList sets the maximum size of a list in bytes.
func (s *Server) SetMaxList(n int) { s.maxList = n }
